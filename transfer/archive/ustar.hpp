// The block of each head, field by field (POSIX 1003.1, pax), and the keys of our records.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "transfer/archive/member.hpp"

namespace forebay::archive {

struct UstarBlock {
    char name[100];
    char mode[8];
    char user[8];
    char group[8];
    char size[12];
    char modified[12];
    char check[8];
    char type;
    char link[100];
    char magic[8];  // with the version
    char user_name[32];
    char group_name[32];
    char device_major[8];
    char device_minor[8];
    char prefix[155];
    char rest[12];
};
static_assert(sizeof(UstarBlock) == block_bytes && offsetof(UstarBlock, prefix) == 345);

/// The sum of all bytes, with spaces for `check`. Some old programs use signed bytes.
template <class Byte = unsigned char>
std::int64_t ustar_check(const UstarBlock& block) {
    const auto* bytes = reinterpret_cast<const char*>(&block);
    std::int32_t sum = 0;  // no conditions, so compilers add many bytes at once
    for (std::size_t at = 0; at < sizeof block; ++at) sum += static_cast<Byte>(bytes[at]);
    for (const char character : block.check) sum += ' ' - static_cast<Byte>(character);
    return sum;
}

inline constexpr std::string_view posix_magic{"ustar\00000", 8};
inline constexpr std::string_view mark_comment = "FOREBAY.archive=", mark_version = "1";
inline constexpr std::string_view sums_comment = "FOREBAY.crc32c=";  // "01234567 89abcdef": of the bytes, of the head
inline constexpr std::size_t sum_digits = 8;
// In the mark: each entry has its place, and the last entry the sum of the entries before it.
inline constexpr std::string_view promise_comment = "FOREBAY.promise=at end";
inline constexpr std::string_view place_comment = "FOREBAY.at=";  // "0123456789abcdef"
inline constexpr std::string_view end_comment = "FOREBAY.end=";   // "ENTRIES 0123456789abcdef"
inline constexpr std::size_t place_digits = 16;
inline constexpr std::string_view socket_comment = "FOREBAY.socket=";
inline constexpr std::string_view attribute_key = "SCHILY.xattr.", access_key = "SCHILY.acl.access",
                                  default_key = "SCHILY.acl.default";

/// CRC32C of a head with zeros in place of its own checksum, which is at `own_at`.
std::uint32_t sum_of_head(std::string_view head, std::size_t own_at);

}  // namespace forebay::archive
