// Copies a run as a tree of files. A reader of the target sees only whole snapshots, during the copy and after a kill.

#pragma once

#include <string>

#include "core/sys/store.hpp"
#include "transfer/copy/copy.hpp"

namespace forebay::cli {

struct RunCopy {
    std::string source, target;
    tree::TreeCopyOptions options;
    std::function<void(std::uint64_t bytes, std::uint64_t of_bytes)> watch_verify{};
    sys::Store* store = nullptr;  // set by copy_run(): reads below both places and follows no link
};

struct RunCopied {
    std::uint64_t snapshots = 0;  // verified at the target
    std::uint64_t verified_bytes = 0;
};

/// True if `path` holds a run's identity in its own directory, not behind a link.
Result<bool> is_run(const std::string& path);
/// The identity of the run at `path`; 0 if there is none.
Result<std::uint64_t> run_identity(const std::string& path);

/// Copies committed snapshots, each manifest after its files, and reads every snapshot back. A damaged snapshot is
/// removed from the target and reported as `failed`. Draining snapshots, run locks and requests are not copied. Returns
/// `refused` if the target is another run, or if a stream or snapshot of either run is a link. A dry run reads nothing
/// back. Target snapshots that go (the source has another save of the step; with `removes_extra` also if it has none)
/// count as removed.
Result<RunCopied> copy_run(const RunCopy& asked, tree::EntryLog& entry_log, tree::CopyCounts& counts);

}  // namespace forebay::cli
