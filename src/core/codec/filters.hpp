// The two filters, private to this module.

#pragma once

#include "core/codec/codec.hpp"

namespace forebay::codec {

Error unknown_filter(const Filter& filter);
/// `unsupported`, in builds without this library.
Error built_without(const char* library);

Result<std::size_t> encode_blosc(const Filter& filter, Level level, std::span<const std::byte> plain,
                                 std::span<std::byte> out);
Result<> decode_blosc(std::span<const std::byte> stored, std::span<std::byte> plain);

Result<std::size_t> encode_zfp(const Filter& filter, std::span<const std::byte> plain, std::span<std::byte> out);
Result<> decode_zfp(const Filter& filter, std::span<const std::byte> stored, std::span<std::byte> plain);

}  // namespace forebay::codec
