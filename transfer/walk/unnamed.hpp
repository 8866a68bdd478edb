// Things in a directory that are no entries of a tree: keys of a bucket that are no paths.

#pragma once

#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// For a listing of `folder` that failed with `error`: calls `report(path, error)` for each thing without an entry
/// name. If there are none, it reports the directory itself.
template <class Report>
void report_unlisted(const DirNode& dir_node, sys::Folder& folder, const Error& error, const Report& report) {
    bool was_told = false;
    const auto tell = [&](const std::string& name, const Error& why) {
        was_told = true;
        report(name.empty() ? path_of(dir_node) : path_of(dir_node, name), why);
    };
    const auto outcome = error.kind == ErrorKind::unsupported ? folder.tell_unnamed(tell) : Result<>();
    if (!outcome) report(path_of(dir_node), outcome.error());
    else if (!was_told) report(path_of(dir_node), error);
}

}  // namespace forebay::tree
