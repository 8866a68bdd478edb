// MPI ranks as the nodes of preflight. No call waits for a rank: questions, answers and the one collective operation
// are started and polled, so a rank that never answers only costs a deadline. If an operation remains that never ends,
// MPI cannot be finalized.
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

/// A sum over all ranks, and 1 MiB from each rank to the next. Both are compared with the expected values.
class Meeting {
public:
    explicit Meeting(MPI_Comm comm) : comm_(comm) {}
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    void begin(const advice::Question& question);
    /// The answer, when both have ended or the deadline has come.
    std::optional<advice::NodeAnswer> look();
    /// True if no operation is under way.
    bool idle() const { return pending_.empty(); }

private:
    MPI_Comm comm_;
    advice::NodeAnswer answer_;
    sys::Clock::time_point start_, deadline_;
    std::vector<MPI_Request> pending_;
    std::vector<std::uint64_t> sent_, received_;
    std::int64_t sum_ = 0, sum_expected_ = 0, own_ = 0;
    bool open_ = false;  // a question without an answer
};

class MpiNodes final : public advice::Nodes {
public:
    /// `comm` must outlive it.
    explicit MpiNodes(MPI_Comm comm);
    ~MpiNodes() override = default;
    std::size_t size() const override { return size_; }
    std::string name(std::size_t node) const override;
    Result<> ask(std::size_t node, const std::string& question) override;
    std::optional<Heard> hear(sys::Clock::time_point until) override;
    bool can_meet() const override { return true; }
    /// Tells all ranks to end. Returns true if MPI can be finalized: no message or operation is left.
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

/// For the other ranks: answers until rank 0 ends it. Returns false if MPI cannot be finalized.
bool answer_rank_0(MPI_Comm comm);

}  // namespace forebay::bench
