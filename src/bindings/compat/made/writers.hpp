// Files that ranks write, from the claim of the name until the file is made and its run deleted. A closed file is made
// in the background. Its session stays open until then, and all ranks that opened the file close it later.
//
// Life: claim -> the binding opens a session, saves and starts the making -> Writers::add -> Writers::finish
// Ranks: all calls are collective over the ranks that opened the file, in the order in which files were added.

#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <utility>

#include "bindings/compat/made/file_ranks.hpp"
#include "bindings/compat/made/making.hpp"
#include "path/node/run_lock.hpp"

namespace forebay::made {

struct WrittenFile {
    FileRanks ranks;
    Making making;
    node::RunLock lock = {};           // the writer's lock, on the first rank
    bool is_locked_until_made = true;  // else until its session is closed

    const std::string& name() const { return making.run.file(); }
};

/// Takes the file's name for its ranks. `clear`, on the first rank, removes or finishes the files of earlier writers at
/// the target. Their staged files are deleted, and then the writer's lock is taken. `refused` while another program
/// writes the file.
Result<> claim(WrittenFile& file, const std::function<Result<>()>& clear);

/// Waits for the file after its session ended (`closed` is the result), and deletes its run.
Result<> finish(WrittenFile& file, const Result<>& closed);

/// The unfinished files of one library in this process. A File is a WrittenFile with `close_session()`.
template <class File>
class Writers {
public:
    void add(File file) { files_.push_back(std::move(file)); }

    std::size_t count(const FileRanks& ranks) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(files_, [&](const File& file) { return file.ranks.key == ranks.key; }));
    }

    /// Finishes and removes the `wanted` files, in their order. Returns the first error.
    template <class Wanted>
    Result<> finish(Wanted&& wanted) {
        Result<> first;
        for (auto files = files_.begin(); files != files_.end();) {
            if (!wanted(std::as_const(*files))) {
                ++files;
                continue;
            }
            const Result<> finished = made::finish(*files, files->close_session());
            if (first && !finished) first = finished;
            files = files_.erase(files);
        }
        return first;
    }

    Result<> finish_all(Which which) {
        return finish([&](const File& file) { return is_of(which, file.ranks); });
    }

private:
    std::list<File> files_;
};

}  // namespace forebay::made
