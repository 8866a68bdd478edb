// Directories of the target in the place of other source entries. They are removed when all other work is done.
//
// Threads: any.

#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "transfer/tables/spilled_places.hpp"

namespace forebay::tree {

class DeferredFolders {
public:
    explicit DeferredFolders(std::size_t held_max) : held_max_(held_max) {}

    void add(EntryPlace place) {
        if (send_) return send_(place);
        const std::lock_guard lock(mutex_);
        if (held_.size() < held_max_) held_.push_back(std::move(place));
        else has_more_ = true;
    }
    std::vector<EntryPlace> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(held_, {});
    }
    /// More directories are in the way than are held: after these are replaced, the copy makes another pass.
    void note_more() { has_more_ = true; }
    bool has_more() const { return has_more_; }
    /// Call it before the work begins: another process handles them, and `send` passes each to it.
    void send_to_other(std::function<void(const EntryPlace&)> send) { send_ = std::move(send); }

    /// The taken directories are removed. In a dry run they still exist and count as removed.
    void note_cleared() { were_cleared_ = true; }
    bool were_cleared() const { return were_cleared_; }

private:
    const std::size_t held_max_;
    std::function<void(const EntryPlace&)> send_;
    std::atomic<bool> has_more_{false}, were_cleared_{false};
    std::mutex mutex_;  // guards the members below
    std::vector<EntryPlace> held_;
};

}  // namespace forebay::tree
