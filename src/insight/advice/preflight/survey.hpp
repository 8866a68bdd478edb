// Runs a SlowTest over nodes: requests probes until the test has decided or time is over.

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
    /// The node to probe a subject now; nothing if all nodes are busy or silent.
    std::function<std::optional<std::size_t>(std::size_t subject)> node_for;
    std::function<Question(std::size_t subject)> question;
    std::chrono::milliseconds at_most{};  // of a probe
    std::size_t at_once = 1;              // probes
    /// True: the node is the subject, and its silence counts. False: another node repeats the probe.
    bool node_is_subject = false;
    std::function<void(std::uint64_t probes)> progress = {};
};

/// Subjects that could not be probed, with the reason: "hangs", "cannot be written: ...".
using Unprobed = std::map<std::size_t, std::string>;
Unprobed survey(Talk& talk, SlowTest& walk, const Survey& survey);

}  // namespace forebay::advice
