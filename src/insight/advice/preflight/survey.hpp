// Drives a SlowTest over nodes: asks for probes until the test has decided, or no time is left.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "insight/advice/preflight/talk.hpp"
#include "insight/advice/preflight/walk.hpp"

namespace forebay::advice {

struct Survey {
    /// Who probes this one now: nothing where all that could are busy, or silent.
    std::function<std::optional<std::size_t>(std::size_t subject)> node_for;
    std::function<Question(std::size_t subject)> question;
    std::chrono::milliseconds at_most{};  // of a probe
    std::size_t at_once = 1;              // of probes
    /// Where the node is the subject, its silence is the subject's; else another node probes anew.
    bool node_is_subject = false;
    std::function<void(std::uint64_t probes)> progress = {};
};

/// Subjects that could not be probed, with why: "hangs", "cannot be written: ...".
using Unprobed = std::map<std::size_t, std::string>;
Unprobed survey(Talk& talk, SlowTest& walk, const Survey& survey);

}  // namespace forebay::advice
