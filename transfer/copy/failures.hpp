// Reports each failed entry and keeps the first error that ends the whole command.
//
// Threads: any.

#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "transfer/copy/entry_log.hpp"
#include "transfer/walk/dir_node.hpp"
#include "transfer/walk/work_share.hpp"

namespace forebay::tree {

class Failures {
public:
    Failures(WorkShare& share, OpenFolders& folders, EntryLog& entry_log)
        : share_(share), folders_(folders), entry_log_(entry_log) {}

    /// Reports a failed entry. If the error is `full`, nothing else can be copied either: the copy ends.
    void report(const std::string& path, const Error& error);
    /// The same for the entry `name` of `dir_node`, or for `dir_node` if the name is empty: see
    /// OpenFolders::with_side().
    void report(const DirNodeRef& dir_node, const std::string& name, const Error& error);
    /// Call it before the work begins: `take` gets the path of each failed entry, from any thread.
    void tell_failed(std::function<void(const std::string& path)> take) { take_failed_ = std::move(take); }

    void end_by(const Error& error);
    Result<> fatal() const;

private:
    WorkShare& share_;
    OpenFolders& folders_;
    EntryLog& entry_log_;
    std::function<void(const std::string& path)> take_failed_;
    mutable std::mutex mutex_;  // guards the members below
    Result<> fatal_;
};

}  // namespace forebay::tree
