#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <zfp.h>
#include <zfp/bitstream.h>

#include "core/base/try.hpp"
#include "core/codec/filters.hpp"

namespace forebay::codec {

namespace {

// The first value of the filter H5Z-ZFP, https://h5z-zfp.readthedocs.io: the versions of zfp, of its stream, and of the
// filter. zfp's header with type, field and mode follows.
constexpr std::uint32_t filter_version = 0x0110;
constexpr std::uint32_t first_value = std::uint32_t{ZFP_VERSION_MAJOR} << 28 | std::uint32_t{ZFP_VERSION_MINOR} << 24 |
                                      std::uint32_t{ZFP_VERSION_PATCH} << 20 | std::uint32_t{ZFP_VERSION_TWEAK} << 16 |
                                      std::uint32_t{ZFP_CODEC} << 12 | filter_version;
// zfp's longest header has 148 bits: 5 values.
constexpr std::size_t header_values_max = 5;
using Header = std::array<std::uint64_t, 4>;  // whole words of zfp's bit stream

struct CloseBits {
    void operator()(bitstream* bits) const { stream_close(bits); }
};
struct CloseStream {
    void operator()(zfp_stream* stream) const { zfp_stream_close(stream); }
};
struct FreeField {
    void operator()(zfp_field* field) const { zfp_field_free(field); }
};
using Bits = std::unique_ptr<bitstream, CloseBits>;
using Stream = std::unique_ptr<zfp_stream, CloseStream>;
using Field = std::unique_ptr<zfp_field, FreeField>;

struct ZfpField {
    Stream stream;
    Field field;
};

Bits bits_over(void* data, std::size_t bytes) { return Bits(stream_open(data, bytes)); }

/// Type, field and mode from the filter's values; an error if they are no header of ours.
Result<ZfpField> described(const Filter& filter) {
    if (filter.values.size() < 2 || filter.values.size() > 1 + header_values_max) return unknown_filter(filter);
    if ((filter.values[0] >> 12 & 0xF) != ZFP_CODEC) return unknown_filter(filter);
    Header header{};
    std::memcpy(header.data(), filter.values.data() + 1, (filter.values.size() - 1) * sizeof(std::uint32_t));
    const auto bits = bits_over(header.data(), sizeof header);
    ZfpField out{Stream(zfp_stream_open(bits.get())), Field(zfp_field_alloc())};
    if (zfp_read_header(out.stream.get(), out.field.get(), ZFP_HEADER_FULL) == 0) return unknown_filter(filter);
    // zfp_filter() makes only these two modes. For other modes zfp_stream_maximum_size() does not bound the bytes read:
    // at a rate of one bit a block, zfp reads an exponent first.
    const auto mode = zfp_stream_compression_mode(out.stream.get());
    if (mode != zfp_mode_fixed_accuracy && mode != zfp_mode_reversible) return unknown_filter(filter);
    return out;
}

std::size_t plain_bytes(const zfp_field* field) { return zfp_field_size(field, nullptr) * zfp_type_size(field->type); }

zfp_type type_of(Type type) { return type.scalar == Scalar::f32 ? zfp_type_float : zfp_type_double; }

}  // namespace

bool has_zfp() { return true; }

bool zfp_takes(Type type) { return type.scalar == Scalar::f32 || type.scalar == Scalar::f64; }

Filter zfp_filter(Type type, const Extents& field, double error) {
    Header header{};
    const auto bits = bits_over(header.data(), sizeof header);
    const Stream stream(zfp_stream_open(bits.get()));
    const Field shape(zfp_field_alloc());
    zfp_field_set_type(shape.get(), type_of(type));
    // zfp counts dimensions from the fastest.
    const auto size = [&](int from_fastest) {
        return from_fastest < field.dims() ? field[field.dims() - 1 - from_fastest] : 0;
    };
    zfp_field_set_size_3d(shape.get(), size(0), size(1), size(2));
    if (error > 0) zfp_stream_set_accuracy(stream.get(), error);
    else zfp_stream_set_reversible(stream.get());
    const auto header_bits = zfp_write_header(stream.get(), shape.get(), ZFP_HEADER_FULL);
    zfp_stream_flush(stream.get());
    const auto values = (header_bits + 31) / 32;
    Filter filter{zfp_id, {first_value}};
    filter.values.resize(1 + values);
    std::memcpy(filter.values.data() + 1, header.data(), values * sizeof(std::uint32_t));
    return filter;
}

Result<std::size_t> encode_zfp(const Filter& filter, std::span<const std::byte> plain, std::span<std::byte> out) {
    FB_TRY_ASSIGN(as, described(filter));
    if (plain_bytes(as.field.get()) != plain.size()) return unknown_filter(filter);
    // zfp writes without a check of the end, so it gets the most that it may need, in whole words.
    std::vector<std::uint64_t> room(zfp_stream_maximum_size(as.stream.get(), as.field.get()) / 8 + 1);
    const auto bits = bits_over(room.data(), room.size() * 8);
    zfp_stream_set_bit_stream(as.stream.get(), bits.get());
    zfp_stream_rewind(as.stream.get());
    // zfp only reads it.
    zfp_field_set_pointer(as.field.get(), const_cast<std::byte*>(plain.data()));
    const auto bytes = zfp_compress(as.stream.get(), as.field.get());
    if (bytes == 0 || bytes >= out.size()) return std::size_t{0};
    std::memcpy(out.data(), room.data(), bytes);
    return bytes;
}

Result<> decode_zfp(const Filter& filter, std::span<const std::byte> stored, std::span<std::byte> plain) {
    FB_TRY_ASSIGN(as, described(filter));
    if (plain_bytes(as.field.get()) != plain.size()) return unknown_filter(filter);
    // zfp also reads without a check of the end: a damaged chunk must end in our zeros, not in foreign memory.
    std::vector<std::uint64_t> room(
        std::max(zfp_stream_maximum_size(as.stream.get(), as.field.get()), stored.size()) / 8 + 2);
    std::memcpy(room.data(), stored.data(), stored.size());
    const auto bits = bits_over(room.data(), room.size() * 8);
    zfp_stream_set_bit_stream(as.stream.get(), bits.get());
    zfp_stream_rewind(as.stream.get());
    zfp_field_set_pointer(as.field.get(), plain.data());
    if (zfp_decompress(as.stream.get(), as.field.get()) == 0)
        return Error{ErrorKind::corrupt, "zfp cannot decompress it"};
    return {};
}

}  // namespace forebay::codec
