// Work that grows while it is done, shared by threads: each does what it added last, so that it goes down into a tree
// before it goes on beside it and keeps few folders waiting; who has nothing takes what another added first.
//
// Where other processes share the work (team.hpp), pieces come with an offer: what another process must be told to do
// them. The share then hears that threads have nothing to do, and is held open while work may still come back.

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

/// One thread of the share, handed to all work that it does.
struct TreeWorker {
    WorkShare* share = nullptr;
    std::size_t index = 0;
    std::size_t nesting = 0;          // pieces within pieces, by relieve()
    std::vector<std::byte> buffer{};  // for bytes of files, two of them in a comparison; its size is the mover's choice
};

/// A piece of work as another process can do it. Nothing of it is copied as long as nobody takes it.
struct Offer {
    std::shared_ptr<DirNode> dir_node{};       // waits for it; none: nobody else can do this piece
    std::string name{};                        // a folder in `dir_node`, with all that lies in it
    std::shared_ptr<const NameBatch> names{};  // or names of `dir_node`
    std::shared_ptr<PiecewiseFile> file{};     // or bytes of a file in `dir_node`
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

    /// Does `first` and all that is added meanwhile, on this thread and others. An error where a piece has thrown; then
    /// the rest is not done.
    Result<> run(Piece first);
    /// By any thread; into the queue of `worker`.
    void add(TreeWorker& worker, Piece piece, Offer offer = {});
    /// By a thread that is none of the share's.
    void add_from_outside(Piece piece);
    std::size_t threads() const { return queues_.size(); }
    /// How much `worker` has waiting: who lists much does some of it itself.
    std::size_t waiting(const TreeWorker& worker);
    /// For who adds much, between two of its additions: while more than some thousand pieces of `worker` wait, it does
    /// those that it added last, within the piece that it is at. So a folder of ten million folders is not a list of
    /// ten million pieces.
    void relieve(TreeWorker& worker);
    /// What has not begun is not begun any more.
    void stop() { stopped_ = true; }
    bool is_stopped() const { return stopped_; }
    const std::atomic<bool>& stopped() const { return stopped_; }

    /// Until release() run() does not return for want of work, and threads that find none call `hungry`.
    void hold(std::function<void()> hungry);
    void release();
    /// Takes up to half of what waits and is offered, at most `count`, of each thread what it added first.
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
