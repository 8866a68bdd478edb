// Folders of the target that stand where the source has other entries: they go when all else is done.
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
    /// There are more than are held: the copy is made once more when these are replaced.
    void note_more() { has_more_ = true; }
    bool has_more() const { return has_more_; }
    /// Before the work begins: another process does all of them, and `send` tells it of each.
    void send_to_other(std::function<void(const EntryPlace&)> send) { send_ = std::move(send); }

    /// Those that were taken are gone; in a dry run they still stand, and count as gone.
    void note_cleared() { were_cleared_ = true; }
    bool were_cleared() const { return were_cleared_; }

private:
    const std::size_t held_max_;
    std::function<void(const EntryPlace&)> send_;
    std::atomic<bool> has_more_{false}, were_cleared_{false};
    std::mutex mutex_;  // guards what follows
    std::vector<EntryPlace> held_;
};

}  // namespace forebay::tree
