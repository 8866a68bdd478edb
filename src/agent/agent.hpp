// The agent of one node: sealed slot -> drain -> commit -> retention, until the session ends or its application has
// died and nothing is left to do. One loop; serve.hpp puts it together with what surrounds it, hosts.hpp says who runs
// it.
//
// Errors never end it: a slot whose drain fails becomes `failed` after bounded retries, its staged copy stays, and it
// is tried again at the next bell.
//
// Order: urgency.hpp. What is sealed while a drain is under way and is more urgent overtakes it: between two pieces the
// drain stops, the other slot is drained and committed, then the first goes on where it was.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "agent/pacer.hpp"
#include "agent/urgency.hpp"
#include "agent/view_maker.hpp"
#include "catalog/catalog.hpp"
#include "drain/compress.hpp"
#include "move/writer.hpp"
#include "node/staging.hpp"
#include "sys/store.hpp"

namespace forebay::agent {

/// One line for the agent's log.
using Log = std::function<void(const std::string&)>;

/// How long an agent whose session has ended waits for the others. It may leave before them: the last one commits.
inline constexpr std::chrono::seconds peers_wait_max{10};

class Agent {
public:
    Agent(sys::Store& store, node::Staging& staging, node::SessionFile session, ViewMaker make_view, Log log);

    /// Returns when the session ended or `stop` is true; then whether everything that was sealed is committed. What
    /// lacks node files of other nodes when the session has ended is waited for at most `peers_wait`.
    bool run(const std::atomic<bool>& stop, std::chrono::seconds peers_wait = peers_wait_max);

    /// Paths of what stood under names of views of snapshots that it replaced or removed, and was none.
    const std::set<std::string>& others() const { return others_; }

private:
    struct Mine {
        sys::Mapping mapping;
        std::uint32_t bell_at_failure = 0;
        std::uint64_t torn = 0;           // the save that was found damaged
        int absences = 0;                 // looks in a row that found the part of a drained slot nowhere
        std::uint32_t look_first_at = 0;  // the node whose arrival is checked first: this one, then one that was absent
        std::uint64_t file_bytes = 0;     // of the drain under way
        std::atomic<bool> overruled{false};  // it keeps no limit on the slowdown, so as to end in time
    };

    void take_over();
    bool work(const std::atomic<bool>& stop);
    class Between;

    std::optional<std::uint32_t> most_urgent(const Urgency* than) const;
    bool commit_drained();
    void overtake(std::uint32_t index, std::uint32_t overtaken, const std::atomic<bool>& stop);
    bool misses_deadline(std::uint32_t index) const;
    bool any_misses_deadline() const;
    void count_missed_deadlines();
    void take_steps();
    void steer(std::uint32_t index);
    Pacer::Answer allowed(std::uint32_t index, sys::Clock::time_point now);
    bool application_computes(sys::Clock::time_point now);
    bool drain_slot(std::uint32_t index, bool again, const std::atomic<bool>& stop);
    bool commit_slot(std::uint32_t index);
    bool part_gone(std::uint32_t index, const std::string& stream, const format::Record& record);
    Result<> map_slot(std::uint32_t index);
    Result<> check_run() const;
    void tell_set_aside(std::uint32_t index, const format::Record& record);
    Result<bool> is_committed(std::uint32_t index) const;
    Result<> drain_once(std::uint32_t index, bool again, Between& between, const std::atomic<bool>& stop);
    bool staged_is_whole(std::uint32_t index) const;
    drain::CompressionMemory& compression_memory(std::uint32_t stream);
    std::int64_t ends_unix_ns(std::uint32_t index) const;
    std::optional<double> seconds_to_compress(std::uint32_t index) const;
    void fail(std::uint32_t index, const Error& error);
    void committed(std::uint32_t index, const format::Record& record, bool by_us);
    void keep_window(std::uint32_t stream, const catalog::Snapshot& snapshot, const format::Line& line);
    void tell_of(const std::vector<std::string>& others);
    bool unfinished() const;
    void give_up(const Error& error);
    bool run_until(const std::atomic<bool>& stop, std::chrono::seconds peers_wait);
    void set(node::SlotControl& slot, node::SlotState state);

    sys::Store& store_;
    node::Staging& staging_;
    node::Control& page_;
    node::SessionFile session_;
    ViewMaker make_view_;
    Log log_;
    std::uint32_t bell_ = 0;               // as seen when this round began
    std::uint64_t begun_ = 0, ended_ = 0;  // drains of this agent: committed, failed or left to others
    std::array<Mine, node::slots_max> mine_;
    std::array<drain::CompressionMemory, node::streams_max> compression_;
    std::array<std::optional<format::Line>, node::streams_max> named_lines_;  // whose names are in order, by stream
    std::set<std::string> others_;                                            // each is told once
    move::Pace pace_;                                                         // of all drains under way
    std::atomic<bool> hold_{false};
    std::atomic<sys::Clock::time_point> commits_looked_at_{};

    std::mutex steering_;  // guards what follows while a drain is under way
    Pacer pacer_;
    std::uint64_t samples_seen_ = 0;
    sys::Clock::time_point steered_, looked_for_application_;
    bool application_lives_ = true;
};

}  // namespace forebay::agent
