#include "transfer/walk/work_share.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/sys/thread.hpp"
#include "transfer/walk/name_batch.hpp"

namespace forebay::tree {

namespace {

// A missed wake-up delays a thread by at most this long.
constexpr std::chrono::milliseconds look_again{20};
// About 3 MB if each piece is a directory.
constexpr std::size_t waiting_max = 4'096;
// Each nested piece keeps the directory that it lists open. Directories of thousands of directories are rarely nested.
constexpr std::size_t nesting_max = 8;

}  // namespace

WorkShare::WorkShare(std::uint32_t threads) {
    for (std::uint32_t i = 0; i < std::max(threads, 1u); ++i) queues_.push_back(std::make_unique<Queue>());
}

Result<> WorkShare::run(Piece first) {
    next_index_ = 0;
    add_from_outside(std::move(first));  // other processes may steal offers from now on
    sys::work_together(queues_.size(), [this] {
        TreeWorker worker{.share = this, .index = next_index_++};
        work(worker);
    });
    for (auto& queue : queues_) {
        std::deque<Offered> left;
        const std::lock_guard lock(queue->mutex);
        left.swap(queue->pieces);
    }
    unfinished_ = queued_ = 0;
    return thrown_;
}

void WorkShare::add(TreeWorker& worker, Piece piece, Offer offer) {
    ++unfinished_;
    {
        auto& queue = *queues_[worker.index];
        const std::lock_guard lock(queue.mutex);
        queue.pieces.push_back({std::move(piece), std::move(offer)});
    }
    ++queued_;
    if (sleepers_ == 0) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_one();
}

void WorkShare::add_from_outside(Piece piece) {
    TreeWorker first{.share = this};
    add(first, std::move(piece));
}

void WorkShare::hold(std::function<void()> hungry) {
    hungry_ = std::move(hungry);
    ++unfinished_;
}

void WorkShare::release() { end_one(); }

std::vector<WorkShare::Offered> WorkShare::take_offers(std::size_t count) {
    std::vector<Offered> taken;
    for (auto& queue : queues_) {
        const std::lock_guard lock(queue->mutex);
        // The oldest pieces first: they lie nearest to the root.
        auto left = std::min(count - taken.size(), (queue->pieces.size() + 1) / 2);
        for (auto at = queue->pieces.begin(); at != queue->pieces.end() && left > 0;) {
            if (!at->offer.dir_node) {
                ++at;
                continue;
            }
            taken.push_back(std::move(*at));
            at = queue->pieces.erase(at);
            --queued_;
            --left;
        }
    }
    for (std::size_t i = 0; i < taken.size(); ++i) end_one();
    return taken;
}

std::size_t WorkShare::waiting(const TreeWorker& worker) {
    auto& queue = *queues_[worker.index];
    const std::lock_guard lock(queue.mutex);
    return queue.pieces.size();
}

bool WorkShare::take_last(std::size_t index, Piece& piece) {
    auto& queue = *queues_[index];
    const std::lock_guard lock(queue.mutex);
    if (queue.pieces.empty()) return false;
    piece = std::move(queue.pieces.back().work);
    queue.pieces.pop_back();
    --queued_;
    return true;
}

bool WorkShare::take(std::size_t index, Piece& piece) {
    if (take_last(index, piece)) return true;
    for (std::size_t turn = 1; turn < queues_.size(); ++turn) {
        auto& queue = *queues_[(index + turn) % queues_.size()];
        const std::lock_guard lock(queue.mutex);
        if (queue.pieces.empty()) continue;
        piece = std::move(queue.pieces.front().work);
        queue.pieces.pop_front();
        --queued_;
        return true;
    }
    return false;
}

void WorkShare::relieve(TreeWorker& worker) {
    if (worker.nesting >= nesting_max) return;
    ++worker.nesting;
    for (Piece piece; waiting(worker) > waiting_max && !stopped_ && take_last(worker.index, piece);)
        do_piece(worker, piece);
    --worker.nesting;
}

void WorkShare::end_one() {
    if (--unfinished_ > 0 && !stopped_) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
}

void WorkShare::wait() {
    // The mutex is not held while hungry_() runs. A wake-up missed here costs at most look_again.
    if (hungry_) hungry_();
    ++sleepers_;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, look_again, [this] { return queued_ > 0 || unfinished_ == 0 || stopped_; });
    lock.unlock();
    --sleepers_;
}

void WorkShare::work(TreeWorker& worker) {
    while (unfinished_ > 0 && !stopped_) {
        Piece piece;
        if (!take(worker.index, piece)) {
            wait();
            continue;
        }
        do_piece(worker, piece);
    }
}

void WorkShare::do_piece(TreeWorker& worker, Piece& piece) {
    const auto done = attempt([&] { piece(worker); });
    piece = {};  // frees what the piece holds before other threads may end the run
    if (!done) {
        const std::lock_guard lock(mutex_);
        if (thrown_) thrown_ = done;
        stopped_ = true;
    }
    end_one();
}

}  // namespace forebay::tree
