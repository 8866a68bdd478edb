#include "insight/foreign/hdf5/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace forebay::foreign {

namespace {

// The most members of a compound or an enum to print; a line has no room for more.
constexpr int members_shown_max = 4;
// Lists of arrays of compounds are three deep; a damaged file may claim any depth.
constexpr int type_depth_max = 8;

std::string text_of(const h5::Id& type, int depth);

std::string owned(char* text) {
    if (text == nullptr) return "";
    std::string copy = text;
    // HDF5 allocated the text, so HDF5 must free it.
    H5free_memory(text);
    return copy;
}

std::string with_order(const h5::Id& type, std::string name) {
    // A single byte has no order.
    if (H5Tget_size(type.get()) < 2) return name;
    const auto order = H5Tget_order(type.get());
    return order == H5T_ORDER_BE ? name + ", big-endian" : order == H5T_ORDER_VAX ? name + ", order of VAX" : name;
}

std::string integer_text(const h5::Id& type) {
    const auto bits = 8 * H5Tget_size(type.get()), used = H5Tget_precision(type.get());
    const auto name = fmt::format("{}{}", H5Tget_sign(type.get()) == H5T_SGN_2 ? "i" : "u", bits);
    return with_order(type, used == bits ? name : fmt::format("{} ({} bits used)", name, used));
}

/// Two bytes may be IEEE's half or a bfloat16 with other values: the bit fields decide.
std::string float_text(const h5::Id& type) {
    struct Known {
        std::size_t bits, exponent, mantissa;
        const char* name;
    };
    constexpr Known all[] = {{16, 5, 10, "f16"},     {32, 8, 23, "f32"},     {64, 11, 52, "f64"},
                             {128, 15, 112, "f128"}, {16, 8, 7, "bfloat16"}, {8, 4, 3, "fp8 e4m3"},
                             {8, 5, 2, "fp8 e5m2"},  {80, 15, 64, "f80"}};
    const auto bits = 8 * H5Tget_size(type.get()), used = H5Tget_precision(type.get());
    std::size_t sign = 0, exponent_at = 0, exponent = 0, mantissa_at = 0, mantissa = 0;
    if (H5Tget_fields(type.get(), &sign, &exponent_at, &exponent, &mantissa_at, &mantissa) < 0) return "";
    const auto known = std::ranges::find_if(all, [&](const Known& candidate) {
        return candidate.bits == used && candidate.exponent == exponent && candidate.mantissa == mantissa &&
               H5Tget_ebias(type.get()) == (std::size_t{1} << (exponent - 1)) - 1;
    });
    if (known == std::end(all))
        return with_order(type,
                          fmt::format("float of {} bits: {} of exponent, {} of mantissa", bits, exponent, mantissa));
    return with_order(type, used == bits ? known->name : fmt::format("{} in {} bytes", known->name, bits / 8));
}

std::optional<std::int64_t> member_value(const h5::Id& type, const h5::Id& base, unsigned index) {
    // H5Tconvert() works in place, and needs room for the larger of both types.
    std::array<char, 16> room{};
    if (H5Tget_size(base.get()) > sizeof(std::int64_t) || H5Tget_member_value(type.get(), index, room.data()) < 0 ||
        H5Tconvert(base.get(), H5T_NATIVE_INT64, 1, room.data(), nullptr, H5P_DEFAULT) < 0)
        return std::nullopt;
    std::int64_t value = 0;
    std::copy_n(room.data(), sizeof value, reinterpret_cast<char*>(&value));
    return value;
}

std::string enum_text(const h5::Id& type, int depth) {
    const h5::Id base(H5Tget_super(type.get()));
    const auto count = H5Tget_nmembers(type.get());
    if (base.get() < 0 || count < 0) return "";
    std::vector<std::string> members;
    for (int i = 0; i < std::min(count, members_shown_max); ++i) {
        const auto index = static_cast<unsigned>(i);
        const auto value = member_value(type, base, index);
        members.push_back(owned(H5Tget_member_name(type.get(), index)) + (value ? fmt::format("={}", *value) : ""));
    }
    // h5py stores bool like this.
    if (members == std::vector<std::string>{"FALSE=0", "TRUE=1"}) return "bool";
    auto text = fmt::format("enum of {}", text_of(base, depth + 1));
    for (std::size_t i = 0; i < members.size(); ++i) text += (i == 0 ? ": " : ", ") + members[i];
    return count > members_shown_max ? text + fmt::format(", ... {} values", count) : text;
}

/// h5py and numpy write {r, i}, other programs {real, imag} or {re, im}.
std::optional<std::string> complex_text(const h5::Id& type, const std::vector<std::string>& names) {
    constexpr std::array<std::array<const char*, 2>, 3> words{{{"r", "i"}, {"real", "imag"}, {"re", "im"}}};
    const bool is_named = std::ranges::any_of(
        words, [&](const auto& pair) { return names.size() == 2 && names[0] == pair[0] && names[1] == pair[1]; });
    if (!is_named) return std::nullopt;
    const h5::Id real(H5Tget_member_type(type.get(), 0)), imaginary(H5Tget_member_type(type.get(), 1));
    if (real.get() < 0 || H5Tget_class(real.get()) != H5T_FLOAT || H5Tequal(real.get(), imaginary.get()) <= 0)
        return std::nullopt;
    const auto part = float_text(real);
    if (part.starts_with("f32")) return "c64, complex" + part.substr(3);
    if (part.starts_with("f64")) return "c128, complex" + part.substr(3);
    return "complex of " + part;
}

std::string compound_text(const h5::Id& type, int depth) {
    const auto count = H5Tget_nmembers(type.get());
    std::vector<std::string> names;
    for (int i = 0; i < std::min(count, members_shown_max); ++i)
        names.push_back(owned(H5Tget_member_name(type.get(), static_cast<unsigned>(i))));
    if (count == 2)
        if (const auto text = complex_text(type, names)) return *text;
    auto text = fmt::format("compound of {} bytes", H5Tget_size(type.get()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const h5::Id member(H5Tget_member_type(type.get(), static_cast<unsigned>(i)));
        text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", names[i], text_of(member, depth + 1));
    }
    return count > members_shown_max ? text + fmt::format(", ... {} members", count) : text;
}

std::string array_text(const h5::Id& type, int depth) {
    const h5::Id base(H5Tget_super(type.get()));
    std::array<hsize_t, H5S_MAX_RANK> sizes{};
    const auto dims = H5Tget_array_ndims(type.get());
    if (dims < 0 || H5Tget_array_dims2(type.get(), sizes.data()) < 0) return "";
    auto text = text_of(base, depth + 1) + "[";
    for (int dim = 0; dim < dims; ++dim)
        text += fmt::format("{}{}", dim == 0 ? "" : " x ", sizes[static_cast<std::size_t>(dim)]);
    return text + "]";
}

std::string text_of(const h5::Id& type, int depth) {
    if (type.get() < 0) return "";
    if (depth > type_depth_max) return "...";
    const auto bytes = H5Tget_size(type.get());
    switch (H5Tget_class(type.get())) {
        case H5T_INTEGER: return integer_text(type);
        case H5T_FLOAT: return float_text(type);
        case H5T_STRING: return H5Tis_variable_str(type.get()) > 0 ? "string" : fmt::format("string[{}]", bytes);
        case H5T_COMPOUND: return compound_text(type, depth);
        case H5T_ENUM: return enum_text(type, depth);
        case H5T_ARRAY: return array_text(type, depth);
        case H5T_VLEN: return "lists of " + text_of(h5::Id(H5Tget_super(type.get())), depth + 1);
        case H5T_BITFIELD: return with_order(type, fmt::format("bitfield of {} bits", H5Tget_precision(type.get())));
        case H5T_REFERENCE:
            return H5Tequal(type.get(), H5T_STD_REF_DSETREG) > 0 ? "references to regions" : "references to objects";
        case H5T_OPAQUE: {
            const auto tag = owned(H5Tget_tag(type.get()));
            return fmt::format("opaque of {} bytes{}", bytes, tag.empty() ? "" : ": " + tag);
        }
        case H5T_TIME: return fmt::format("time of {} bytes", bytes);
        default: return "";
    }
}

}  // namespace

std::string type_text(const h5::Id& type) { return text_of(type, 0); }

}  // namespace forebay::foreign
