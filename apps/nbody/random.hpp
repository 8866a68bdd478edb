// Random numbers that do not depend on the number of ranks: a hash for modes and particles, and a small generator. The
// generator's state is part of every snapshot.

#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace nbody {

/// The finaliser of splitmix64: every bit of the argument reaches every bit of the answer.
constexpr std::uint64_t mix(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

constexpr std::uint64_t mix(std::uint64_t seed, std::uint64_t bits) {
    return mix(seed + 0x9e3779b97f4a7c15u * (mix(bits) + 1));
}

/// In (0, 1], so that its logarithm is finite.
constexpr double unit_interval(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 1.0) * 0x1p-53; }

/// xoshiro256**: equal on all ranks, used once a step.
class Generator {
public:
    explicit Generator(std::uint64_t seed) {
        for (std::uint64_t i = 0; i < state_.size(); ++i) state_[i] = mix(seed, i);
    }
    std::uint64_t draw() {
        const std::uint64_t drawn = std::rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return drawn;
    }
    std::array<std::uint64_t, 4>& state() { return state_; }
    const std::array<std::uint64_t, 4>& state() const { return state_; }

private:
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace nbody
