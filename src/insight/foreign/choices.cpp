#include "insight/foreign/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace forebay::foreign {

namespace {

Error refusal(const std::string& text, const std::string& why) {
    return {ErrorKind::refused, fmt::format("--type {}: {}", text, why), "",
            "write NAME=TYPE or NAME=TYPE:SHAPE, as in soil=f64:40x20x8"};
}

// Parses "40x20x8". Nothing if it is no shape, or if its bytes overflow a count.
std::optional<Extents> shape_in(const std::string& text, std::uint64_t element_bytes) {
    Extents shape;
    auto room = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(element_bytes);
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    while (true) {
        std::int64_t number = 0;
        const auto parsed = std::from_chars(at, end, number);
        if (parsed.ec != std::errc() || number < 1 || number > room) return std::nullopt;
        room /= number;
        shape.push_back(static_cast<std::uint64_t>(number));
        if (!shape.valid()) return std::nullopt;
        if (parsed.ptr == end) return shape;
        if (*parsed.ptr != 'x') return std::nullopt;
        at = parsed.ptr + 1;
    }
}

}  // namespace

Result<std::map<std::string, TypeHint>> wishes_of(const std::vector<std::string>& texts) {
    std::map<std::string, TypeHint> wishes;
    for (const auto& text : texts) {
        // PALM's names may contain '%' or brackets, but never '='.
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0) return refusal(text, "NAME is missing before '='");
        const auto name = text.substr(0, equals);
        const auto colon = text.find(':', equals);
        const auto type = type_named(text.substr(equals + 1, colon == std::string::npos ? colon : colon - equals - 1));
        if (!type) return refusal(text, type.error().what.substr(type.error().what.find('\'')));
        TypeHint wish{.type = *type, .form = TypeHint::Form::any, .shape = {}};
        if (colon != std::string::npos) {
            const auto form = text.substr(colon + 1);
            if (form == "box" || form == "rows") {
                wish.form = form == "box" ? TypeHint::Form::box : TypeHint::Form::rows;
            } else {
                const auto shape = shape_in(form, wish.type.size_bytes);
                if (!shape) return refusal(text, fmt::format("'{}' is not a shape", form));
                wish.form = TypeHint::Form::shape;
                wish.shape = *shape;
            }
        }
        if (!wishes.emplace(name, wish).second) return refusal(text, fmt::format("'{}' is given twice", name));
    }
    return wishes;
}

Result<> check_wishes(const Choices& choices, const std::vector<std::string>& names, const std::string& file) {
    for (const auto& [name, wish] : choices.wishes)
        if (std::ranges::find(names, name) == names.end())
            return Error{
                ErrorKind::refused,
                fmt::format("--type {}=...: {} has no variable of that name with a free choice of type", name, file),
                "", "--dry-run lists its contents"};
    return {};
}

}  // namespace forebay::foreign
