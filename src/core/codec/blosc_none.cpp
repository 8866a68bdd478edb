// Replaces blosc.cpp in a build without Blosc.

#include "core/codec/filters.hpp"

namespace forebay::codec {

bool has_blosc() { return false; }

Filter blosc_filter(Type, Shuffle, std::uint64_t) { return {}; }

Result<std::size_t> encode_blosc(const Filter&, Level, std::span<const std::byte>, std::span<std::byte>) {
    return built_without("Blosc");
}

std::size_t encode_blosclz(std::uint64_t, std::span<const std::byte>, std::span<std::byte>) { return 0; }

Result<> decode_blosc(std::span<const std::byte>, std::span<std::byte>) { return built_without("Blosc"); }

}  // namespace forebay::codec
