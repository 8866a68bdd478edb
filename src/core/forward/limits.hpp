// The limits of forwarding, each with its reason.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace forebay::forward::limits {

// The bytes of one piece of a write. Each piece needs a round trip for `go`, about 0.1 ms. A piece takes 8 ms at 1
// GB/s, so the round trip costs almost nothing. The size is whole pages, and best a multiple of the target's stripe.
inline constexpr std::uint32_t piece_bytes = 8u << 20;
// The pieces that a forwarder holds and writes at once: 512 MiB of its memory. Other clients wait for their turn.
inline constexpr int pieces_max = 64;
// A request has two paths and numbers. An answer may list a directory of 60 thousand names.
inline constexpr std::uint32_t request_bytes_max = 16u << 10, answer_bytes_max = 16u << 20;
inline constexpr std::size_t path_bytes_max = 4096;
// The text of an error has the paths and one sentence.
inline constexpr std::size_t error_bytes_max = 8192;
// The most client connections. Each has a thread, which sleeps.
inline constexpr std::size_t connections_max = 4096;
// The most connections that have shown nothing yet. One more makes the oldest go. A client with the token shows it with
// its first bytes, within a round trip, so a few places are enough.
inline constexpr std::size_t strangers_max = 64;
// The body of a greeting: a path and 40 bytes of numbers.
inline constexpr std::uint32_t greeting_bytes_max = path_bytes_max + 64;
// An agent has one file open. A client with more than this has lost track of its files.
inline constexpr std::size_t files_per_client_max = 64;

inline constexpr std::chrono::milliseconds connect_max{5'000};
// The interval of beats, and the silence after which a forwarder counts as dead: killed, stopped, or without power.
inline constexpr std::chrono::milliseconds beat_pause{3'000}, silence_max{15'000};
// A client must show the token within this time after connecting. It needs two messages, and the rest is for hosts that
// swap.
inline constexpr std::chrono::milliseconds greeting_max{10'000};
// Any program that reaches the port can cause log lines, so one line in this time stands for all of them.
inline constexpr std::chrono::milliseconds complaint_pause{1'000};
// A stopping forwarder waits this long for requests under way.
inline constexpr std::chrono::milliseconds end_max{30'000};
// The pause after a connection could not be accepted, for example without free descriptors: 10 attempts a second.
inline constexpr std::chrono::milliseconds accept_pause{100};

}  // namespace forebay::forward::limits
