// Where people want a restart to begin, instead of at the newest snapshot: FOREBAY_RESTART in the environment, or
// restart_from of a stream. A plain value, equal on all ranks.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "forebay/result.hpp"

namespace forebay::restart {

struct RestartWish {
    bool anew = false;       // as if the stream had no snapshot
    std::int64_t step = -1;  // else the newest snapshot at or below this step
    std::string words = {};  // as people gave it: "FOREBAY_RESTART=300"
};

/// The wish in the value of FOREBAY_RESTART, "none" or a step; nothing for an empty value. `refused` for another value.
Result<std::optional<RestartWish>> wish_of(const std::string& value);

}  // namespace forebay::restart
