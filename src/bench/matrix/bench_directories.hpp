// Directories of a bench's own, one in each that the rows name, at targets and on nodes. What else is there is never
// touched. They are removed at the end, after an error, and when a signal ends the bench.
//
// Owner: the object; rank 0 for targets, the first rank of each node for what is staged.

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench/matrix/trial.hpp"
#include "bench/own_directory.hpp"

namespace forebay::bench {

/// What is removed when SIGTERM, SIGINT or SIGHUP ends this process. Threads: any. It lives until the process ends,
/// since its own thread waits for the signal.
class SignalRemovals {
public:
    /// Waits for signals from now on. Before MPI_Init, which starts threads.
    static Result<std::shared_ptr<SignalRemovals>> watch();
    void add(const OwnPath& own);
    void remove(const OwnPath& own);

private:
    void remove_all();

    std::mutex mutex_;
    std::vector<OwnPath> own_;
};

class BenchDirectories {
public:
    /// `victim`: the job that `kill` ends writes where the one writes that has started it, and removes nothing.
    /// Collective.
    static Result<BenchDirectories> make(Ranks& ranks, const std::vector<RowResult>& rows, const std::string& victim,
                                         std::shared_ptr<SignalRemovals> removals);
    BenchDirectories(BenchDirectories&&) noexcept = default;
    BenchDirectories& operator=(BenchDirectories&&) = delete;
    ~BenchDirectories();

    /// Those that were named, or stand in.
    const std::vector<std::string>& all() const { return named_; }
    /// `name` is the row's and its repeat's; a victim keeps the name that it was given.
    TrialPlace place_of(const RowSetting& setting, const std::string& name) const;

private:
    BenchDirectories() = default;
    /// Makes one below `directory`, if this rank is to (`makes`).
    Result<> make_in(Ranks& ranks, const std::string& directory, bool makes, OwnDirectory::Access access);

    std::string default_target_, id_, victim_name_;
    std::vector<std::string> named_;
    std::vector<OwnDirectory> created_;  // by this rank; empty after a move
    std::shared_ptr<SignalRemovals> removals_;
};

}  // namespace forebay::bench
