// Values of named fields as text, and back. An order to a worker is a list of field names and texts.

#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include "core/describe/storage_targets.hpp"
#include "transfer/copy/copy_options.hpp"

namespace forebay::tree {

inline std::string field_text(bool value) { return value ? "yes" : "no"; }
inline std::string field_text(const std::string& value) { return value; }
inline std::string field_text(sys::FileTime value) {
    return std::to_string(value.seconds) + " " + std::to_string(value.nanoseconds);
}
inline std::string field_text(const Preserve& value) { return words_of(value); }
/// Without the excluded targets.
inline std::string field_text(const RequestedLayout& value) { return value.words; }
inline std::string field_text(const std::vector<std::uint32_t>& value) {
    std::string text;
    for (const auto item : value) text += (text.empty() ? "" : ",") + std::to_string(item);
    return text;
}
template <class T>
requires std::unsigned_integral<T> || std::is_enum_v<T> std::string field_text(T value) {
    return std::to_string(static_cast<std::uint64_t>(value));
}

/// Returns false for an invalid text.
inline bool read_field(std::string_view text, bool& value) {
    value = text == "yes";
    return value || text == "no";
}
inline bool read_field(std::string_view text, std::string& value) {
    value = text;
    return true;
}
template <std::integral T>
bool read_field(std::string_view text, T& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}
inline bool read_field(std::string_view text, sys::FileTime& value) {
    const auto blank = text.find(' ');
    return blank != text.npos && read_field(text.substr(0, blank), value.seconds) &&
           read_field(text.substr(blank + 1), value.nanoseconds);
}
inline bool read_field(std::string_view text, Preserve& value) {
    const auto preserve = preserve_from(text);
    if (preserve) value = *preserve;
    return preserve.has_value();
}
inline bool read_field(std::string_view text, RequestedLayout& value) {
    auto layout = layout_from(text);
    if (!layout) return false;
    layout->excluded_targets = value.excluded_targets;
    value = std::move(*layout);
    return true;
}
inline bool read_field(std::string_view text, std::vector<std::uint32_t>& value) {
    auto targets = describe::parse_storage_targets(text, "an order");
    if (targets) value = std::move(*targets);
    return targets.has_value();
}
/// `last` is the enumerator with the highest number.
template <class T>
requires std::is_enum_v<T>
bool read_enum(std::string_view text, T& value, T last) {
    std::uint64_t number = 0;
    if (!read_field(text, number) || number > static_cast<std::uint64_t>(last)) return false;
    value = static_cast<T>(number);
    return true;
}

}  // namespace forebay::tree
