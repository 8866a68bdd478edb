#include "path/telemetry/summary_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/show_text.hpp"
#include "core/base/units.hpp"
#include "path/telemetry/words.hpp"

namespace forebay::telemetry {

namespace {

constexpr int columns_min = 80, columns_max = 100;
constexpr std::size_t bars_wide = 60, names_told = 4, why_told = 3, problems_told = 4, name_columns = 32;

class Screen {
public:
    Screen(const Summary& summary, const TextOptions& options)
        : summary_(summary),
          options_(options),
          columns_(static_cast<std::size_t>(std::clamp(options.columns, columns_min, columns_max))) {}

    std::string text() {
        head();
        cost();
        safety();
        rate();
        slow("nodes", summary_.slow_nodes, summary_.node_rows.size(), "drains");
        std::size_t named = 0;
        for (const auto& row : summary_.target_rows) named += row.name.empty() ? 0 : 1;
        slow("targets", summary_.slow_targets, named, "samples");
        why();
        advice();
        problems();
        return std::move(text_);
    }

private:
    std::string name(const std::string& text) const {
        std::string shown = show_text(text);
        if (options_.plain) {
            std::string ascii;
            for (const char letter : shown) {
                const auto byte = static_cast<unsigned char>(letter);
                ascii += byte < 0x80 ? std::string(1, letter) : fmt::format("\\x{:02x}", byte);
            }
            shown = ascii;
        }
        std::size_t at = 0, characters = 0;
        while (at < shown.size() && characters < name_columns) {
            at += std::max<std::size_t>(first_character(std::string_view(shown).substr(at)).bytes, 1);
            ++characters;
        }
        return at < shown.size() ? shown.substr(0, at) + "..." : shown;
    }

    // Fills words into lines. Further lines are indented.
    void fill(const std::string& first, std::string_view message) {
        std::string line = first;
        std::size_t used = first.size();
        bool is_empty = true;
        const auto end_line = [&] {
            text_ += line + "\n";
            line = std::string(first.size(), ' ');
            used = first.size();
            is_empty = true;
        };
        while (!message.empty()) {
            const auto end = std::min(message.find(' '), message.size());
            const auto word = message.substr(0, end);
            const std::size_t wide = width(word);
            if (!is_empty && used + 1 + wide > columns_) end_line();
            if (!is_empty) line += ' ', ++used;
            line += word;
            used += wide;
            is_empty = false;
            message.remove_prefix(std::min(end + 1, message.size()));
        }
        end_line();
    }

    static std::size_t width(std::string_view text) {
        std::size_t characters = 0;
        // Bytes 10xxxxxx continue a UTF-8 character.
        for (const char letter : text) characters += (static_cast<unsigned char>(letter) & 0xc0u) != 0x80 ? 1 : 0;
        return characters;
    }

    std::string ascii(std::string_view message) const {
        if (!options_.plain) return show_message(message);
        std::string text;
        for (const char letter : show_message(message))
            text += static_cast<unsigned char>(letter) < 0x80
                        ? std::string(1, letter)
                        : fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
        return text;
    }

    void head() {
        const auto count = summary_.sessions.size();
        const auto sessions =
            count > 1 ? fmt::format("{} sessions, {} to {}", count, summary_.sessions.front(), summary_.sessions.back())
                      : period_text(summary_);
        text_ += "forebay  " + ascii(summary_.run) + "\n";
        fill(" ", fmt::format("{}  {}  {}  from {}", sessions, machine(), show_span(summary_.time_seconds),
                              show_utc(summary_.begin_unix_ns)));
    }

    // "2 nodes x 4 ranks"; if sessions differ, "2 to 4 nodes, 8 to 16 ranks in all".
    std::string machine() const {
        const auto nodes = summary_.nodes;
        if (summary_.nodes_least != nodes || summary_.ranks_least != summary_.ranks)
            return fmt::format("{}, {} in all", nodes_text(summary_), ranks_text(summary_));
        return fmt::format("{} x {}", show_count(nodes, "node"),
                           show_count(nodes == 0 ? 0 : (summary_.ranks + nodes - 1) / nodes, "rank"));
    }

