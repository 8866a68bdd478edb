#include "insight/advice/plan/case.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "insight/advice/plan/inputs.hpp"

namespace forebay::advice {

namespace {

// toml++ splits dotted keys by recursion; a file of this size cannot overflow the stack.
constexpr std::size_t case_bytes_max = 64u << 10;

Error wrong(const std::string& path, const toml::node& where, const std::string& what) {
    return {ErrorKind::refused, fmt::format("{}, line {}: {}", path, where.source().begin.line, what)};
}

Result<format::Measure> measure_in(const std::string& name, const toml::node& node, const std::string& path) {
    const auto* table = node.as_table();
    if (table == nullptr)
        return wrong(path, node, fmt::format("{} must be like {{ value = 8100, from = \"...\" }}", name));
    format::Measure measure{.name = name, .samples = 1, .origin = format::MeasureOrigin::given};
    bool has_value = false;
    for (const auto& [key, value] : *table) {
        const auto number = value.is_number() ? value.value<double>() : std::nullopt;
        if (key == "value" && number) measure.value = *number, has_value = true;
        else if (key == "cv" && number) measure.cv = *number;
        else if (key == "from" && value.is_string()) measure.from = *value.value<std::string>();
        else return wrong(path, value, fmt::format("{}.{} is not value, cv (numbers) or from", name, key.str()));
    }
    if (!has_value || measure.from.empty())
        return wrong(path, node, fmt::format("{} needs a value, and its source", name));
    return measure;
}

Result<std::vector<format::Measure>> measures_in(const toml::node& node, const std::string& path, bool inputs) {
    const auto* table = node.as_table();
    if (table == nullptr) return wrong(path, node, "a table of measures is needed");
    std::vector<format::Measure> measures;
    for (const auto& [key, value] : *table) {
        const std::string name(key.str());
        if (inputs && std::ranges::find(input_kinds(), name, &InputKind::name) == input_kinds().end())
            return wrong(path, value, fmt::format("'{}' is not an input of a plan", name));
        FB_TRY_ASSIGN(measure, measure_in(name, value, path));
        measures.push_back(std::move(measure));
    }
    return measures;
}

Result<PlanCase> case_of(const toml::table& all, const std::string& path) {
    PlanCase plan_case;
    for (const auto& [key, value] : all) {
        if (key == "title" && value.is_string()) {
            plan_case.title = *value.value<std::string>();
        } else if (key == "what_if" && value.is_array()) {
            for (const auto& entry : *value.as_array()) {
                if (!entry.is_string()) return wrong(path, entry, "what_if is a list of texts like \"mtbf=3h,6h\"");
                plan_case.what_ifs.push_back(*entry.value<std::string>());
            }
        } else if (key == "inputs" || key == "published") {
            FB_TRY_ASSIGN(measures, measures_in(value, path, key == "inputs"));
            (key == "inputs" ? plan_case.inputs : plan_case.published) = std::move(measures);
        } else {
            return wrong(path, value, fmt::format("'{}' is not title, what_if, inputs or published", key.str()));
        }
    }
    return plan_case;
}

}  // namespace

Result<PlanCase> read_case(const std::string& text, const std::string& path) {
    if (text.size() > case_bytes_max)
        return Error{ErrorKind::refused,
                     fmt::format("{} is too large for a case: the limit is {} bytes", path, case_bytes_max)};
    try {
        return case_of(toml::parse(text, path), path);
    } catch (const toml::parse_error& error) {
        return Error{ErrorKind::refused,
                     fmt::format("{}, line {}: {}", path, error.source().begin.line, error.description())};
    }
}

}  // namespace forebay::advice
