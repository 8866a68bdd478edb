// Calls for the end of a folder, and of an inode with several names. The stages that end one need not know the stage
// that goes on with it.

#pragma once

#include <functional>
#include <utility>

#include "transfer/tables/spilled_places.hpp"
#include "transfer/walk/work_share.hpp"

namespace forebay::tree {

class DirNodeEnds {
public:
    explicit DirNodeEnds(OpenFolders& folders) : folders_(folders) {}

    /// Before the work begins: `finish` is called for each branch in which all is done.
    void finish_by(std::function<void(const DirNodeRef&)> finish) { finish_ = std::move(finish); }
    void tell_root_done(std::function<void()> root_done) { root_done_ = std::move(root_done); }
    /// One thing of a branch is done; if it was the last, the branch is finished, and so upwards. Threads: any.
    void done_in(DirNodeRef dir_node) {
        if (count_done(std::move(dir_node), folders_, finish_) && root_done_) root_done_();
    }

private:
    OpenFolders& folders_;
    std::function<void(const DirNodeRef&)> finish_;
    std::function<void()> root_done_;
};

/// Of an inode of the source with several names, of which one waited: it has its name, or will have none.
struct InodeEnds {
    std::function<void(TreeWorker&, const sys::EntryId&, const EntryPlace& first)> named{};
    std::function<void(TreeWorker&, const sys::EntryId&)> failed{};
};

}  // namespace forebay::tree
