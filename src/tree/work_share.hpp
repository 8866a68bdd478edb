// Work that grows while it is done, shared by threads: each does what it added last, so that it goes down into a tree
// before it goes on beside it and keeps few folders waiting; who has nothing takes what another added first.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::tree {

class WorkShare;

/// One thread of the share, handed to all work that it does.
struct TreeWorker {
    WorkShare* share = nullptr;
    std::size_t index = 0;
    std::vector<std::byte> buffer{};  // for bytes of files, two of them in a comparison; its size is the mover's choice
};

class WorkShare {
public:
    using Piece = std::function<void(TreeWorker&)>;

    explicit WorkShare(std::uint32_t threads);

    /// Does `first` and all that is added meanwhile, on this thread and others. An error where a piece has thrown; then
    /// the rest is not done.
    Result<> run(Piece first);
    /// By the thread of `worker` alone.
    void add(TreeWorker& worker, Piece piece);
    std::size_t threads() const { return queues_.size(); }
    /// How much `worker` has waiting: who lists much does some of it itself.
    std::size_t waiting(const TreeWorker& worker);
    /// What has not begun is not begun any more.
    void stop() { stopped_ = true; }
    bool is_stopped() const { return stopped_; }
    const std::atomic<bool>& stopped() const { return stopped_; }

private:
    struct Queue {
        std::mutex mutex;
        std::deque<Piece> pieces;
    };

    void work(TreeWorker& worker);
    bool take(std::size_t index, Piece& piece);
    void wait();

    std::vector<std::unique_ptr<Queue>> queues_;
    std::atomic<std::size_t> next_index_{0};
    std::atomic<std::uint64_t> unfinished_{0}, queued_{0};
    std::atomic<std::uint32_t> sleepers_{0};
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    Result<> thrown_;  // guarded by mutex_
};

}  // namespace forebay::tree
