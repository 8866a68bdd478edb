#include "program/look/page_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"

namespace forebay::cli {

namespace {

constexpr std::int64_t whole_most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t page_pixels_least = 64, page_pixels_most = 2048;

template <class T>
std::optional<T> parsed(const std::string& text) {
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// An end of the colour range; NaN if absent.
Result<double> end_of(const report::PageQuery& query, const std::string& name) {
    const auto text = text_of(query, name);
    if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto number = parsed<double>(text);
    if (!number || !std::isfinite(*number)) return Error{ErrorKind::refused, fmt::format("{} must be a number", name)};
    return *number;
}

}  // namespace

Result<std::int64_t> whole_of(const report::PageQuery& query, const std::string& name, std::int64_t otherwise,
                              const WholeRange& range) {
    const auto text = text_of(query, name);
    if (text.empty()) return otherwise;
    const auto number = parsed<std::int64_t>(text);
    if (!number || *number < range.least || *number > range.most)
        return Error{ErrorKind::refused,
                     fmt::format("{} must be an integer from {} to {}", name, range.least, range.most)};
    return *number;
}

std::string text_of(const report::PageQuery& query, const std::string& name) {
    const auto at = query.find(name);
    return at == query.end() ? std::string() : at->second;
}

Result<std::string> needed_text(const report::PageQuery& query, const std::string& name) {
    auto text = text_of(query, name);
    if (text.empty()) return Error{ErrorKind::refused, fmt::format("{} is missing", name)};
    return text;
}

Result<PlaneStyle> plane_style_of(const report::PageQuery& query) {
    PlaneStyle style;
    if (const auto name = text_of(query, "palette"); !name.empty()) {
        const auto palette = std::ranges::find(describe::palette_words, name,
                                               [](const auto& word) { return std::string_view(word.name); });
        if (palette == std::end(describe::palette_words))
            return Error{ErrorKind::refused, "palette must be ember, tide, grey or balance"};
        style.palette = palette->value;
    }
    FB_TRY_ASSIGN(log, whole_of(query, "log", 0, {0, 1}));
    FB_TRY_ASSIGN(pixels, whole_of(query, "pixels", style.pixels, {page_pixels_least, page_pixels_most}));
    FB_TRY_ASSIGN(low, end_of(query, "low"));
    FB_TRY_ASSIGN(high, end_of(query, "high"));
    style.log = log == 1;
    style.pixels = static_cast<int>(pixels);
    style.low = low;
    style.high = high;
    return style;
}

Result<PlaneRequest> plane_request_of(const report::PageQuery& query) {
    FB_TRY_ASSIGN(stream, needed_text(query, "stream"));
    FB_TRY_ASSIGN(variable, needed_text(query, "variable"));
    FB_TRY_ASSIGN(step, whole_of(query, "step", -1, {-1, whole_most}));
    FB_TRY_ASSIGN(axis, whole_of(query, "axis", 0, {0, dims_max - 1}));
    FB_TRY_ASSIGN(index, whole_of(query, "index", -1, {-1, whole_most}));
    return PlaneRequest{std::move(stream), std::move(variable), step, static_cast<int>(axis), index};
}

}  // namespace forebay::cli
