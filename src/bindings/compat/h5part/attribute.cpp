#include "bindings/compat/h5part/attribute.hpp"

#include <fmt/format.h>
#include <forebay/h5part/H5Part.h>

#include <cstring>

#include "core/base/try.hpp"

namespace forebay::h5part {

namespace {

// A message of an object header ends at 64 KiB, in H5Part files as in node files.
constexpr std::uint64_t attribute_bytes_max = 60'000;
// Texts of similar length share a type, so that a growing title needs no new layout.
constexpr std::uint64_t text_step_bytes = 64;

Error no_type() {
    return {ErrorKind::unsupported, "the type must be H5PART_FLOAT64, FLOAT32, INT64, INT32, CHAR or STRING."};
}

Result<Type> number_of(std::int64_t code) {
    FB_TRY_ASSIGN(known, code_of_h5_type(code));
    if (known == H5PART_FLOAT64) return f64;
    if (known == H5PART_FLOAT32) return f32;
    if (known == H5PART_INT64) return i64;
    if (known == H5PART_INT32) return i32;
    if (known == H5PART_CHAR) return i8;
    return no_type();
}

}  // namespace

Error no_attribute(const std::string& name) {
    return {ErrorKind::broken, fmt::format("there is no attribute '{}'.", name)};
}

Result<std::int64_t> code_of_h5_type(std::int64_t type) {
    const auto size = H5Tget_size(type);
    switch (H5Tget_class(type)) {
        case H5T_FLOAT:
            if (size == 8) return std::int64_t{H5PART_FLOAT64};
            if (size == 4) return std::int64_t{H5PART_FLOAT32};
            break;
        case H5T_INTEGER:
            if (size == 8) return std::int64_t{H5PART_INT64};
            if (size == 4) return std::int64_t{H5PART_INT32};
            if (size == 1) return std::int64_t{H5PART_CHAR};
            break;
        case H5T_STRING: return std::int64_t{H5PART_STRING};
        default: break;
    }
    return no_type();
}

std::int64_t code_of(Type type) {
    switch (type.scalar) {
        case Scalar::f64: return H5PART_FLOAT64;
        case Scalar::f32: return H5PART_FLOAT32;
        case Scalar::i64: return H5PART_INT64;
        case Scalar::i32: return H5PART_INT32;
        case Scalar::i8: return H5PART_CHAR;
        default: return H5PART_STRING;
    }
}

Result<H5PartAttribute> make_attribute(const std::string& name, std::int64_t code, const void* value,
                                       std::int64_t count) {
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorKind::refused, fmt::format("attribute '{}' is refused: {}", name, why)};
    };
    if (name.empty()) return refuse("it has no name.");
    if (value == nullptr) return refuse("it has no value.");
    if (count <= 0) return refuse(fmt::format("it has {} elements.", count));
    FB_TRY_ASSIGN(known, code_of_h5_type(code));
    H5PartAttribute attribute{.name = name};
    std::uint64_t bytes = 0;  // in the caller's value
    if (known == H5PART_STRING) {
        bytes = strnlen(static_cast<const char*>(value), static_cast<std::size_t>(count));
        attribute.type = string_of(static_cast<std::uint32_t>((bytes / text_step_bytes + 1) * text_step_bytes));
    } else {
        FB_TRY_ASSIGN(type, number_of(code));
        attribute.type = type;
        attribute.count = static_cast<std::uint64_t>(count);
        bytes = attribute.count > attribute_bytes_max ? attribute.count : attribute.count * type.size_bytes;
    }
    if (bytes > attribute_bytes_max) return refuse(fmt::format("it is larger than {} bytes.", attribute_bytes_max));
    attribute.value.resize(attribute.type.scalar == Scalar::string ? attribute.type.size_bytes : bytes);
    std::memcpy(attribute.value.data(), value, bytes);
    return attribute;
}

}  // namespace forebay::h5part
