// The members and their order: docs/formats/advice.md.

#include "core/format/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/format/json_read.hpp"
#include "core/format/json_text.hpp"

namespace forebay::format {

namespace {

using Tree = nlohmann::ordered_json;

constexpr std::string_view advice_format = "advice";
constexpr std::uint64_t advice_version = 1;
constexpr std::array origin_names{"measured", "kept", "given", "assumed", "predicted"};
constexpr std::array severity_names{"note", "warn", "fail"};

std::string good_text(const std::string& text) { return json::is_text(text) ? text : show_text(text); }

// JSON has no infinities.
Tree number(double value) { return std::isfinite(value) ? Tree(value) : Tree(nullptr); }

Tree tree_of(const AdviceSetting& setting) {
    auto tree = Tree::array();
    for (const auto& [name, value] : setting) tree.push_back({{"name", good_text(name)}, {"value", good_text(value)}});
    return tree;
}

Tree tree_of(const std::vector<std::string>& texts) {
    auto tree = Tree::array();
    for (const auto& text : texts) tree.push_back(good_text(text));
    return tree;
}

Tree tree_of(const std::vector<Measure>& measures) {
    auto tree = Tree::array();
    for (const auto& measure : measures)
        tree.push_back({{"name", good_text(measure.name)},
                        {"value", number(measure.value)},
                        {"low", number(measure.low)},
                        {"high", number(measure.high)},
                        {"cv", number(measure.cv)},
                        {"samples", measure.samples},
                        {"origin", name_of(measure.origin)},
                        {"from", good_text(measure.from)}});
    return tree;
}

Tree tree_of(const std::vector<Finding>& findings) {
    auto tree = Tree::array();
    for (const auto& finding : findings)
        tree.push_back({{"check", good_text(finding.check)},
                        {"subject", good_text(finding.subject)},
                        {"severity", name_of(finding.severity)},
                        {"text", good_text(finding.text)},
                        {"ratio", number(finding.ratio)},
                        {"z", number(finding.z)},
                        {"samples", finding.samples}});
    return tree;
}

Tree tree_of(const std::vector<AdviceRow>& rows) {
    auto tree = Tree::array();
    for (const auto& row : rows)
        tree.push_back({{"setting", tree_of(row.setting)},
                        {"measures", tree_of(row.measures)},
                        {"remarks", tree_of(row.remarks)}});
    return tree;
}

// Reads the members of one file and keeps the name of the first wrong member.
class AdviceReader {
public:
    const std::string& wrong() const { return wrong_; }

    std::string text(json::Value from, const char* member) { return must(from.member(member).text(), member); }
    std::int64_t i64(json::Value from, const char* member) { return must(from.member(member).i64(), member); }
    std::uint64_t u64(json::Value from, const char* member) { return must(from.member(member).u64(), member); }
    double f64(json::Value from, const char* member) {
        const auto at = from.member(member);
        // The writer stores numbers that JSON cannot hold as null.
        if (at.is_null()) return NAN;
        return must(at.f64(), member);
    }
    template <class Kind, std::size_t count>
    Kind word(json::Value from, const char* member, const std::array<const char*, count>& names) {
        const auto word = text(from, member);
        const auto at = std::ranges::find(names, word) - names.begin();
        if (static_cast<std::size_t>(at) < count) return static_cast<Kind>(at);
        remember(member);
        return {};
    }
    template <class Take>
    void each(json::Value from, const char* member, Take&& take) {
        const auto list = from.member(member);
        const auto count = must(list.list(), member);
        for (std::size_t i = 0; i < count; ++i) take(list.entry(i));
    }

