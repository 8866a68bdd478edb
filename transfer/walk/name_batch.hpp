// The names of a directory in batches: all threads share a directory of a million entries, and nobody holds all its
// names.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/try.hpp"
#include "transfer/walk/dir_node.hpp"
#include "transfer/walk/filter.hpp"
#include "transfer/walk/path_list.hpp"
#include "transfer/walk/work_share.hpp"

namespace forebay::tree {

struct ListedName {
    std::string name;
    sys::EntryKind kind = sys::EntryKind::unknown;
    sys::EntryKind other_kind = sys::EntryKind::unknown;  // kind of the same name in the other tree, if it was listed
    std::uint64_t number = 0;
    std::optional<std::uint64_t> bytes{};  // if the listing has it
};

/// A batch is about 1 ms of copying: two threads can share a directory of 1,000 entries, and the queue costs little
/// beside it. Many threads mostly wait for a server, 1 ms for each entry. Their batches are smaller.
inline std::size_t batch_names(const WorkShare& share) {
    constexpr std::size_t usual = 256, of_many_threads = 16, many = 8;
    return share.threads() >= many ? of_many_threads : usual;
}
/// Most names that wait in batches while their directory is listed: a few MB.
inline constexpr std::size_t names_waiting_max = 16'384;

/// Queues `batch` for any thread and empties it. If enough batches wait, this thread works on it at once.
template <class Work, class Done>
void hand_over(TreeWorker& worker, const DirNodeRef& dir_node, NameBatch& batch, const Work& work, const Done& done,
               bool is_offered = true) {
    if (worker.share->waiting(worker) >= names_waiting_max / batch_names(*worker.share)) {
        work(worker, dir_node, batch);
        batch.clear();
        return worker.share->relieve(worker);
    }
    ++dir_node->pending;
    const auto names = std::make_shared<const NameBatch>(std::move(batch));
    Offer offer;
    if (is_offered) offer = {.dir_node = dir_node, .names = names};
    worker.share->add(
        worker,
        [dir_node, work, done, names](TreeWorker& other) {
            work(other, dir_node, *names);
            done(dir_node);
        },
        std::move(offer));
    batch = {};
}

/// Returns `refused` if a mount makes a directory lie in itself. `dir_node` must have its source status.
inline Result<> check_no_loop(const DirNode& dir_node) {
    const auto& id = dir_node.status(TreeSide::source).id;
    for (const auto* at = dir_node.parent.get(); at != nullptr; at = at->parent.get())
        if (at->status(TreeSide::source).id == id)
            return Error{ErrorKind::refused, "a loop of mounts: it is a directory above itself"};
    return {};
}

/// Counts the memory of directory names. All threads together hold at most `bytes_max`.
class HeldNames {
public:
    HeldNames(std::atomic<std::uint64_t>& all_bytes, std::uint64_t bytes_max)
        : all_bytes_(all_bytes), bytes_max_(bytes_max) {}
    HeldNames(const HeldNames&) = delete;
    HeldNames& operator=(const HeldNames&) = delete;
    ~HeldNames() { all_bytes_ -= own_bytes_; }
    /// Adds `names`. Returns false if they exceed the limit.
    bool add(std::span<const sys::NamedEntry> names) {
        constexpr std::uint64_t beside_each =
            144;  // in a vector that doubles as it grows, or in a set; and on the heap
        std::uint64_t bytes = 0;
        for (const auto& entry : names) bytes += beside_each + entry.name.size();
        own_bytes_ += bytes;
        return (all_bytes_ += bytes) <= bytes_max_;
    }

private:
    std::atomic<std::uint64_t>& all_bytes_;
    const std::uint64_t bytes_max_;
    std::uint64_t own_bytes_ = 0;
};

/// Calls work(worker, batch) for all names: the last batch at once on this thread, the other batches on any thread.
/// Each of the other batches counts in `pending` of the directory and ends with `done`. Names listed before an error
/// are processed too. `is_offered`: other processes may process batches.
template <class Work, class Done>
Result<> list_in_batches(TreeWorker& worker, const DirNodeRef& dir_node, sys::Folder& folder, const Work& work,
                         const Done& done, bool is_offered = true) {
    NameBatch batch;
    const auto names_max = batch_names(*worker.share);
    const auto add = [&](ListedName named) {
        if (batch.size() == names_max) hand_over(worker, dir_node, batch, work, done, is_offered);
        batch.push_back(std::move(named));
        return Result<>();
    };
    const auto listed = dir_node->wished != nullptr
                            ? dir_node->wished->names_below(
                                  path_of(*dir_node), [&](const std::string& name) { return add({.name = name}); })
                            : folder.list([&](std::span<const sys::NamedEntry> names) -> Result<> {
                                  for (const auto& entry : names)
                                      FB_TRY(add({.name = std::string(entry.name),
                                                  .kind = entry.kind,
                                                  .number = entry.number,
                                                  .bytes = entry.bytes}));
                                  return {};
                              });
    work(worker, dir_node, batch);
    return listed;
}

/// Asks the list of the root about a directory, or the list of the parent if it may have paths below.
inline Result<> take_wish(DirNode& dir_node, PathList* of_root = nullptr) {
    auto* list = dir_node.parent ? dir_node.parent->wished : of_root;
    bool is_whole = list == nullptr;
    if (is_whole && dir_node.parent) list = dir_node.parent->named;
    if (list == nullptr) return {};
    FB_TRY_ASSIGN(wish, list->wish_of(path_of(dir_node)));
    is_whole = is_whole || wish.is_whole;
    dir_node.wished = is_whole ? nullptr : list;
    dir_node.named = is_whole && wish.has_below ? list : nullptr;
    return {};
}

}  // namespace forebay::tree
