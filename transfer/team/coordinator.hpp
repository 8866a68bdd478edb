// The first process of a group of workers. It knows the idle workers and asks the others for work for them. It passes
// messages between workers, keeps the inodes of several names, and collects reports. Work items of a lost worker go
// back to their senders.
//
// Life: made with the connections -> begin(): all workers have the same trees -> start(): team() shares the work ->
// finish()
// Threads: a thread of its own receives and answers from start() to finish(). The verb's thread calls the rest.

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
    std::uint64_t threads = 0;        // of each worker; 0: one for each core of its host
    std::chrono::seconds timeout{0};  // a worker silent for so long is lost; 0: no limit
    std::string version;              // must be equal in all processes
    /// Prints a line for the user, such as a lost host.
    std::function<void(const std::string&)> say;
};

/// One process, for the report.
struct TeamWorker {
    std::string name;
    std::vector<std::uint64_t> counts;  // counts of its verb: entries and bytes first
    std::uint64_t items_given = 0, items_taken = 0;
    std::string lost{};  // reason; "" if it was not lost
};

class Coordinator {
public:
    explicit Coordinator(TeamSetup setup);
    Coordinator(const Coordinator&) = delete;
    Coordinator& operator=(const Coordinator&) = delete;
    ~Coordinator();

    /// Sends all workers their order and waits until each is ready. Returns `refused` or `unsupported` if a worker sees
    /// other trees or has another version. A worker that does not answer is lost; the user is told.
    Result<> begin(TeamOrder order);
    /// Starts sharing work. `settle` gets the messages for the report and the verb.
    Result<> start(TeamWork work, std::function<void(const TeamMessage&)> settle);
    /// Call after the share has ended: ends all workers. No message is read afterwards.
    void finish(bool stops);
    Team& team() { return team_; }
    const std::vector<TeamWorker>& members() const { return members_; }
    /// After finish(): asks if this inode was copied. If not, the caller must copy it.
    Result<TeamMessage> link_of(const TeamMessage& asked);

private:
    struct State {
        bool is_alive = false;
        bool has_answered = false;                  // to the order, later to the end
        bool is_hungry = false, is_served = false;  // idle; another process is asked to help it
        bool is_asked = false;                      // to give work to `asked_for`
        std::uint64_t asked_for = 0;
        sys::Clock::time_point last_heard, rests_until;
        std::uint64_t told_at = 0;       // last message received, by the worker's own clock
        bool is_to_be_replaced = false;  // lost, and its work is not passed on yet
        std::vector<TeamMessage> unsettled;
        std::string problem;  // reason for its end
    };
    struct Given {
        std::uint64_t receiver = 0;
        bool is_lost = false;
    };
    using WorkItemKey = std::pair<std::uint64_t, std::uint64_t>;  // sender, and its number of the item

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
    std::deque<TeamMessage> own_;  // guarded by mutex_: messages of this process
    std::atomic<bool> ends_{false};
    bool has_finished_ = false;
    sys::Thread thread_;
};

}  // namespace forebay::tree
