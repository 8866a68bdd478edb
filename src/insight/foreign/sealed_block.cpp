#include "insight/foreign/sealed_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/bytes.hpp"
#include "core/base/crc64.hpp"
#include "core/base/try.hpp"
#include "core/codec/codec.hpp"
#include "insight/foreign/bytes.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign {

namespace {

constexpr std::uint64_t word_bytes = 8;  // of a checksum

Error damage(const std::string& why) { return {ErrorKind::corrupt, why}; }

}  // namespace

Result<> SealedReader::begin(sys::File& file, const Sealed& block) {
    file_ = &file;
    block_ = block;
    at_ = 0;
    crc_ = 0;
    if (block.blosc) return unpack();
    plain_.clear();
    return block.plain_bytes == 0 ? check_end() : Result<>{};
}

Result<> SealedReader::unpack() {
    // The claimed size is compared with the frame's size before memory is allocated for it.
    constexpr std::uint64_t frame_head_bytes = 16;
    if (block_.stored.bytes < word_bytes + frame_head_bytes || block_.stored.bytes > limits::blosc_bytes_max)
        return damage(fmt::format("{} bytes are not a compressed block", block_.stored.bytes));
    std::array<std::byte, word_bytes + frame_head_bytes> first;
    FB_TRY(file_->read(block_.stored.offset, first));
    const auto plain_bytes = load_le<std::uint32_t>(first.data() + word_bytes + 4);
    if (plain_bytes != block_.plain_bytes)
        return damage(
            fmt::format("its Blosc frame holds {} bytes, but its elements are {}", plain_bytes, block_.plain_bytes));
    stored_.resize(block_.stored.bytes);
    FB_TRY(file_->read(block_.stored.offset, stored_));
    // The stored bytes are checked first: the decoder gets only undamaged frames.
    crc_ = crc64(stored_);
    FB_TRY(check_end());
    plain_.resize(plain_bytes);
    const auto frame = std::span<const std::byte>(stored_).subspan(word_bytes);
    FB_TRY(codec::decode({codec::blosc_id, {}}, frame, plain_));
    const auto actual = crc64(plain_), expected = load<std::uint64_t>(stored_.data(), block_.big_endian);
    if (actual == expected) return {};
    return damage(fmt::format("decompressed, its CRC-64 is {:016x}, {:016x} expected", actual, expected));
}

Result<> SealedReader::check_end() {
    std::array<std::byte, word_bytes> trailer;
    FB_TRY(file_->read(block_.stored.end(), trailer));
    // Lowest byte first, in files of either byte order.
    const auto expected = ~load_le<std::uint64_t>(trailer.data());
    if (crc_ == expected) return {};
    return damage(fmt::format("its CRC-64 is {:016x}, {:016x} expected", crc_, expected));
}

Result<> SealedReader::next(std::span<std::byte> out) {
    if (file_ == nullptr || out.size() > block_.plain_bytes - at_)
        return Error{ErrorKind::broken, "a defect of Forebay: a block was read past its end."};
    if (out.empty()) return {};
    if (block_.blosc) std::memcpy(out.data(), plain_.data() + at_, out.size());
    else FB_TRY(file_->read(block_.stored.offset + at_, out));
    at_ += out.size();
    if (block_.blosc) return {};
    crc_ = crc64(out, crc_);
    return at_ == block_.plain_bytes ? check_end() : Result<>{};
}

}  // namespace forebay::foreign
