// A run of ours as a tree of files: whoever looks at the copy while it is made, or after it was killed, sees whole
// snapshots alone.

#pragma once

#include <string>

#include "core/sys/store.hpp"
#include "transfer/copy/copy.hpp"

namespace forebay::cli {

struct RunCopy {
    std::string source, target;
    tree::TreeCopyOptions options;
    std::function<void(std::uint64_t bytes, std::uint64_t of_bytes)> watch_verify{};
    sys::Store* store = nullptr;  // copy_run's own: what lies below both, by which no link is followed
};

struct RunCopied {
    std::uint64_t snapshots = 0;  // verified at the target
    std::uint64_t verified_bytes = 0;
};

/// Whether a run's identity is in `path`, in a directory of its own and not behind a link.
Result<bool> is_run(const std::string& path);
/// The identity of the run at `path`; 0 if no run is there.
Result<std::uint64_t> run_identity(const std::string& path);

/// Copies what is committed, each manifest after all that it names, and reads every snapshot back: one that is damaged
/// is taken away from the target again, and named as `failed`. What is being drained, claims and requests stay behind.
/// `refused` where the target is another run, or where a link stands in the place of a stream or snapshot of either. In
/// a dry run nothing is read back. Snapshots that go, since the source
/// has another save of their step or with `removes_extra` none, count as removed.
Result<RunCopied> copy_run(const RunCopy& asked, tree::EntryLog& entry_log, tree::CopyCounts& counts);

}  // namespace forebay::cli
