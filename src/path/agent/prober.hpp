// Probes of something slow, a storage target or this node's own way to all targets: small files, written by a thread
// beside the agent's loop, because a slow target may hang.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/sys/clock.hpp"
#include "core/sys/store.hpp"
#include "core/sys/thread.hpp"
#include "forebay/result.hpp"

namespace forebay::agent {

/// The first probe comes this long after the fault was found. A failed probe doubles the pause, up to 16 times.
inline constexpr std::chrono::seconds probe_after_usual{60};

/// Decides when a slow target is probed, and when it is good again: after two probes in a row at 0.8 of a good target's
/// rate.
class ProbePlan {
public:
    ProbePlan(sys::Clock::time_point now, sys::Clock::duration after);
    bool is_due(sys::Clock::time_point now) const { return now >= probe_at_; }
    /// `ratio`: rate of the probe / rate of the good target's probe; 0: it failed. True if it is good again.
    bool probed(double ratio, sys::Clock::time_point now);

private:
    sys::Clock::duration after_, pause_;
    sys::Clock::time_point probe_at_;
    int passed_ = 0;  // probes in a row
};

/// Returns the seconds for a file of some synced writes; removes the file. `stripes` is the layout of the file, if it
/// matters.
Result<double> probe(sys::Store& store, const std::string& path, const std::optional<sys::Stripes>& stripes);

/// Calls `look` once a second until the destructor, which waits at most probe_end_max for it. `look` must own
/// everything that it uses: a hanging thread outlives this object.
inline constexpr std::chrono::seconds probe_end_max{2};
class Prober {
public:
    explicit Prober(std::function<void()> look);
    Prober(const Prober&) = delete;
    Prober& operator=(const Prober&) = delete;
    ~Prober();

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;  // with the thread
    sys::Thread thread_;
};

}  // namespace forebay::agent
