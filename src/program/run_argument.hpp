// RUN on the command line. Only this file decides if a path is a run, so all verbs agree.
//
// A run is a directory with a stream, or with the directory `forebay` of a run (catalog/run.hpp). Copies without
// `forebay` and old runs have only streams. Before its first save a run has only `forebay`.

#pragma once

#include <string>
#include <vector>

#include "core/sys/store.hpp"
#include "forebay/result.hpp"

namespace forebay::cli {

struct RunArgument {
    std::string path;  // as given, without '/' at its end

    /// The absolute path, or the address.
    Result<std::string> whole() const;
};

/// The run at `text`. Returns `missing` if there is none: the error says if there is nothing, a file, an empty
/// directory or another directory. Its next step names a run above the path, or runs in the directory.
Result<RunArgument> find_run(sys::Store& store, const std::string& text);

/// The same for a verb of RUN/STREAM: if nothing is at `text`, its parent directory is the run.
Result<RunArgument> find_run_of_stream(sys::Store& store, const std::string& text);

/// For verbs that also make runs: only a file is an error.
Result<RunArgument> run_to_make(sys::Store& store, const std::string& text);

/// True if a directory with these entries is a stream: it has a snapshot, a leftover, or the start of a line.
bool is_stream(const std::vector<sys::Entry>& entries);

/// The error of find_run() for a file.
Error file_is_no_run(sys::Store& store, const std::string& path);

/// Extends an error of find_run(): if this node's memory has snapshots of an earlier run at the path, the next step
/// keeps them.
Error with_staged(Error error, const std::string& staging, const std::string& text);

}  // namespace forebay::cli
