// RUN on the command line: this file alone decides whether a path is a run. All verbs ask here, so all of them answer
// alike.
//
// A run is a directory with a stream, or with the directory `forebay` of a run (catalog/run.hpp). A copy without
// `forebay`, and a run from before it, have only streams. Before its first save a run has only `forebay`.

#pragma once

#include <string>
#include <vector>

#include "core/sys/store.hpp"
#include "forebay/result.hpp"

namespace forebay::cli {

struct RunArgument {
    std::string path;  // as it was given, without '/' at its end

    /// The same from the root on, or an address.
    Result<std::string> whole() const;
};

/// The run at `text`. `missing` if there is none: the error says if nothing, a file, an empty directory or another
/// directory is there. Its next step names a run above the path, or runs in the directory.
Result<RunArgument> find_run(sys::Store& store, const std::string& text);

/// The same for a verb of RUN/STREAM only: if nothing is at `text`, the directory above it is the run.
Result<RunArgument> find_run_of_stream(sys::Store& store, const std::string& text);

/// For verbs of new runs too: only a file is an error.
Result<RunArgument> run_to_make(sys::Store& store, const std::string& text);

/// If a directory with these entries is a stream: it holds a snapshot, a leftover, or the beginning of a line.
bool is_stream(const std::vector<sys::Entry>& entries);

/// The error of find_run() for a file.
Error file_is_no_run(sys::Store& store, const std::string& path);

/// `error` of find_run(). If this node's memory has snapshots of an earlier run at the path, the next step keeps them.
Error with_staged(Error error, const std::string& staging, const std::string& text);

}  // namespace forebay::cli
