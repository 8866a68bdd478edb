// The requested begin of a restart, instead of the newest snapshot: FOREBAY_RESTART in the environment, or restart_from
// of a stream. A plain value, equal on all ranks.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "forebay/result.hpp"

namespace forebay::restart {

struct RestartWish {
    bool anew = false;       // as if the stream had no snapshot
    std::int64_t step = -1;  // if not anew: the newest snapshot at or below this step
    std::string words = {};  // the user's words: "FOREBAY_RESTART=300"
};

/// Parses FOREBAY_RESTART: "none" or a step; empty for an empty value. `refused` for any other value.
Result<std::optional<RestartWish>> wish_of(const std::string& value);

}  // namespace forebay::restart
