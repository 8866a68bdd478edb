#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

#include "core/base/limits.hpp"
#include "core/describe/schema.hpp"
#include "forebay/describe.hpp"

namespace forebay {

namespace {

struct Named {
    const char* name;
    Type type;
};
constexpr std::array<Named, 13> named{{{"f16", f16},
                                       {"f32", f32},
                                       {"f64", f64},
                                       {"c64", c64},
                                       {"c128", c128},
                                       {"i8", i8},
                                       {"i16", i16},
                                       {"i32", i32},
                                       {"i64", i64},
                                       {"u8", u8},
                                       {"u16", u16},
                                       {"u32", u32},
                                       {"u64", u64}}};

}  // namespace

std::string name_of(Type type) {
    if (type.scalar == Scalar::string) return fmt::format("string[{}]", type.size_bytes);
    for (const auto& entry : named)
        if (entry.type == type) return entry.name;
    return fmt::format("type {} of {} bytes", static_cast<int>(type.scalar), type.size_bytes);
}

Result<Type> type_named(const std::string& name) {
    for (const auto& entry : named)
        if (name == entry.name) return entry.type;
    constexpr std::string_view prefix = "string[";
    if (name.starts_with(prefix) && name.ends_with("]")) {
        const char* end = name.data() + name.size() - 1;
        std::uint32_t length = 0;
        const auto parsed = std::from_chars(name.data() + prefix.size(), end, length);
        if (parsed.ec == std::errc() && parsed.ptr == end && length >= 1 && length <= limits::string_bytes_max)
            return string_of(length);
    }
    return Error{ErrorKind::refused,
                 fmt::format("'{}' is not an element type. Known: f16 f32 f64 c64 c128 i8..i64 u8..u64 "
                             "string[1..{}].",
                             name, limits::string_bytes_max)};
}

std::string show_shape(const Extents& shape) {
    if (shape.dims() == 0) return "scalar";
    std::string text;
    for (int dim = 0; dim < shape.dims(); ++dim) text += fmt::format("{}{}", dim > 0 ? " x " : "", shape[dim]);
    return text;
}

const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::replicated: return "replicated";
        case Kind::array: return "array";
        case Kind::particles: return "particles";
    }
    return "unknown";
}

}  // namespace forebay
