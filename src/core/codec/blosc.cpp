#include <fmt/format.h>

#include <blosc.h>

#include "core/codec/filters.hpp"

namespace forebay::codec {

namespace {

// Client data of the filter, https://github.com/Blosc/hdf5-blosc: its revision, Blosc's format, bytes of a number,
// bytes of a chunk, level, shuffle, compressor.
constexpr std::uint32_t filter_revision = 2;
enum BloscFrame : std::size_t { at_number_bytes = 2, at_shuffle = 5 };
constexpr std::uint32_t level_on_paper = 5;  // only nominal: the level of each chunk is chosen when it is written

std::uint32_t shuffle_code(Shuffle shuffle) {
    switch (shuffle) {
        case Shuffle::none: return BLOSC_NOSHUFFLE;
        case Shuffle::bytes: return BLOSC_SHUFFLE;
        case Shuffle::bits: return BLOSC_BITSHUFFLE;
    }
    return BLOSC_SHUFFLE;
}

}  // namespace

bool has_blosc() { return true; }

Filter blosc_filter(Type type, Shuffle shuffle, std::uint64_t chunk_bytes) {
    return {blosc_id,
            {filter_revision, BLOSC_VERSION_FORMAT, number_bytes(type), static_cast<std::uint32_t>(chunk_bytes),
             level_on_paper, shuffle_code(shuffle), BLOSC_ZSTD}};
}

Result<std::size_t> encode_blosc(const Filter& filter, Level level, std::span<const std::byte> plain,
                                 std::span<std::byte> out) {
    if (filter.values.size() <= at_shuffle) return unknown_filter(filter);
    const char* name = level.codec == Codec::zstd ? BLOSC_ZSTD_COMPNAME : BLOSC_LZ4_COMPNAME;
    const int bytes =
        blosc_compress_ctx(level.number, static_cast<int>(filter.values[at_shuffle]), filter.values[at_number_bytes],
                           plain.size(), plain.data(), out.data(), out.size(), name, 0, 1);
    if (bytes < 0)
        return Error{ErrorKind::unsupported,
                     fmt::format("Blosc cannot compress with {} level {} (its code {}).", name, level.number, bytes)};
    return static_cast<std::size_t>(bytes);
}

std::size_t encode_blosclz(std::uint64_t element_bytes, std::span<const std::byte> plain, std::span<std::byte> out) {
    if (plain.size() > BLOSC_MAX_BUFFERSIZE) return 0;
    const int bytes = blosc_compress_ctx(9, BLOSC_SHUFFLE, element_bytes, plain.size(), plain.data(), out.data(),
                                         out.size(), BLOSC_BLOSCLZ_COMPNAME, 0, 1);
    return bytes < 0 ? 0 : static_cast<std::size_t>(bytes);
}

Result<> decode_blosc(std::span<const std::byte> stored, std::span<std::byte> plain) {
    std::size_t bytes = 0;
    if (stored.size() < BLOSC_MIN_HEADER_LENGTH || blosc_cbuffer_validate(stored.data(), stored.size(), &bytes) < 0 ||
        bytes != plain.size())
        return Error{ErrorKind::corrupt, fmt::format("it is not a Blosc chunk of {} bytes with {} bytes of data",
                                                     stored.size(), plain.size())};
    const int got = blosc_decompress_ctx(stored.data(), plain.data(), plain.size(), 1);
    if (got < 0 || static_cast<std::size_t>(got) != plain.size())
        return Error{ErrorKind::corrupt, fmt::format("Blosc cannot decompress it (its code {})", got)};
    return {};
}

}  // namespace forebay::codec
