// Callbacks for the end of a directory, and of an inode with several names. A stage that ends them need not know the
// next stage.

#pragma once

#include <functional>
#include <utility>

#include "transfer/tables/spilled_places.hpp"
#include "transfer/walk/work_share.hpp"

namespace forebay::tree {

class DirNodeEnds {
public:
    explicit DirNodeEnds(OpenFolders& folders) : folders_(folders) {}

    /// Call it before the work begins: `finish` is called for each directory node when all in it is done.
    void finish_by(std::function<void(const DirNodeRef&)> finish) { finish_ = std::move(finish); }
    void tell_root_done(std::function<void()> root_done) { root_done_ = std::move(root_done); }
    /// One piece of work in a node is done. After the last piece the node is finished, then its parents. Threads: any.
    void done_in(DirNodeRef dir_node) {
        if (count_done(std::move(dir_node), folders_, finish_) && root_done_) root_done_();
    }

private:
    OpenFolders& folders_;
    std::function<void(const DirNodeRef&)> finish_;
    std::function<void()> root_done_;
};

/// For a source inode whose first name was delayed: it now has its name, or the copy failed.
struct InodeEnds {
    std::function<void(TreeWorker&, const sys::EntryId&, const EntryPlace& first)> named{};
    std::function<void(TreeWorker&, const sys::EntryId&)> failed{};
};

}  // namespace forebay::tree
