// The passes of a migration, in order: used in texts, in the state, and for --until and --again.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "forebay/result.hpp"

namespace forebay::migrate {

enum class Pass : std::uint8_t { walk, copy, live_sync, freeze, final_sync, compare, report, release, wait, remove };

inline constexpr std::array<std::string_view, 10> pass_names{"walk",    "copy",   "live-sync", "freeze", "final-sync",
                                                             "compare", "report", "release",   "wait",   "delete"};

constexpr std::string_view name_of(Pass pass) { return pass_names[static_cast<std::size_t>(pass)]; }

/// Returns `refused` with all names for an unknown word.
Result<Pass> pass_from(const std::string& option, const std::string& word);

inline constexpr std::int64_t second_ns = 1'000'000'000;
inline constexpr std::int64_t clocks_differ_s = 600;  // between data mover machines and file servers
inline std::int64_t now_s() { return sys::unix_ns() / second_ns; }
/// "2023-11-14 22:13:20 UTC".
inline std::string show_date(std::int64_t unix_s) { return show_utc(unix_s * second_ns); }

/// "under 1 s", "76.0 s": states have whole seconds.
inline std::string show_lasted(std::int64_t seconds) {
    return seconds <= 0 ? "under 1 s" : show_seconds(static_cast<double>(seconds));
}

}  // namespace forebay::migrate
