#include "bench/matrix/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/show_text.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"

namespace forebay::bench {

namespace {

bool has_words(const RowResult& row, const Words& words) {
    return std::ranges::all_of(words,
                               [&](const auto& word) { return word_of(row.setting.words, word.first) == word.second; });
}

const Published* published_of(const RowOutcome& outcome, const RowResult& row, const std::string& measure) {
    for (const auto& published : outcome.of.published)
        if (published.measure == measure && has_words(row, published.setting)) return &published;
    return nullptr;
}

// The first row with this measure.
double first_median(const RowOutcome& outcome, const std::string& measure) {
    for (const auto& row : outcome.rows)
        if (const auto* samples = find_samples(row.samples, measure)) return at_fraction(*samples, 0.5);
    return 0;
}

const Published* first_published(const RowOutcome& outcome, const std::string& measure) {
    for (const auto& row : outcome.rows)
        if (find_samples(row.samples, measure) != nullptr) return published_of(outcome, row, measure);
    return nullptr;
}

MeasureLine line_of(const std::string& measure, const std::vector<double>& samples) {
    MeasureLine line{.measure = measure, .samples = samples};
    const auto count = static_cast<double>(samples.size());
    line.median = at_fraction(samples, 0.5);
    line.min = at_fraction(samples, 0);
    line.max = at_fraction(samples, 1);
    line.p10 = at_fraction(samples, 0.1);
    line.p90 = at_fraction(samples, 0.9);
    line.p95 = at_fraction(samples, 0.95);
    line.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
    double squares = 0;
    for (const auto sample : samples) squares += (sample - line.mean) * (sample - line.mean);
    line.deviation = samples.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
    line.interval = median_interval(samples);
    return line;
}

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    return quoted + "\"";
}

void add_measures(const MeasureLine& line, const std::string& source, std::vector<format::Measure>& measures) {
    const auto count = static_cast<std::uint64_t>(line.samples.size());
    const bool spreads = count > 1;
    const auto origin = format::MeasureOrigin::measured;
    measures.push_back({line.measure, line.median, spreads ? line.p10 : 0, spreads ? line.p90 : 0,
                        spreads && line.mean != 0 ? line.deviation / line.mean : 0, count, origin, "bench run"});
    const auto more = [&](const char* end, double value) {
        measures.push_back({line.measure + end, value, 0, 0, 0, count, origin, "bench run"});
    };
    more("_min", line.min);
    more("_max", line.max);
    more("_p95", line.p95);
    more("_interval_low", line.interval.low);
    more("_interval_high", line.interval.high);
    more("_ratio_to_first", line.ratio);
    if (line.published != nullptr)
        measures.push_back({"published_" + line.measure + (line.published->is_max ? "_max" : ""), line.published->value,
                            0, 0, 0, 0, format::MeasureOrigin::given, source});
}

}  // namespace

