#include "insight/outline/physics_attributes.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

namespace forebay::outline {

namespace {

constexpr std::array<std::string_view, 7> given_keys = {
    unit_si_key, unit_dimension_key, grid_spacing_key, grid_offset_key, grid_unit_key, position_key, record_key};

// Names with a meaning in netCDF and dimension scales; an application's attributes must not use them.
constexpr std::array<std::string_view, 9> reserved_attributes = {"CLASS",
                                                                 "NAME",
                                                                 "DIMENSION_LIST",
                                                                 "REFERENCE_LIST",
                                                                 "DIMENSION_LABELS",
                                                                 "_Netcdf4Dimid",
                                                                 "_Netcdf4Coordinates",
                                                                 "_NCProperties",
                                                                 "_FillValue"};

/// Numbers separated by blanks or commas; nothing for other texts.
std::optional<std::vector<double>> numbers_in(std::string_view text) {
    std::vector<double> numbers;
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
        if (text.empty()) return numbers;
        double number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{}) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (!text.empty() && text.front() != ' ' && text.front() != ',') return std::nullopt;
        numbers.push_back(number);
    }
}

Error refused(const Variable& variable, const char* name, const std::string& what) {
    return {ErrorKind::refused, fmt::format("attribute {} of '{}' {}", name, variable.name, what), "the snapshot",
            "correct it in a file for forebay view --describe. docs/formats/view.md lists the attributes"};
}

}  // namespace

bool is_physics_key(std::string_view name) { return std::ranges::find(given_keys, name) != given_keys.end(); }

const AttributeValue* attribute_of(const Variable& variable, std::string_view name) {
    const auto& others = variable.attributes.others;
    const auto attribute = std::ranges::find(others, name, &std::pair<std::string, AttributeValue>::first);
    return attribute == others.end() ? nullptr : &attribute->second;
}

Result<std::vector<double>> numbers_of(const Variable& variable, const char* name, std::size_t count,
                                       double otherwise) {
    const auto* value = attribute_of(variable, name);
    if (value == nullptr) return std::vector<double>(count, otherwise);
    std::optional<std::vector<double>> numbers;
    if (const auto* text = std::get_if<std::string>(value)) numbers = numbers_in(*text);
    if (const auto* real = std::get_if<double>(value)) numbers = std::vector{*real};
    if (const auto* whole = std::get_if<std::int64_t>(value)) numbers = std::vector{static_cast<double>(*whole)};
    if (!numbers) return refused(variable, name, "is not a list of numbers such as \"0.1 0.1 0.2\"");
    if (numbers->size() == 1) return std::vector<double>(count, numbers->front());
    if (numbers->size() != count)
        return refused(variable, name, fmt::format("has {} numbers, but {} are expected", numbers->size(), count));
    return std::move(*numbers);
}

Result<std::string> text_attribute(const Variable& variable, const char* name) {
    const auto* value = attribute_of(variable, name);
    if (value == nullptr) return std::string();
    if (const auto* text = std::get_if<std::string>(value)) return *text;
    return refused(variable, name, "is a number, but must be a text");
}

Result<> refuse_fixed(std::span<const std::pair<std::string, AttributeValue>> given, const char* convention,
                      std::initializer_list<std::string_view> fixed) {
    for (const auto& [name, value] : given)
        if (std::ranges::find(fixed, name) != fixed.end())
            return Error{
                ErrorKind::refused,
                fmt::format("the description's [file] has '{}', but {} sets it itself, as readers find the data by it",
                            name, convention),
                "the snapshot", "leave it out of describe.toml"};
    return {};
}

std::vector<Outline::Attribute> shown_attributes(const Variable& variable) {
    const auto& given = variable.attributes;
    std::vector<Outline::Attribute> attributes;
    if (!given.unit.empty()) set(attributes, {"units", given.unit});
    if (!given.description.empty()) set(attributes, {"long_name", given.description});
    for (const auto& [name, value] : given.others) {
        const bool is_reserved = std::ranges::find(reserved_attributes, name) != reserved_attributes.end();
        set(attributes, {is_reserved ? "forebay_" + name : name,
                         std::visit([](const auto& any) -> Outline::Value { return any; }, value)});
    }
    return attributes;
}

std::string word_of(std::string_view name) {
    std::string word(name);
    for (auto& c : word) {
        const bool is_kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!is_kept) c = '_';
    }
    return word;
}

std::string date_text(std::int64_t unix_ns) {
    const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
    return fmt::format("{:%Y-%m-%d %H:%M:%S} +0000", fmt::gmtime(seconds));
}

}  // namespace forebay::outline
