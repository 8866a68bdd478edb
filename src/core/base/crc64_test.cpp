// Goal: CRC-64/XZ gives its published check value, and the same sum in any pieces, with ISA-L and by our tables.

#include "core/base/crc64.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "core/base/bytes.hpp"

using namespace forebay;

TEST_CASE("the check value, and nothing") {
    CHECK(crc64(bytes_of("123456789")) == 0x995DC9BBDF1939FA);
    CHECK(crc64({}) == 0);
    CHECK(crc64_by_tables(bytes_of("123456789")) == 0x995DC9BBDF1939FA);
    CHECK(crc64_by_tables({}) == 0);
}

TEST_CASE("in pieces as at once, whatever the lengths") {
    std::vector<std::byte> bytes(5000);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 2'654'435'761u >> 24);
    const auto all = crc64(bytes);
    for (const std::size_t cut : {0u, 1u, 7u, 64u, 127u, 1024u, 4999u, 5000u})
        for (const auto sum : {crc64, crc64_by_tables})
            CHECK(sum(std::span(bytes).subspan(cut), sum(std::span(bytes).first(cut), 0)) == all);
    // GenericIO's test of a block: the complement of the checksum behind it, lowest byte first, gives all ones.
    std::vector<std::byte> sealed = bytes;
    for (int i = 0; i < 8; ++i) sealed.push_back(static_cast<std::byte>(~all >> (8 * i) & 0xff));
    CHECK(crc64(sealed) == 0xFFFF'FFFF'FFFF'FFFF);
}