    void row(const char* what, const Spread& spread, const std::string& bytes, const std::string& note) {
        if (spread.count == 0) {
            text_ += fmt::format(" {:<10}{:>7}\n", what, 0);
            return;
        }
        auto line = fmt::format(" {:<10}{:>7}{:>11}{:>10}{:>10}{:>10}", what, spread.count, bytes,
                                show_seconds(spread.median), show_seconds(spread.p95), show_seconds(spread.max));
        if (!note.empty()) line += "   " + note;
        text_ += line + "\n";
    }

    void cost() {
        text_ += fmt::format(" {:<10}{:>7}{:>11}{:>10}{:>10}{:>10}   {}\n", "", "count", "bytes", "median", "p95",
                             "max", "note");
        row("saved", summary_.blocked, show_bytes(summary_.bytes_saved),
            fmt::format("visible, {} in all", show_span(summary_.blocked.sum)));
        if (summary_.unkept_saves > 0)
            text_ += fmt::format(" {:<10}{:>7}{:>41}   skipped, replaced or refused, {}\n", "not kept",
                                 summary_.unkept_saves, "", show_span(summary_.unkept_seconds));
        row("waited", summary_.waited, "-", "for a slot that was draining");
        row("drained", summary_.drained, show_bytes(summary_.bytes_drained),
            summary_.rate_median > 0
                ? fmt::format("{}, fastest {}", show_rate(summary_.rate_median), show_rate(summary_.rate_peak))
                : "");
        row("durable", summary_.durable, "-", "from the save to the commit");
        if (summary_.blocked.count > 0) fill("            of it: ", parts_text(summary_));
        std::string line =
            fmt::format("visible {:.2g} % of the run   hidden {:.1f} % of {}", summary_.visible_ratio * 100,
                        summary_.hidden_ratio * 100, period_text(summary_));
        if (summary_.slack_median > 0)
            line += fmt::format("   slack {:.1f}x (worst {:.1f}x)", summary_.slack_median, summary_.slack_worst);
        if (summary_.jitter > 0) line += fmt::format("   jitter p95/p50 {:.2f}", summary_.jitter);
        fill(" ", line);
        if (summary_.slowdown_steps > 0)
            fill(" ", fmt::format("computing {:+.1f} % beside drains (90 % confidence: {:+.1f} to {:+.1f} %, {} steps)",
                                  summary_.slowdown_percent, summary_.slowdown_low_percent,
                                  summary_.slowdown_high_percent, summary_.slowdown_steps));
    }

    void safety() {
        std::string line;
        if (summary_.newest_durable_step < 0) line = "no snapshot is known to be durable";
        else
            line = fmt::format("newest durable: {} step {}", name(summary_.newest_durable_stream),
                               summary_.newest_durable_step);
        if (summary_.newest_durable_unix_ns > 0) line += ", " + show_utc(summary_.newest_durable_unix_ns);
        const double age = static_cast<double>(summary_.reported_unix_ns - summary_.newest_durable_unix_ns) * 1e-9;
        if (summary_.newest_durable_unix_ns > 0 && age >= 1)
            line += fmt::format(", {} before the last report", show_span(age));
        line += fmt::format("   committed {} of {}", summary_.committed, summary_.snapshots);
        if (summary_.superseded > 0) line += fmt::format(", {} superseded", summary_.superseded);
        line += fmt::format(", {} failed, {} retries", summary_.failed, summary_.retries);
        fill(" safe     ", line);
    }

