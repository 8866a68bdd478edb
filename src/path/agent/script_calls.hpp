// The calls of scripts' functions, as a worker tells them: how long one may take, and which scripts have ended their
// worker so often that they are switched off.
//
// Life, of a snapshot: look_at() -> begin(), end() of each call -> survived(). worker_ended() at any time.
// Threads: one.

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

    /// A snapshot of that stream of the control page, all analyses that the stream has, and which of them are due.
    void look_at(std::uint32_t stream, std::vector<Analysis> analyses, std::vector<std::size_t> due);
    /// Of the snapshot's stream, as indices.
    std::vector<std::size_t> switched_off() const;
    /// The name of one that is due and switched off.
    std::optional<std::string> left_out() const;

    /// False where no script of the stream has that index, or a call is under way.
    bool begin(std::uint64_t index);
    /// False where none is under way.
    bool end();
    /// The worker has said its last word on the snapshot: the scripts that were called have not ended it this time.
    void survived();
    /// What the calls of this snapshot have taken until now.
    sys::Clock::duration spent() const;
    /// That the call under way has taken longer than it may; else nothing.
    std::optional<std::string> overdue() const;

    /// The name of the analysis whose call was under way, if any: that ended the worker.
    std::optional<std::string> worker_ended();
    /// Whether worker_ended() has just switched that one off.
    bool is_switched_off(const std::string& name) const;
    /// The worker was ended for another reason.
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
    std::set<std::size_t> called_;  // of this snapshot
    sys::Clock::duration spent_{0};
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> ends_;  // in a row, of a stream's script
};

}  // namespace forebay::agent
