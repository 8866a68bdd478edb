// CRC32C in several lanes side by side, for kernels whose step waits longer for the previous result than it computes.
// The sum of a stretch comes from the sums of its lanes: the sum of an earlier lane is moved over the bytes behind it.
//
// A Step has: bytes, its size; take() for a whole step, and byte() for one byte; copy(to, from, bytes), for a stretch
// that begins at a cache line; fence(), after the last stretch. WordStep makes take() and byte() from a CPU's CRC
// instruction.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/crc32c/kernel.hpp"
#include "core/base/crc32c/polynomial.hpp"

namespace forebay::crc32c_kernels {

namespace {

// All lanes of a stretch stay in L1 between the sum and the copy. Longer lanes were slower.
constexpr std::size_t lane_bytes = 1024;

constexpr ByteTable over_lane[4] = {table_after(lane_bytes), table_after(lane_bytes - 1), table_after(lane_bytes - 2),
                                    table_after(lane_bytes - 3)};

std::uint32_t move_over_lane(std::uint32_t state) {
    return over_lane[0].of[state & 0xffu] ^ over_lane[1].of[state >> 8 & 0xffu] ^ over_lane[2].of[state >> 16 & 0xffu] ^
           over_lane[3].of[state >> 24];
}

template <class Instruction>
struct WordStep : Instruction {
    static constexpr std::size_t bytes = 8;

    static std::uint32_t take(std::uint32_t state, const std::byte* from) {
        std::uint64_t data;
        std::memcpy(&data, from, sizeof data);
        return Instruction::word(state, data);
    }
};

template <class Step, std::size_t Lanes>
std::uint32_t sum_stretch(const std::byte* from, std::uint32_t state) {
    std::uint32_t states[Lanes] = {state};
    for (std::size_t at = 0; at < lane_bytes; at += Step::bytes)
#pragma GCC unroll 8
        for (std::size_t i = 0; i < Lanes; ++i) states[i] = Step::take(states[i], from + i * lane_bytes + at);
    state = states[0];
    for (std::size_t i = 1; i < Lanes; ++i) state = move_over_lane(state) ^ states[i];
    return state;
}

template <class Step, std::size_t Lanes>
std::uint32_t sum_lanes(const std::byte* from, std::size_t bytes, std::uint32_t state) {
    constexpr auto stretch = Lanes * lane_bytes;
    for (; bytes >= stretch; bytes -= stretch, from += stretch) state = sum_stretch<Step, Lanes>(from, state);
    for (; bytes >= Step::bytes; bytes -= Step::bytes, from += Step::bytes) state = Step::take(state, from);
    for (; bytes > 0; --bytes, ++from) state = Step::byte(state, static_cast<std::uint8_t>(*from));
    return state;
}

template <class Step, std::size_t Lanes>
std::uint32_t copy_lanes(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t state) {
    constexpr auto stretch = Lanes * lane_bytes;
    const auto head = (line_bytes - reinterpret_cast<std::uintptr_t>(to) % line_bytes) % line_bytes;
    if (bytes >= head + stretch) {
        state = sum_lanes<Step, Lanes>(from, head, state);
        std::memcpy(to, from, head);
        to += head;
        from += head;
        bytes -= head;
        for (; bytes >= stretch; bytes -= stretch, from += stretch, to += stretch) {
            state = sum_stretch<Step, Lanes>(from, state);
            Step::copy(to, from, stretch);
        }
        Step::fence();
    }
    std::memcpy(to, from, bytes);
    return sum_lanes<Step, Lanes>(from, bytes, state);
}

}  // namespace

}  // namespace forebay::crc32c_kernels
