// Compression of chunks as the registered filters of HDF5 spell it, so that any HDF5 program with the usual plugins
// reads what we write: Blosc (https://www.blosc.org, filter 32001) without loss, and zfp (https://zfp.io, filter 32013)
// with a bounded error or without loss. Pure functions on memory; any number of threads may call them at once.

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

/// How the chunks of one variable are stored: an HDF5 filter and its client data. The number 0 is no filter.
struct Filter {
    std::uint16_t id = 0;
    std::vector<std::uint32_t> values;
};

/// How hard Blosc tries. It may differ from chunk to chunk of one variable: every chunk says how it was made.
struct Level {
    Codec codec = Codec::lz4;  // or zstd
    int number = 1;            // Blosc's, 1 to 9
    friend bool operator==(const Level&, const Level&) = default;
};

Filter blosc_filter(Type type, Shuffle shuffle, std::uint64_t chunk_bytes);

/// Whether zfp knows the type: f32 and f64.
bool zfp_takes(Type type);
/// `field` has 1 to 3 dimensions, slowest first. `error` is the largest absolute error of a value; 0 is without loss.
Filter zfp_filter(Type type, const Extents& field, double error);

/// Encodes one chunk into `out` and returns its size; 0 when that would not be smaller than `out`. `level` is Blosc's
/// alone. `unsupported` for a filter that is neither.
Result<std::size_t> encode(const Filter& filter, Level level, std::span<const std::byte> plain,
                           std::span<std::byte> out);

/// Decodes one chunk into exactly `plain`. `corrupt` when it is not what encode() gives; `unsupported` for a filter
/// that is neither, or of another size or type than the chunk.
Result<> decode(const Filter& filter, std::span<const std::byte> stored, std::span<std::byte> plain);

/// A frame as GenericIO asks Blosc for one: its own compressor at level 9, with a shuffle of elements of so many bytes.
/// 0 when it would not be smaller than `out`, or `plain` has more bytes than a frame can hold. decode() takes it.
std::size_t encode_blosclz(std::uint64_t element_bytes, std::span<const std::byte> plain, std::span<std::byte> out);

/// The bytes of the numbers that an element is made of: what a byte shuffle sorts by.
std::uint32_t number_bytes(Type type);

}  // namespace forebay::codec
