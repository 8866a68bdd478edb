// Helpers to make results from numbers in memory; every operator uses them.

#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/describe/schema.hpp"
#include "insight/insitu/analyser.hpp"

namespace forebay::insitu {

/// Makes an array from `values`, row-major. `shape` must have as many elements.
template <class T>
FoundVariable found_list(std::string name, Extents shape, std::span<const T> values, const Attributes& attributes) {
    const auto bytes = std::as_bytes(values);
    return {std::move(name), type_of<T>(), shape, attributes, {bytes.begin(), bytes.end()}};
}

template <class T>
FoundVariable found_scalar(std::string name, T value, const Attributes& attributes) {
    return found_list<T>(std::move(name), {}, {&value, 1}, attributes);
}

/// The attributes of a result in the unit of a variable: its `unit`, or its attribute "units". Empty if it has neither.
inline Attributes units_of(const Variable& variable) {
    if (!variable.attributes.unit.empty()) return {.unit = variable.attributes.unit};
    const auto& others = variable.attributes.others;
    const auto units =
        std::ranges::find(others, "units", [](const auto& other) { return std::string_view(other.first); });
    if (units == others.end() || !std::holds_alternative<std::string>(units->second)) return {};
    return {.unit = std::get<std::string>(units->second)};
}

}  // namespace forebay::insitu
