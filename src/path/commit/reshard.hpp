// Resharding: a committed snapshot gets another number of node files in another directory, for an archive that wants
// few of them, or for many nodes that read at once. Ranks, blocks, checksums and the save stay what they are: a
// restart, a view or `forebay verify` reads the same bytes. Each rank's blocks go into one file, so there are no more
// files than ranks.
//
// Chunks of compressed files are passed on as they are stored where they lie in the new file as in the old one; others
// are encoded anew without loss (reshard_writer.cpp).
//
// Order:   node files, each by bytes, sync, name, sync of the directory; the manifest last. What a kill leaves is gone
//          on with by the same call, or taken away where it was made for another number of files.
// Memory:  the heads of one node file that is written and of those that it is made of, and some megabytes, a thread.
// Threads: write_node_file() by any number at once, each another node; the other calls before and after all of these.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "core/format/manifest.hpp"
#include "core/move/pace.hpp"
#include "core/sys/store.hpp"

namespace forebay::commit {

struct Resharding {
    sys::Store* store = nullptr;
    std::string source;         // the snapshot's directory
    format::Manifest manifest;  // in it
    std::string directory;      // at the target, there already
    std::uint32_t nodes = 0;    // node files that it gets: node_files_of()
    move::Pace* pace = nullptr;
    const std::atomic<bool>* stop = nullptr;
    bool syncs = true;                                    // node files, before they get their names
    std::function<void(std::uint64_t bytes)> moved = {};  // how many more were written, by any thread
    /// Gives a new file what it has beside its bytes: when it was made, and when it is whole and has no name yet.
    std::function<Result<>(const std::string& path, bool is_whole)> dress = {};
};

/// How many node files a snapshot gets where `wished` are.
std::uint32_t node_files_of(const format::Manifest& manifest, std::uint32_t wished);

/// Takes node files out of the target's directory that are none of `what`, such as those of a killed call that was to
/// make another number of them.
Result<> remove_stale(const Resharding& what);

/// Makes one node file, durably. One that is there already and whole, of this save and with these ranks, is left as it
/// is. `corrupt`, with the chunk or segment named, when bytes of the source are not what the application gave;
/// `refused` when the file would have more ranks than one may have.
Result<> write_node_file(const Resharding& what, std::uint32_t node);

/// When all node files are there: the manifest, durably, with all marks of the snapshot.
Result<> commit_resharded(const Resharding& what);

}  // namespace forebay::commit
