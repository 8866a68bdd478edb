// What lies in a folder, and is no entry of a tree: keys of a bucket that are no paths.

#pragma once

#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// The listing of `folder` has ended with `error`: `report(path, error)` of each thing of it that has no name of an
/// entry, and else of the folder itself.
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
