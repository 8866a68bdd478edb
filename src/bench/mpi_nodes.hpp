// Ranks of MPI as the nodes of preflight. Nothing of it waits for a rank: questions and answers are messages from point
// to point that are begun and looked at, and so is the one collective operation, so that a rank which never answers
// costs a deadline. Where something is left over that will never end, MPI cannot be finalised.
//
// Threads: one a rank.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "insight/advice/preflight/nodes.hpp"
#include "insight/advice/preflight/worker.hpp"

namespace forebay::bench {

/// A sum over all ranks, and 1 MiB from each rank to the next: both are compared with what must come out.
class Meeting {
public:
    explicit Meeting(MPI_Comm comm) : comm_(comm) {}
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    void begin(const advice::Question& question);
    /// The answer, once both have ended, or the deadline has come.
    std::optional<advice::NodeAnswer> look();
    /// Whether nothing is under way.
    bool idle() const { return pending_.empty(); }

private:
    MPI_Comm comm_;
    advice::NodeAnswer answer_;
    sys::Clock::time_point start_, deadline_;
    std::vector<MPI_Request> pending_;
    std::vector<std::uint64_t> sent_, received_;
    std::int64_t sum_ = 0, sum_expected_ = 0, own_ = 0;
    bool open_ = false;  // a question that is not answered
};

class MpiNodes final : public advice::Nodes {
public:
    /// `comm` outlives it.
    explicit MpiNodes(MPI_Comm comm);
    ~MpiNodes() override = default;
    std::size_t size() const override { return size_; }
    std::string name(std::size_t node) const override;
    Result<> ask(std::size_t node, const std::string& question) override;
    std::optional<Heard> hear(sys::Clock::time_point until) override;
    bool can_meet() const override { return true; }
    /// Tells all ranks to end, and whether MPI can be finalised: no message or operation is left over.
    bool end();

private:
    struct Sent {
        MPI_Request request = MPI_REQUEST_NULL;
        std::string text;
    };
    void forget_sent();
    std::optional<Heard> look();

    MPI_Comm comm_;
    std::size_t size_ = 1;
    std::list<Sent> sent_;
    std::vector<char> incoming_;
    MPI_Request receive_ = MPI_REQUEST_NULL;
    advice::NodeWorker worker_;
    Meeting meeting_;
};

/// Of the other ranks: answers until rank 0 says that it is over. False where MPI cannot be finalised.
bool answer_rank_0(MPI_Comm comm);

}  // namespace forebay::bench
