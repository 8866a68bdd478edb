// Compression of chunks in the form of HDF5's registered filters, so that any HDF5 program with the usual plugins reads
// our files. Blosc (https://www.blosc.org, filter 32001) is lossless. zfp (https://zfp.io, filter 32013) has a bounded
// error or is lossless. All functions are pure; any number of threads may call them at once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "forebay/describe.hpp"
#include "forebay/options.hpp"

namespace forebay::codec {

// As registered with The HDF Group.
inline constexpr std::uint16_t blosc_id = 32001;
inline constexpr std::uint16_t zfp_id = 32013;

/// The storage form of one variable's chunks: an HDF5 filter and its client data. The number 0 means no filter.
struct Filter {
    std::uint16_t id = 0;
    std::vector<std::uint32_t> values;
};

/// Blosc's effort. Chunks of one variable may have different levels: each chunk records its own.
struct Level {
    Codec codec = Codec::lz4;  // or zstd
    int number = 1;            // Blosc's, 1 to 9
    friend bool operator==(const Level&, const Level&) = default;
};

/// False in a build without that library. Then its filter has the number 0, and encode() and decode() return
/// `unsupported`.
bool has_blosc();
bool has_zfp();

Filter blosc_filter(Type type, Shuffle shuffle, std::uint64_t chunk_bytes);

/// True for f32 and f64, the types of zfp.
bool zfp_takes(Type type);
/// `field` has 1 to 3 dimensions, slowest first. `error` is the largest absolute error of a value; 0 is lossless.
Filter zfp_filter(Type type, const Extents& field, double error);

/// Encodes one chunk into `out` and returns its size; 0 if it would not be smaller than `out`. `level` is only for
/// Blosc. `unsupported` for any other filter.
Result<std::size_t> encode(const Filter& filter, Level level, std::span<const std::byte> plain,
                           std::span<std::byte> out);

/// Decodes one chunk into exactly `plain`. `corrupt` if `stored` is not from encode(). `unsupported` for any other
/// filter, or a filter whose size or type differs from the chunk.
Result<> decode(const Filter& filter, std::span<const std::byte> stored, std::span<std::byte> plain);

/// A frame with GenericIO's settings of Blosc: its own compressor at level 9, with a shuffle of elements of
/// `element_bytes`. 0 if it would not be smaller than `out`, or `plain` is too large for a frame. decode() reads it.
std::size_t encode_blosclz(std::uint64_t element_bytes, std::span<const std::byte> plain, std::span<std::byte> out);

/// Bytes of each number in an element: the unit of a byte shuffle.
std::uint32_t number_bytes(Type type);

}  // namespace forebay::codec
