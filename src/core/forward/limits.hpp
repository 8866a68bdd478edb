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
// Of clients, each with a thread, which sleeps.
inline constexpr std::size_t connections_max = 4096;
// Connections that have shown nothing yet: the oldest goes for the next one. Who has the token shows it with the first
// bytes and is no stranger for longer than a round trip, so a few are enough.
inline constexpr std::size_t strangers_max = 64;
// The body of a greeting's message: a path and numbers of 40 bytes.
inline constexpr std::uint32_t greeting_bytes_max = path_bytes_max + 64;
// An agent has one file open; a client of more has lost count.
inline constexpr std::size_t files_per_client_max = 64;

inline constexpr std::chrono::milliseconds connect_max{5'000};
// A forwarder that is at work says so this often, and one that says nothing for as long as `silence_max` is dead:
// killed without a word, stopped, or without power.
inline constexpr std::chrono::milliseconds beat_pause{3'000}, silence_max{15'000};
// A client must show the token within this time after it has connected: that takes two messages, and leaves seconds to
// spare for hosts that swap.
inline constexpr std::chrono::milliseconds greeting_max{10'000};
// Any program that reaches the port can cause lines of the log, so one line in this time tells of all of them.
inline constexpr std::chrono::milliseconds complaint_pause{1'000};
// A forwarder that ends lets what it has begun come to an end.
inline constexpr std::chrono::milliseconds end_max{30'000};
// A pause where no connection can be taken, for want of descriptors: 10 tries a second.
inline constexpr std::chrono::milliseconds accept_pause{100};

}  // namespace forebay::forward::limits