    void rate() {
        const auto& bytes = options_.bytes_over_time;
        const double seconds = static_cast<double>(summary_.end_unix_ns - summary_.begin_unix_ns) * 1e-9;
        if (bytes.empty() || seconds <= 0) return;
        const std::size_t bars = std::min(bars_wide, bytes.size());
        std::vector<double> heights(bars, 0.0);
        for (std::size_t i = 0; i < bytes.size(); ++i) heights[i * bars / bytes.size()] += bytes[i];
        const double most = *std::ranges::max_element(heights);
        if (!(most > 0)) return;
        constexpr std::array<const char*, 9> full{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
        constexpr std::array<const char*, 9> plain{" ", ".", ":", "-", "=", "+", "*", "#", "@"};
        std::string line;
        for (const double height : heights) {
            const auto level = static_cast<std::size_t>(std::ceil(height / most * 8));
            line += (options_.plain ? plain : full)[std::min<std::size_t>(level, 8)];
        }
        text_ += fmt::format(" rate     {:>10} |{}| {} a bar\n", show_rate(most * static_cast<double>(bars) / seconds),
                             line, show_span(seconds / static_cast<double>(bars)));
    }

    void slow(const char* what, const std::vector<Slow>& slow, std::size_t seen, const char* of) {
        const auto first = fmt::format(" slow     {}: ", what);
        if (seen == 0) return fill(first, "names are unknown");
        if (slow.empty()) return fill(first, fmt::format("none below 0.8x of the median ({} seen)", seen));
        std::string line;
        for (std::size_t i = 0; i < std::min(slow.size(), names_told); ++i)
            line += fmt::format("{}{} {:.2f}x ({} {})", i == 0 ? "" : "  ", name(slow[i].name), slow[i].ratio,
                                slow[i].samples, of);
        if (slow.size() > names_told) line += fmt::format("  and {} more", slow.size() - names_told);
        fill(first, line + fmt::format("  of {}", seen));
    }

    // Shows the snapshots that took longest to save and to drain.
    void why() {
        std::vector<const SnapshotRow*> rows;
        for (const auto& row : summary_.rows)
            if (!row.why.empty()) rows.push_back(&row);
        std::ranges::stable_sort(rows, std::greater<>{},
                                 [](const auto* row) { return row->blocked_seconds + row->drain_seconds; });
        for (std::size_t i = 0; i < std::min(rows.size(), why_told); ++i)
            fill(" why      ",
                 fmt::format("{} step {}: {}", name(rows[i]->stream), rows[i]->step, ascii(rows[i]->why.front())));
    }

    void advice() {
        for (const auto& piece : summary_.advice) {
            const auto end = piece.find("\n  ");
            fill(" advice   ", ascii(std::string_view(piece).substr(0, end)));
            if (end == piece.npos) continue;
            // Lines to paste are never filled.
            auto lines = std::string_view(piece).substr(end);
            while (lines.starts_with("\n  ")) {
                lines.remove_prefix(3);
                const auto length = std::min(lines.find('\n'), lines.size());
                text_ += "              " + ascii(lines.substr(0, length)) + "\n";
                lines.remove_prefix(length);
            }
        }
    }

    void problems() {
        for (std::size_t i = 0; i < std::min(summary_.problems.size(), problems_told); ++i)
            fill(" unread   ", ascii(summary_.problems[i]));
        if (summary_.problems.size() > problems_told)
            fill(" unread   ", fmt::format("and {} more", summary_.problems.size() - problems_told));
        if (summary_.dropped > 0)
            fill(" unread   ",
                 fmt::format("{} timings were lost, so numbers of bytes over time are too small", summary_.dropped));
        if (summary_.missing_records > 0)
            fill(" unread   ", fmt::format("missing: {} of saves. Their times come from the remaining ranks",
                                           show_count(summary_.missing_records, "record")));
    }

    const Summary& summary_;
    const TextOptions& options_;
    std::size_t columns_;
    std::string text_;
};

}  // namespace

std::string summary_text(const Summary& summary, const TextOptions& options) { return Screen(summary, options).text(); }

}  // namespace forebay::telemetry
