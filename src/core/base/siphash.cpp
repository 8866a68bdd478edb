#include "core/base/siphash.hpp"

#include <bit>

#include "core/base/bytes.hpp"

namespace forebay {

namespace {

struct State {
    std::uint64_t a, b, c, d;

    void rounds(int count) {
        for (int i = 0; i < count; ++i) {
            a += b;
            b = std::rotl(b, 13) ^ a;
            a = std::rotl(a, 32);
            c += d;
            d = std::rotl(d, 16) ^ c;
            a += d;
            d = std::rotl(d, 21) ^ a;
            c += b;
            b = std::rotl(b, 17) ^ c;
            c = std::rotl(c, 32);
        }
    }
    void take(std::uint64_t word) {
        d ^= word;
        rounds(2);
        a ^= word;
    }
};

}  // namespace

std::uint64_t siphash(const SipKey& key, std::span<const std::byte> message) {
    const auto low = load_le<std::uint64_t>(key.data()), high = load_le<std::uint64_t>(key.data() + 8);
    State state{low ^ 0x736f6d6570736575ull, high ^ 0x646f72616e646f6dull, low ^ 0x6c7967656e657261ull,
                high ^ 0x7465646279746573ull};
    std::size_t at = 0;
    for (; at + 8 <= message.size(); at += 8) state.take(load_le<std::uint64_t>(message.data() + at));
    std::uint64_t last = std::uint64_t{message.size() & 0xff} << 56;
    for (std::size_t i = 0; at + i < message.size(); ++i)
        last |= std::to_integer<std::uint64_t>(message[at + i]) << (8 * i);
    state.take(last);
    state.c ^= 0xff;
    state.rounds(4);
    return state.a ^ state.b ^ state.c ^ state.d;
}

}  // namespace forebay
