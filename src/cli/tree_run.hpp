// A run of ours as a tree of files: whoever looks at the copy while it is made, or after it was killed, sees whole
// snapshots alone.

#pragma once

#include <string>

#include "tree/copy.hpp"

namespace forebay::cli {

struct RunCopy {
    std::string source, target;
    tree::TreeCopyOptions options;
    std::uint32_t node_files = 0;  // of each snapshot at the target; 0: as many as at the source
    std::function<void(std::uint64_t bytes, std::uint64_t of_bytes)> watch_verify{};
};

struct RunCopied {
    std::uint64_t snapshots = 0;  // verified at the target
    std::uint64_t verified_bytes = 0;
    std::uint64_t resharded = 0;  // of them now
};

/// Whether a run's identity is in `path`.
Result<bool> is_run(const std::string& path);

/// Copies what is committed, each manifest after all that it names, and reads every snapshot back: one that is damaged
/// is taken away from the target again, and named as `failed`. What is being drained, claims and requests stay behind.
/// `refused` where the target is another run. In a dry run nothing is read back. Snapshots that go, since the source
/// has another save of their step or with `removes_extra` none, count as removed.
Result<RunCopied> copy_run(const RunCopy& wish, tree::Remarks& remarks, tree::CopyCounts& counts);

}  // namespace forebay::cli
