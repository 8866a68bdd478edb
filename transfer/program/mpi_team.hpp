// Ranks of MPI as a group of workers: the same messages as over pipes, point to point. Rank 0 is the coordinator.
//
// Threads: only the thread of hear() calls MPI. MPI must allow another thread than the initialising thread.

#pragma once

#include <mpi.h>

#include <atomic>
#include <deque>
#include <list>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "transfer/team/team_port.hpp"

namespace forebay::cli {

class MpiTeam final : public tree::TeamPort {
public:
    /// `comm` must outlive it. Collective.
    explicit MpiTeam(MPI_Comm comm);
    /// Waits until all sent messages are received, except by lost ranks.
    ~MpiTeam() override;

    std::size_t members() const override { return rank_ == 0 ? static_cast<std::size_t>(size_) - 1 : 0; }
    std::string name(std::size_t process) const override;
    void send(std::size_t process, const tree::TeamMessage& message) override;
    std::optional<Heard> hear(sys::Clock::time_point until) override;
    bool has_unsent() override;
    void wake() override { was_woken_ = true; }
    /// MPI_Finalize() would wait for the lost rank, so rank 0 ends the job without it.
    void drop(std::size_t process) override { lost_.insert(static_cast<int>(process)); }
    bool first_ends_all() const override { return true; }

private:
    struct Sent {
        int to = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        std::vector<std::byte> bytes;
    };
    void begin_sends();
    std::optional<Heard> look();

    MPI_Comm comm_;
    int rank_ = 0, size_ = 1;
    std::vector<char> hosts_;  // of all ranks, MPI_MAX_PROCESSOR_NAME bytes each; only at rank 0
    std::set<int> lost_;
    std::atomic<bool> was_woken_{false};
    std::list<Sent> sent_;
    std::mutex mutex_;
    std::deque<std::pair<int, std::vector<std::byte>>> unsent_;  // guarded by mutex_
};

}  // namespace forebay::cli
