// CRC32C by carry-less multiplication, as in V. Gopal et al., "Fast CRC computation for generic polynomials using
// PCLMULQDQ instruction" (Intel, 2009), section on reflected data. `Sums` registers are folded over the bytes, and a
// copy stores the loaded registers too.
//
// A Vector has: bytes, the size of its Type; load(), and stream(), past the cache if the CPU can; add(), which is xor;
// first(), a register with the state in its first bytes; spread(), a constant in all lanes; fold(sum, by, data);
// word(), the CRC instruction over 8 bytes; byte(), over one byte; fence(), after the stores.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/crc32c/kernel.hpp"
#include "core/base/crc32c/polynomial.hpp"

namespace forebay::crc32c_kernels {

namespace {

struct Fold {
    std::uint64_t low, high;  // multipliers of the first 64 bits in memory, and of the 64 bits behind them
};

// x to the number of bits, reflected into 33 bits.
constexpr Fold fold_over(std::uint64_t bytes) {
    return {std::uint64_t{power_of_x(bytes * 8 + 32)} << 1, std::uint64_t{power_of_x(bytes * 8 - 32)} << 1};
}

template <class Vector>
std::uint32_t sum_few(const std::byte* from, std::size_t bytes, std::uint32_t state) {
    for (; bytes >= 8; bytes -= 8, from += 8) {
        std::uint64_t data;
        std::memcpy(&data, from, sizeof data);
        state = Vector::word(state, data);
    }
    for (; bytes > 0; --bytes, ++from) state = Vector::byte(state, static_cast<std::uint8_t>(*from));
    return state;
}

// Works on whole turns of `Sums` registers, at least one. The target of a copy begins at a cache line.
template <class Vector, int Sums, bool Copies>
std::uint32_t fold_turns(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t state) {
    constexpr std::size_t width = Vector::bytes, turn = width * Sums;
    constexpr Fold over_turn = fold_over(turn), over_one = fold_over(width);
    typename Vector::Type sums[Sums];  // in registers, once the loops over them are unrolled
#pragma GCC unroll 8
    for (int i = 0; i < Sums; ++i) {
        sums[i] = Vector::load(from + width * i);
        if constexpr (Copies) Vector::stream(to + width * i, sums[i]);
    }
    sums[0] = Vector::add(sums[0], Vector::first(state));
    const auto by = Vector::spread(over_turn);
    for (std::size_t at = turn; at < bytes; at += turn) {
#pragma GCC unroll 8
        for (int i = 0; i < Sums; ++i) {
            const auto data = Vector::load(from + at + width * i);
            if constexpr (Copies) Vector::stream(to + at + width * i, data);
            sums[i] = Vector::fold(sums[i], by, data);
        }
    }
    if constexpr (Copies) Vector::fence();
#pragma GCC unroll 8
    // Folds all registers into the last, then sums its bytes by the CRC instruction.
    for (int i = 1; i < Sums; ++i) sums[i] = Vector::fold(sums[i - 1], Vector::spread(over_one), sums[i]);
    std::byte rest[width];
    std::memcpy(rest, &sums[Sums - 1], width);
    return sum_few<Vector>(rest, width, 0);
}

template <class Vector, int Sums>
std::uint32_t fold_sum(const std::byte* from, std::size_t bytes, std::uint32_t state) {
    const auto body = bytes - bytes % (Vector::bytes * Sums);
    if (body > 0) state = fold_turns<Vector, Sums, false>(nullptr, from, body, state);
    return sum_few<Vector>(from + body, bytes - body, state);
}

// Streaming stores need whole cache lines. With an odd number of particles a rank's target begins anywhere, so up to 63
// bytes before the first line are copied separately.
template <class Vector, int Sums>
std::uint32_t fold_copy(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t state) {
    constexpr std::size_t turn = Vector::bytes * Sums;
    if (bytes >= turn + line_bytes) {
        const auto head = (line_bytes - reinterpret_cast<std::uintptr_t>(to) % line_bytes) % line_bytes;
        state = sum_few<Vector>(from, head, state);
        std::memcpy(to, from, head);
        const auto body = (bytes - head) - (bytes - head) % turn;
        state = fold_turns<Vector, Sums, true>(to + head, from + head, body, state);
        to += head + body;
        from += head + body;
        bytes -= head + body;
    }
    std::memcpy(to, from, bytes);
    return sum_few<Vector>(from, bytes, state);
}

}  // namespace

}  // namespace forebay::crc32c_kernels
