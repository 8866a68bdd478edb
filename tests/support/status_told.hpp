// A status line of an agent of session 3, written `age_s` seconds before a fixed moment.

#pragma once

#include <cstdint>
#include <string>

#include "core/format/status_line.hpp"

namespace forebay::test {

inline constexpr std::int64_t told_second = 1'000'000'000, told_now = 1'795'420'000 * told_second;

/// Its period is 2 s, its node "nid7".
inline format::StatusLine status_told(const std::string& state, bool application_lives = true, std::int64_t age_s = 1) {
    format::StatusLine status{.unix_ns = told_now - age_s * told_second, .period_seconds = 2, .host = "nid7"};
    status.state = state;
    status.session = 3;
    status.application_lives = application_lives;
    return status;
}

}  // namespace forebay::test
