// The process that makes the file of a run. It holds the run's finish.lock, and leaves its outcome in the run for the
// ranks that wrote the file: `made`, or `failed` with the reason. The writers' library starts it in the background
// (making.hpp), or a user by hand.
//
// Life: begin -> the file is made -> end

#pragma once

#include "bindings/compat/made/file_run.hpp"
#include "core/sys/store.hpp"
#include "path/node/run_lock.hpp"

namespace forebay::made {

class FileMaker {
public:
    /// Takes the lock. With `background` this process first becomes a daemon, of low priority and on any processor; its
    /// parent continues when the lock is held. `retry` if another process makes the same file, `missing` without the
    /// run.
    static Result<FileMaker> begin(sys::Store& store, FileRun run, bool background);

    /// Writes down the outcome, and returns it. After success it removes the run, unless `keep` is set. If a writer
    /// lives, the writer removes it (Making::remove_if_made).
    Result<> end(const Result<>& outcome, bool keep);

private:
    FileMaker(sys::Store& store, FileRun run, node::RunLock lock)
        : store_(&store), run_(std::move(run)), lock_(std::move(lock)) {}
    Result<> mark_made();

    sys::Store* store_;
    FileRun run_;
    node::RunLock lock_;
};

}  // namespace forebay::made
