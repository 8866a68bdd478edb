#include "transfer/walk/tree_count.hpp"

#include <algorithm>
#include <utility>

namespace forebay::tree {

namespace {

constexpr std::uint32_t threads_for_each = 8;

}  // namespace

TreeCount::TreeCount(std::string place, WalkOptions what, const std::atomic<std::uint64_t>* removed,
                     std::chrono::milliseconds begins_after)
    : place_(std::move(place)), what_(std::move(what)), removed_(removed), begin_(sys::Clock::now() + begins_after) {
    what_.threads = std::max(what_.threads / threads_for_each, 1u);
    what_.stop = &stops_;
}

TreeCount::~TreeCount() { stops_ = true; }

void TreeCount::beat() {
    if (has_begun_ || sys::Clock::now() < begin_) return;
    has_begun_ = true;
    auto thread = sys::Thread::start([this] { count(); });
    if (thread) thread_ = std::move(*thread);  // without another thread there is no count
}

// Errors are ignored here: the copy itself reports entries that it cannot read.
void TreeCount::count() {
    EntryLog entry_log;
    WalkCounts counts;
    const auto before = removed_ == nullptr ? 0 : removed_->load();
    if (!walk_tree(place_, what_, entry_log, counts) || stops_) return;
    std::uint64_t entries = 0;
    for (const auto& of_kind : counts.of_kind) entries += of_kind;
    // Some of the entries removed meanwhile were counted before their removal. Half of them is the least wrong guess.
    if (removed_ != nullptr) entries += before + (removed_->load() - before) / 2;
    else --entries;  // the root is no entry
    all_.bytes = counts.file_bytes.load();
    all_.entries = entries;
}

}  // namespace forebay::tree
