// Probes of what has become slow, a storage target or this node's own way to all of them: small files, on a thread
// beside the agent's loop, since what is slow may hang.

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

/// The first probe comes so long after something was found slow; a probe that fails doubles it, up to 16 times.
inline constexpr std::chrono::seconds probe_after_usual{60};

/// When one that is slow is probed, and whether it is good again: after two probes in a row at 0.8 of a good one's
/// rate.
class ProbePlan {
public:
    ProbePlan(sys::Clock::time_point now, sys::Clock::duration after);
    bool is_due(sys::Clock::time_point now) const { return now >= probe_at_; }
    /// `ratio`: what the probe took of the good one's rate; 0: it failed. True when it is good again.
    bool probed(double ratio, sys::Clock::time_point now);

private:
    sys::Clock::duration after_, pause_;
    sys::Clock::time_point probe_at_;
    int passed_ = 0;  // probes in a row
};

/// Seconds for a file of some writes, each synced, which is removed again. `stripes`: how it lies, where that is
/// wished.
Result<double> probe(sys::Store& store, const std::string& path, const std::optional<sys::Stripes>& stripes);

/// Calls `look` once a second until its end, which it holds for probe_end_max at most. What `look` uses must be its
/// own: a thread that hangs outlives this object.
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
