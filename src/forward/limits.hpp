// The limits of forwarding, each with its reason.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace forebay::forward::limits {

// A write crosses in pieces of this size: long enough that the round trip to be admitted with it costs nothing (8 ms at
// 1 GB/s, against some 0.1 ms), whole pages, and best a multiple of the target's stripe.
inline constexpr std::uint32_t piece_bytes = 8u << 20;
// Pieces that a forwarder holds and writes at once: 512 MiB of its memory. Other clients wait for their turn.
inline constexpr int pieces_max = 64;
// A request names two paths and numbers. An answer may list a directory: of 60 thousand names.
inline constexpr std::uint32_t request_bytes_max = 16u << 10, answer_bytes_max = 16u << 20;
inline constexpr std::size_t path_bytes_max = 4096;
// An error's text has the paths and one sentence.
inline constexpr std::size_t error_bytes_max = 8192;
// Each has a thread, which sleeps.
inline constexpr std::size_t connections_max = 4096;
// An agent has one file open; a client of more has lost count.
inline constexpr std::size_t files_per_client_max = 64;

inline constexpr std::chrono::milliseconds connect_max{5'000};
// A forwarder that is at work says so this often, and one that says nothing for as long as `silence_max` is dead:
// killed without a word, stopped, or without power.
inline constexpr std::chrono::milliseconds beat_pause{3'000}, silence_max{15'000};
// Who connects says within this time who it is.
inline constexpr std::chrono::milliseconds greeting_max{10'000};
// A forwarder that ends lets what it has begun come to an end.
inline constexpr std::chrono::milliseconds end_max{30'000};
// A pause where no connection can be taken, for want of descriptors: 10 tries a second.
inline constexpr std::chrono::milliseconds accept_pause{100};

}  // namespace forebay::forward::limits
