// The calls of scripts' functions, as a worker reports them. Limits the time of a call, and switches scripts off that
// ended their worker too often.
//
// Life, for a snapshot: look_at() -> begin(), end() for each call -> survived(). worker_ended() at any time. Threads:
// one.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/sys/clock.hpp"
#include "forebay/options.hpp"

namespace forebay::agent {

class ScriptCalls {
public:
    explicit ScriptCalls(std::uint32_t ends_max) : ends_max_(ends_max) {}

    /// Begins a snapshot of that stream of the control page, with all analyses of the stream, and the indices of due
    /// analyses.
    void look_at(std::uint32_t stream, std::vector<Analysis> analyses, std::vector<std::size_t> due);
    /// Of the snapshot's stream, as indices.
    std::vector<std::size_t> switched_off() const;
    /// The name of an analysis that is due and switched off.
    std::optional<std::string> left_out() const;

    /// False if no script of the stream has this index, or if a call is running.
    bool begin(std::uint64_t index);
    /// False if no call is running.
    bool end();
    /// The worker finished the snapshot: the scripts that were called did not end it this time.
    void survived();
    /// The time of this snapshot's calls so far.
    sys::Clock::duration spent() const;
    /// The error text if the running call is over its time limit; else nothing.
    std::optional<std::string> overdue() const;

    /// The name of the analysis whose call was running, if any: this call ended the worker.
    std::optional<std::string> worker_ended();
    /// True if worker_ended() has just switched this analysis off.
    bool is_switched_off(const std::string& name) const;
    /// Call it if the worker was ended for another reason.
    void forget() { begun_.reset(); }

private:
    struct Call {
        std::size_t index = 0;
        sys::Clock::time_point since;
    };
    const std::uint32_t ends_max_;
    std::uint32_t stream_ = 0;
    std::vector<Analysis> analyses_;
    std::vector<std::size_t> due_;
    std::optional<Call> begun_;
    std::set<std::size_t> called_;  // for this snapshot
    sys::Clock::duration spent_{0};
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> ends_;  // in a row, for a stream's script
};

}  // namespace forebay::agent
