// Threads share work that grows while it is done. Each thread takes the piece that it added last. So it goes down into
// a tree first, and few directories wait. An idle thread takes the oldest piece of another thread.
//
// If other processes share the work (team.hpp), pieces come with an offer: the data that another process needs to do
// them. The share calls `hungry` when its threads are idle, and is held open while work may still come back.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/sys/tree.hpp"
#include "forebay/result.hpp"

namespace forebay::tree {

class WorkShare;
struct DirNode;
struct ListedName;
class PiecewiseFile;
using NameBatch = std::vector<ListedName>;

/// A thread of the share, passed to each piece.
struct TreeWorker {
    WorkShare* share = nullptr;
    std::size_t index = 0;
    std::size_t nesting = 0;          // pieces within pieces, from relieve()
    std::vector<std::byte> buffer{};  // for bytes of files (two files in a comparison); the verb chooses its size
};

/// A piece of work as another process can do it. Nothing is copied until a process takes it.
struct Offer {
    std::shared_ptr<DirNode> dir_node{};       // waits for the piece; null: only this process can do it
    std::string name{};                        // a directory in `dir_node` with all below it
    std::shared_ptr<const NameBatch> names{};  // or names of `dir_node`
    std::shared_ptr<PiecewiseFile> file{};     // or a range of a file in `dir_node`
    sys::ByteStretch bytes{};
};

class WorkShare {
public:
    using Piece = std::function<void(TreeWorker&)>;
    struct Offered {
        Piece work;
        Offer offer;
    };

    explicit WorkShare(std::uint32_t threads);

    /// Does `first` and all work added meanwhile, on this thread and others. Returns an error if a piece throws. The
    /// remaining pieces are then dropped.
    Result<> run(Piece first);
    /// Adds to the queue of `worker`. Threads: any.
    void add(TreeWorker& worker, Piece piece, Offer offer = {});
    /// For a thread outside the share.
    void add_from_outside(Piece piece);
    std::size_t threads() const { return queues_.size(); }
    /// Pieces waiting in the queue of `worker`. A thread with a long queue works on it itself.
    std::size_t waiting(const TreeWorker& worker);
    /// For a piece that adds much, between two additions: while more than some thousand pieces of `worker` wait, does
    /// the pieces that it added last, within the current piece. So a directory of ten million directories is never a
    /// queue of ten million pieces.
    void relieve(TreeWorker& worker);
    /// Pieces that have not begun are dropped.
    void stop() { stopped_ = true; }
    bool is_stopped() const { return stopped_; }
    const std::atomic<bool>& stopped() const { return stopped_; }

    /// Until release(), run() does not return for lack of work, and idle threads call `hungry`.
    void hold(std::function<void()> hungry);
    void release();
    /// Takes up to half of the waiting pieces with offers, at most `count`, the oldest of each thread first.
    std::vector<Offered> take_offers(std::size_t count);

private:
    struct Queue {
        std::mutex mutex;
        std::deque<Offered> pieces;
    };

    void work(TreeWorker& worker);
    bool take(std::size_t index, Piece& piece);
    bool take_last(std::size_t index, Piece& piece);
    void do_piece(TreeWorker& worker, Piece& piece);
    void end_one();
    void wait();

    std::vector<std::unique_ptr<Queue>> queues_;
    std::atomic<std::size_t> next_index_{0};
    std::atomic<std::uint64_t> unfinished_{0}, queued_{0};
    std::atomic<std::uint32_t> sleepers_{0};
    std::atomic<bool> stopped_{false};
    std::function<void()> hungry_;
    std::mutex mutex_;
    std::condition_variable changed_;
    Result<> thrown_;  // guarded by mutex_
};

}  // namespace forebay::tree
