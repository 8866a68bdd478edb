// Typed look-ups in a parsed JSON document: a value that is absent or of another type is told from a right one, and
// nothing throws. Included by the two decoders only (nlohmann-json is slow to compile).

#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "forebay/describe.hpp"

namespace forebay::format::json {

using Document = nlohmann::json;

inline const Document* member(const Document& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto at = object.find(key);
    return at == object.end() ? nullptr : &*at;
}

inline std::optional<std::uint64_t> as_u64(const Document* value, std::uint64_t max = UINT64_MAX) {
    if (value == nullptr || !value->is_number_unsigned()) return {};
    const auto number = value->get<std::uint64_t>();
    if (number > max) return {};
    return number;
}

inline std::optional<std::int64_t> as_i64(const Document* value) {
    if (value == nullptr || !value->is_number_integer()) return {};
    if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) return {};
    return value->get<std::int64_t>();
}

inline std::optional<double> as_f64(const Document* value) {
    if (value == nullptr) return {};
    if (value->is_number()) return value->get<double>();
    if (!value->is_string()) return {};
    const auto& text = value->get_ref<const std::string&>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    return {};
}

inline std::optional<std::string> as_text(const Document* value) {
    if (value == nullptr || !value->is_string()) return {};
    return value->get<std::string>();
}

inline std::optional<Extents> as_extents(const Document* value) {
    if (value == nullptr || !value->is_array() || value->size() > static_cast<std::size_t>(dims_max)) return {};
    Extents extents;
    for (const auto& number : *value) {
        const auto at = as_u64(&number);
        if (!at) return {};
        extents.push_back(*at);
    }
    return extents;
}

inline const Document::array_t* as_list(const Document* value) {
    if (value == nullptr || !value->is_array()) return nullptr;
    return value->get_ptr<const Document::array_t*>();
}

}  // namespace forebay::format::json
