// A benchmark's own directories, one in each directory of the rows, at targets and on nodes. Other files there are
// never touched. They are removed at the end, after an error, and when a signal ends the benchmark.
//
// Owner: the object; rank 0 for targets, the first rank of each node for staging.

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench/matrix/trial.hpp"
#include "bench/own_directory.hpp"

namespace forebay::bench {

/// Directories to remove when SIGTERM, SIGINT or SIGHUP ends this process. Threads: any. It lives until the process
/// ends, because its own thread waits for the signal.
class SignalRemovals {
public:
    /// Begins to wait for signals. Call it before MPI_Init, which starts threads.
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
    /// `victim`: the job that `kill` ends writes to the place of the job that started it, and removes nothing.
    /// Collective.
    static Result<BenchDirectories> make(Ranks& ranks, const std::vector<RowResult>& rows, const std::string& victim,
                                         std::shared_ptr<SignalRemovals> removals);
    BenchDirectories(BenchDirectories&&) noexcept = default;
    BenchDirectories& operator=(BenchDirectories&&) = delete;
    ~BenchDirectories();

    /// The given directories, or the default.
    const std::vector<std::string>& all() const { return named_; }
    /// `name` identifies the row and its repeat. A victim keeps its given name.
    TrialPlace place_of(const RowSetting& setting, const std::string& name) const;

private:
    BenchDirectories() = default;
    /// Makes one below `directory`, if this rank `makes`.
    Result<> make_in(Ranks& ranks, const std::string& directory, bool makes, OwnDirectory::Access access);

    std::string default_target_, id_, victim_name_;
    std::vector<std::string> named_;
    std::vector<OwnDirectory> created_;  // by this rank; empty after a move
    std::shared_ptr<SignalRemovals> removals_;
};

}  // namespace forebay::bench
