#include "core/codec/codec.hpp"

#include <fmt/format.h>

#include "core/codec/filters.hpp"

namespace forebay::codec {

Error unknown_filter(const Filter& filter) {
    return {ErrorKind::unsupported,
            fmt::format("this Forebay does not know HDF5 filter {} with {} values", filter.id, filter.values.size()),
            "", "use a later Forebay"};
}

Error built_without(const char* library) {
    return {ErrorKind::unsupported, fmt::format("this forebay was built without {}", library), "",
            fmt::format("use a forebay that was built with {}", library)};
}

Result<std::size_t> encode(const Filter& filter, Level level, std::span<const std::byte> plain,
                           std::span<std::byte> out) {
    if (filter.id == blosc_id) return encode_blosc(filter, level, plain, out);
    if (filter.id == zfp_id) return encode_zfp(filter, plain, out);
    return unknown_filter(filter);
}

Result<> decode(const Filter& filter, std::span<const std::byte> stored, std::span<std::byte> plain) {
    if (filter.id == blosc_id) return decode_blosc(stored, plain);
    if (filter.id == zfp_id) return decode_zfp(filter, stored, plain);
    return unknown_filter(filter);
}

std::uint32_t number_bytes(Type type) {
    if (type.scalar == Scalar::string) return 1;
    if (type.scalar == Scalar::c64 || type.scalar == Scalar::c128) return type.size_bytes / 2;
    return type.size_bytes;
}

}  // namespace forebay::codec
