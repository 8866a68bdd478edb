// Ranks of MPI as a team: the same messages as over pipes, from point to point. Rank 0 is the first process.
//
// Threads: one calls MPI, the one of hear(); MPI must allow that it is not the one that has initialised it.

#pragma once

#include <mpi.h>

#include <atomic>
#include <deque>
#include <list>
#include <mutex>
#include <utility>

#include "tree/team_port.hpp"

namespace forebay::bench {

class MpiTeam final : public tree::TeamPort {
public:
    /// `comm` outlives it.
    explicit MpiTeam(MPI_Comm comm);
    /// Waits until all that was sent is received.
    ~MpiTeam() override;

    std::size_t members() const override { return rank_ == 0 ? static_cast<std::size_t>(size_) - 1 : 0; }
    std::string name(std::size_t process) const override { return "rank " + std::to_string(process); }
    void send(std::size_t process, const tree::TeamMessage& message) override;
    std::optional<Heard> hear(sys::Clock::time_point until) override;
    bool has_unsent() override;
    void wake() override { was_woken_ = true; }
    /// MPI ends the whole job where a rank is lost.
    void drop(std::size_t) override {}

private:
    struct Sent {
        MPI_Request request = MPI_REQUEST_NULL;
        std::vector<std::byte> bytes;
    };
    void begin_sends();
    std::optional<Heard> look();

    MPI_Comm comm_;
    int rank_ = 0, size_ = 1;
    std::atomic<bool> was_woken_{false};
    std::list<Sent> sent_;
    std::mutex mutex_;
    std::deque<std::pair<int, std::vector<std::byte>>> unsent_;  // guarded by mutex_
};

}  // namespace forebay::bench