    AdviceSetting setting(json::Value from, const char* member) {
        AdviceSetting setting;
        each(from, member, [&](json::Value value) { setting.emplace_back(text(value, "name"), text(value, "value")); });
        return setting;
    }
    std::vector<std::string> texts(json::Value from, const char* member) {
        std::vector<std::string> texts;
        each(from, member, [&](json::Value value) { texts.push_back(must(value.text(), member)); });
        return texts;
    }
    std::vector<Measure> measures(json::Value from) {
        std::vector<Measure> measures;
        each(from, "measures", [&](json::Value value) {
            measures.push_back({.name = text(value, "name"),
                                .value = f64(value, "value"),
                                .low = f64(value, "low"),
                                .high = f64(value, "high"),
                                .cv = f64(value, "cv"),
                                .samples = u64(value, "samples"),
                                .origin = word<MeasureOrigin>(value, "origin", origin_names),
                                .from = text(value, "from")});
        });
        return measures;
    }
    std::vector<Finding> findings(json::Value from) {
        std::vector<Finding> findings;
        each(from, "findings", [&](json::Value value) {
            findings.push_back({.check = text(value, "check"),
                                .subject = text(value, "subject"),
                                .severity = word<Severity>(value, "severity", severity_names),
                                .text = text(value, "text"),
                                .ratio = f64(value, "ratio"),
                                .z = f64(value, "z"),
                                .samples = u64(value, "samples")});
        });
        return findings;
    }
    std::vector<AdviceRow> rows(json::Value from) {
        std::vector<AdviceRow> rows;
        each(from, "rows", [&](json::Value value) {
            rows.push_back({.setting = setting(value, "setting"),
                            .measures = measures(value),
                            .remarks = texts(value, "remarks")});
        });
        return rows;
    }

private:
    void remember(const char* member) {
        if (wrong_.empty()) wrong_ = member;
    }
    template <class T>
    T must(const std::optional<T>& value, const char* member) {
        if (!value) remember(member);
        return value.value_or(T{});
    }

    std::string wrong_;
};

}  // namespace

const char* name_of(MeasureOrigin origin) { return origin_names[static_cast<std::size_t>(origin)]; }
const char* name_of(Severity severity) { return severity_names[static_cast<std::size_t>(severity)]; }

std::string encode(const Advice& advice) {
    const Tree tree{{"forebay", advice_format},
                    {"version", advice_version},
                    {"kind", good_text(advice.kind)},
                    {"made_unix_ns", advice.made_unix_ns},
                    {"made_by", good_text(advice.made_by)},
                    {"key", tree_of(advice.key)},
                    {"measures", tree_of(advice.measures)},
                    {"findings", tree_of(advice.findings)},
                    {"rows", tree_of(advice.rows)},
                    {"chosen", tree_of(advice.chosen)},
                    {"excluded_nodes", tree_of(advice.excluded_nodes)},
                    {"excluded_targets", tree_of(advice.excluded_targets)},
                    {"lines", tree_of(advice.lines)}};
    return tree.dump(2) + "\n";
}

Result<Advice> decode_advice(std::string_view text, const std::string& path) {
    const auto document = json::Document::parse(text);
    if (!document || document->root().member("forebay").text() != advice_format)
        return Error{ErrorKind::corrupt, fmt::format("{} holds no advice", path), "",
                     "give a file that forebay preflight, bench run, tune or plan wrote"};
    const auto root = document->root();
    if (root.member("version").u64() != advice_version)
        return Error{ErrorKind::unsupported,
                     fmt::format("the advice {} has another version than {}", path, advice_version), "",
                     "use the Forebay that wrote it, or a later version"};
    AdviceReader reader;
    Advice advice{.kind = reader.text(root, "kind"),
                  .made_unix_ns = reader.i64(root, "made_unix_ns"),
                  .made_by = reader.text(root, "made_by"),
                  .key = reader.setting(root, "key"),
                  .measures = reader.measures(root),
                  .findings = reader.findings(root),
                  .rows = reader.rows(root),
                  .chosen = reader.setting(root, "chosen"),
                  .excluded_nodes = reader.texts(root, "excluded_nodes"),
                  .excluded_targets = reader.texts(root, "excluded_targets"),
                  .lines = reader.texts(root, "lines")};
    if (!reader.wrong().empty())
        return Error{ErrorKind::corrupt,
                     fmt::format("the advice {} is damaged: member {} is absent or invalid", path, reader.wrong()), "",
                     "make it again"};
    return advice;
}

const Measure* find(const std::vector<Measure>& measures, std::string_view name) {
    const auto measure = std::ranges::find(measures, name, &Measure::name);
    return measure == measures.end() ? nullptr : &*measure;
}

}  // namespace forebay::format
