// Replaces zfp.cpp in a build without zfp.

#include "core/codec/filters.hpp"

namespace forebay::codec {

bool has_zfp() { return false; }

bool zfp_takes(Type type) { return type.scalar == Scalar::f32 || type.scalar == Scalar::f64; }

Filter zfp_filter(Type, const Extents&, double) { return {}; }

Result<std::size_t> encode_zfp(const Filter&, std::span<const std::byte>, std::span<std::byte>) {
    return built_without("zfp");
}

Result<> decode_zfp(const Filter&, std::span<const std::byte>, std::span<std::byte>) { return built_without("zfp"); }

}  // namespace forebay::codec