std::vector<MeasureLine> lines_of(const RowOutcome& outcome, const RowResult& row) {
    std::vector<MeasureLine> lines;
    for (const auto& [measure, samples] : row.samples) {
        auto line = line_of(measure, samples);
        const auto first = first_median(outcome, measure);
        const auto* first_there = first_published(outcome, measure);
        line.ratio = first != 0 ? line.median / first : 0;
        line.published = published_of(outcome, row, measure);
        if (line.published != nullptr && first_there != nullptr && first_there->is_max == line.published->is_max)
            line.published_ratio = line.published->value / first_there->value;
        lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<std::string> axes_of(const RowOutcome& outcome) {
    std::vector<std::string> axes;
    for (const auto& option : matrix_options())
        for (const auto& row : outcome.rows)
            if (word_of(row.setting.words, option.key) != word_of(outcome.rows.front().setting.words, option.key)) {
                axes.emplace_back(option.key);
                break;
            }
    return axes;
}

std::string name_of_row(const RowOutcome& outcome, const RowResult& row) {
    std::vector<std::string> words;
    for (const auto& key : axes_of(outcome)) words.push_back(word_of(row.setting.words, key));
    return words.empty() ? "all" : fmt::format("{}", fmt::join(words, ", "));
}

std::string shown_value(const std::string& measure, double value) {
    if (measure.ends_with("_bytes_per_second")) return show_rate(value);
    if (measure.ends_with("_operations_per_second")) return fmt::format("{:.0f} /s", value);
    if (measure.ends_with("_seconds")) return show_seconds(value);
    return fmt::format("{:.3f}", value);
}

std::string shown_published(const MeasureLine& line) {
    if (line.published == nullptr) return "";
    return shown_value(line.measure, line.published->value) + (line.published->is_max ? " (max)" : "");
}

bool is_headline(const RowOutcome& outcome, const std::string& measure) {
    constexpr std::array parts{"open_seconds",       "transfer_seconds",  "close_seconds",
                               "total_seconds",      "read_open_seconds", "read_transfer_seconds",
                               "read_close_seconds", "read_total_seconds"};
    if (measure == "placement_ratio")
        return std::ranges::any_of(outcome.rows, [](const auto& row) { return row.setting.targets.size() > 1; });
    return std::ranges::find(parts, measure) == parts.end();
}

std::string timed_and_fixed(const RowOutcome& outcome) {
    constexpr std::array<std::string_view, 4> ends{"the last write", "files are closed", "files are synced",
                                                   "files are read back and compared"};
    std::vector<std::string> timed, fixed;
    for (const auto& row : outcome.rows) {
        const bool commits = row.setting.via == Via::forebay;
        const auto durable = row.setting.durable;
        const auto end = !commits                   ? ends[static_cast<std::size_t>(durable)]
                         : durable == Durable::none ? std::string_view("the save returns")
                                                    : std::string_view("committed");
        auto label = fmt::format("{} until {}", word_of(row.setting.words, "via"), end);
        if (std::ranges::find(timed, label) == timed.end()) timed.push_back(std::move(label));
    }
    const auto axes = axes_of(outcome);
    for (const auto* key : {"size", "xfer", "durable", "op", "dumps", "data"})
        if (std::ranges::find(axes, key) == axes.end() && !outcome.rows.empty())
            fixed.push_back(fmt::format("--{} {}", key, word_of(outcome.rows.front().setting.words, key)));
    return show_text(fmt::format("timed: {}; of all rows: {}", fmt::join(timed, ", "), fmt::join(fixed, " ")));
}

cli::Shown table_of(const RowOutcome& outcome) {
    const auto axes = axes_of(outcome);
    const bool published = !outcome.of.published.empty();
    std::vector<cli::Table::Column> columns;
    columns.reserve(axes.size() + 11);
    for (const auto& axis : axes) columns.push_back({axis});
    columns.push_back({"measure"});
    for (const auto* title : {"median", "min", "p95", "max", "95 % low", "high", "to 1st", "runs"})
        columns.push_back({title, true});
    if (published)
        for (const auto* title : {"published", "ratio there"}) columns.push_back({title, true});
    cli::Table table(columns);
    std::string text;
    for (const auto& [key, value] : outcome.environment)
        text += fmt::format("{}: {}\n", show_text(key), show_text(value));
    for (const auto& row : outcome.rows)
        for (const auto& line : lines_of(outcome, row)) {
            if (!is_headline(outcome, line.measure)) continue;
            std::vector<std::string> cells;
            cells.reserve(columns.size());
            for (const auto& axis : axes) cells.push_back(word_of(row.setting.words, axis));
            cells.push_back(line.measure);
            for (const auto value : {line.median, line.min, line.p95, line.max, line.interval.low, line.interval.high})
                cells.push_back(shown_value(line.measure, value));
            cells.push_back(fmt::format("{:.3f}", line.ratio));
            cells.push_back(fmt::format("{}", line.samples.size()));
            if (published) {
                cells.push_back(shown_published(line));
                cells.push_back(line.published_ratio > 0 ? fmt::format("{:.3f}", line.published_ratio) : "");
            }
            table.row(std::move(cells));
        }
    if (!table.empty()) text += table.text().text;
    if (!table.empty()) text += timed_and_fixed(outcome) + "\n";
    if (outcome.rows.size() > 1 && !table.empty())
        text += "to 1st: the median over the median of the first row with this measure, which has 1.000\n";
    for (const auto& row : outcome.rows) {
        const auto name = show_text(name_of_row(outcome, row));
        if (!row.skipped.empty()) text += fmt::format("skipped: {}: {}\n", name, show_text(row.skipped));
        for (const auto& known : outcome.of.published)
            if (!row.skipped.empty() && has_words(row, known.setting))
                text += fmt::format("  published: {} {}\n", known.measure, shown_value(known.measure, known.value));
        for (const auto& remark : row.remarks) text += fmt::format("{}: {}\n", name, show_text(remark));
    }
    if (published) text += fmt::format("published: {}; scale {:g} here\n", show_text(outcome.of.source), outcome.scale);
    return {text};
}

std::string csv_of(const RowOutcome& outcome) {
    std::string text;
    for (const auto& [key, value] : outcome.environment)
        text += fmt::format("# {}: {}\n", show_text(key), show_text(value));
    for (const auto& option : matrix_options()) text += fmt::format("{},", option.key);
    text += "measure,median,min,max,p95,interval_low,interval_high,ratio,samples,published,remarks\n";
    for (const auto& row : outcome.rows) {
        std::string words;
        for (const auto& option : matrix_options()) words += quoted(word_of(row.setting.words, option.key)) + ",";
        const auto remarks = quoted(fmt::format("{}", fmt::join(row.remarks, "; ")));
        if (!row.skipped.empty()) text += words + ",,,,,,,,0,," + quoted("skipped: " + row.skipped) + "\n";
        for (const auto& line : lines_of(outcome, row))
            text += words + fmt::format("{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.4g},{},{},{}\n", line.measure,
                                        line.median, line.min, line.max, line.p95, line.interval.low,
                                        line.interval.high, line.ratio, line.samples.size(),
                                        line.published != nullptr ? fmt::format("{:.6g}", line.published->value) : "",
                                        remarks);
    }
    return text;
}

namespace {

// Measures for a plan: of the row with the fastest drain. `from` names it if there are several rows.
void add_for_plans(const RowOutcome& outcome, const RowResult& row, const std::vector<format::Measure>& of_row,
                   const format::Measure& drain_rate, std::vector<format::Measure>& of_all) {
    const auto* before = format::find(of_all, "drain_rate_bytes_per_second");
    if (before != nullptr && before->value >= drain_rate.value) return;
    of_all = {drain_rate};
    if (const auto* save_rate = format::find(of_row, "save_rate_bytes_per_second"); save_rate != nullptr)
        of_all.push_back(*save_rate);
    if (row.nodes > 0) {
        const auto add = [&](const char* name, double value) {
            of_all.push_back({name, value, 0, 0, 0, 1, format::MeasureOrigin::measured, "bench run"});
        };
        // Rows have it for all nodes together.
        if (const auto* read_rate = format::find(of_row, "read_rate_bytes_per_second"); read_rate != nullptr) {
            of_all.push_back(*read_rate);
            for (auto* value : {&of_all.back().value, &of_all.back().low, &of_all.back().high}) *value /= row.nodes;
        }
        add("nodes", row.nodes);
        if (row.bytes > 0) add("node_bytes", static_cast<double>(row.bytes) / row.nodes);
    }
    if (outcome.rows.size() > 1)
        for (auto& measure : of_all) measure.from = "row " + name_of_row(outcome, row);
}

}  // namespace

format::Advice advice_of(const RowOutcome& outcome) {
    format::Advice advice{.kind = "bench", .made_unix_ns = sys::unix_ns()};
    for (const auto& [key, value] : outcome.environment)
        if (key == "forebay") advice.made_by = value;
        else advice.key.emplace_back(key, value);
    if (!outcome.of.title.empty()) {
        advice.key.emplace_back("case", outcome.of.title);
        advice.key.emplace_back("source", outcome.of.source);
        advice.key.emplace_back("scale", fmt::format("{:g}", outcome.scale));
    }
    for (const auto& row : outcome.rows) {
        format::AdviceRow advice_row{.setting = row.setting.words, .remarks = row.remarks};
        for (auto& [key, value] : advice_row.setting) {
            if (key == "ranks" && row.ranks > 0) value = std::to_string(row.ranks);
            if (key == "nodes" && row.nodes > 0) value = std::to_string(row.nodes);
        }
        for (const auto& line : lines_of(outcome, row)) add_measures(line, outcome.of.source, advice_row.measures);
        if (row.bytes > 0)
            advice_row.measures.push_back({"dump_bytes", static_cast<double>(row.bytes), 0, 0, 0, 1,
                                           format::MeasureOrigin::measured, "bench run"});
        if (!row.skipped.empty()) advice_row.remarks.push_back("skipped: " + row.skipped);
        if (const auto* rate = format::find(advice_row.measures, "drain_rate_bytes_per_second"); rate != nullptr)
            add_for_plans(outcome, row, advice_row.measures, *rate, advice.measures);
        advice.rows.push_back(std::move(advice_row));
    }
    return advice;
}

}  // namespace forebay::bench
