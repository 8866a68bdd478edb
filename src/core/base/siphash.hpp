// SipHash-2-4 (Aumasson and Bernstein, 2012): a 64-bit word for a message that needs the 128-bit key to compute. Two
// hosts use it to prove that they have the same token, without sending it.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay {

using SipKey = std::array<std::byte, 16>;

std::uint64_t siphash(const SipKey& key, std::span<const std::byte> message);

}  // namespace forebay
