// Goal: siphash() is SipHash-2-4.
// Method: the words that its authors publish for messages of 0, 1, 2, ... bytes under one key.

#include <doctest/doctest.h>

#include <vector>

#include "core/base/siphash.hpp"

using namespace forebay;

TEST_CASE("the published words") {
    SipKey key;
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
    std::vector<std::byte> message;
    // vectors_sip64 of the reference implementation, as little-endian words; and the paper's example of 15 bytes.
    const std::vector<std::uint64_t> words{0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a,
                                           0x85676696d7fb7e2d, 0xcf2794e0277187b7, 0x18765564cd99a68d,
                                           0xcbc9466e58fee3ce, 0xab0200f58b01d137, 0x93f5f5799a932462};
    for (const auto word : words) {
        CAPTURE(message.size());
        CHECK(siphash(key, message) == word);
        message.push_back(static_cast<std::byte>(message.size()));
    }
    while (message.size() < 15) message.push_back(static_cast<std::byte>(message.size()));
    CHECK(siphash(key, message) == 0xa129ca6149be45e5);
    key[15] ^= std::byte{1};
    CHECK(siphash(key, message) != 0xa129ca6149be45e5);
}
