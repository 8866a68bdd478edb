// The process that makes the file of a run. It holds the run's finish.lock meanwhile, and leaves its outcome where the
// ranks that wrote the file look for it: `made`, or `failed` with the reason. A user may start it by hand, and the
// writers' library starts it in the background (making.hpp).
//
// Life: begin -> the file is made -> end

#pragma once

#include "bindings/compat/made/file_run.hpp"
#include "core/sys/store.hpp"
#include "path/node/run_lock.hpp"

namespace forebay::made {

class FileMaker {
public:
    /// Takes the lock. With `background` this process first goes on as one of its own, of low priority and on any
    /// processor; the process that started it goes on once the lock is held. `retry` while another process makes the
    /// same file, `missing` without the run.
    static Result<FileMaker> begin(sys::Store& store, FileRun run, bool background);

    /// Writes the outcome down, and gives it back. After success the run is removed, unless `keep` is set or a writer
    /// lives, who then removes it (Making::remove).
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
