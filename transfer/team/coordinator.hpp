// The first process of a team: it knows who has nothing to do and asks others for work on their behalf, passes on what
// processes have for each other, knows the inodes of several names of all, and hears all that is to be reported. What a
// process had when it was lost goes back to those who gave it.
//
// Life:    made with the ways to the others -> begin(), after which all of them have the same trees before them ->
//          start() -> team() shares the work -> finish()
// Threads: one of its own hears and answers from start() to finish(); a verb's thread calls the rest.

#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/sys/thread.hpp"
#include "transfer/team/team.hpp"
#include "transfer/team/team_links.hpp"
#include "transfer/team/team_order.hpp"
#include "transfer/team/team_port.hpp"

namespace forebay::tree {

struct TeamSetup {
    std::unique_ptr<TeamPort> port;
    std::uint64_t threads = 0;        // of each member; 0: as many as its host has cores
    std::chrono::seconds timeout{0};  // a member that says nothing for so long is lost; 0: none is
    std::string version;              // which all must have
    /// A line for people, such as that a host was lost.
    std::function<void(const std::string&)> say;
};

/// Of one process, for the report.
struct TeamWorker {
    std::string name;
    std::vector<std::uint64_t> counts;  // as its verb counts: entries and bytes first
    std::uint64_t items_given = 0, items_taken = 0;
    std::string lost{};  // why; "" where it was not
};

class Coordinator {
public:
    explicit Coordinator(TeamSetup setup);
    Coordinator(const Coordinator&) = delete;
    Coordinator& operator=(const Coordinator&) = delete;
    ~Coordinator();

    /// Tells all members what to do and waits until each is ready. `refused` or `unsupported` where one has other trees
    /// before it, or is of another version; one that does not answer is lost, and said to be.
    Result<> begin(TeamOrder order);
    /// From now on others may have work. `settle` gets the messages that are for the report and the verb.
    Result<> start(TeamWork work, std::function<void(const TeamMessage&)> settle);
    /// After the share has ended: all members end. Nothing is heard afterwards.
    void finish(bool stops);
    Team& team() { return team_; }
    const std::vector<TeamWorker>& members() const { return members_; }
    /// After finish(): whether this inode was copied, or is to be copied by the one that asks.
    Result<TeamMessage> link_of(const TeamMessage& asked);

private:
    struct State {
        bool is_alive = false;
        bool has_answered = false;                  // to the order; later to the end
        bool is_hungry = false, is_served = false;  // it has nothing; somebody is asked for it
        bool is_asked = false;                      // to give something away, for the one that follows
        std::uint64_t asked_for = 0;
        sys::Clock::time_point last_heard, rests_until;
        std::uint64_t told_at = 0;       // what was heard last, by its own clock
        bool is_to_be_replaced = false;  // lost, and others do not have its work yet
        std::vector<TeamMessage> unsettled;
        std::string problem;  // by which it ends
    };
    struct Given {
        std::uint64_t receiver = 0;
        bool is_lost = false;
    };
    using WorkItemKey = std::pair<std::uint64_t, std::uint64_t>;  // the giver, and its number

    Result<bool> hear_ready(const TeamPort::Heard& heard, TeamOrder& order);
    void dismiss();
    void run();
    void hear_own();
    void hear(std::uint64_t from, TeamMessage message);
    void pass_work_item(std::uint64_t from, TeamMessage work_item);
    void pass_done(std::uint64_t from, TeamMessage done);
    void send(std::uint64_t to, const TeamMessage& message);
    void send(const TeamLinks::Answers& answers);
    void keep_for_later(std::uint64_t from, TeamMessage message);
    void settle(std::uint64_t from);
    void lose(std::uint64_t process, const std::string& why);
    void replace_lost(std::uint64_t process);
    void give_back_lost();
    void feed();
    void beat();
    sys::Clock::time_point next_look() const;
    bool all_ended() const;

    TeamSetup setup_;
    Team team_;
    std::function<void(const TeamMessage&)> settle_;
    std::vector<State> states_;
    std::vector<TeamWorker> members_;
    std::map<WorkItemKey, Given> given_;
    TeamLinks links_{{.inode_bytes = 16u << 20, .place_bytes = 8u << 20}};  // beside this process's own HardLinks
    std::uint64_t rate_ = 0;
    std::size_t next_donor_ = 0;
    sys::Clock::time_point next_beat_;
    std::mutex mutex_;
    std::deque<TeamMessage> own_;  // guarded by mutex_: what this process says itself
    std::atomic<bool> ends_{false};
    bool has_finished_ = false;
    sys::Thread thread_;
};

}  // namespace forebay::tree
