#include "tree/work_share.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/attempt.hpp"
#include "sys/thread.hpp"

namespace forebay::tree {

namespace {

// Nobody is left asleep by a wake-up that was missed.
constexpr std::chrono::milliseconds look_again{20};

}  // namespace

WorkShare::WorkShare(std::uint32_t threads) {
    for (std::uint32_t i = 0; i < std::max(threads, 1u); ++i) queues_.push_back(std::make_unique<Queue>());
}

Result<> WorkShare::run(Piece first) {
    unfinished_ = 1;
    queued_ = 1;
    next_index_ = 0;
    queues_.front()->pieces.push_back(std::move(first));
    sys::work_together(queues_.size(), [this] {
        TreeWorker worker{.share = this, .index = next_index_++};
        work(worker);
    });
    for (auto& queue : queues_) queue->pieces.clear();
    return thrown_;
}

void WorkShare::add(TreeWorker& worker, Piece piece) {
    ++unfinished_;
    {
        auto& queue = *queues_[worker.index];
        const std::lock_guard lock(queue.mutex);
        queue.pieces.push_back(std::move(piece));
    }
    ++queued_;
    if (sleepers_ == 0) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_one();
}

std::size_t WorkShare::waiting(const TreeWorker& worker) {
    auto& queue = *queues_[worker.index];
    const std::lock_guard lock(queue.mutex);
    return queue.pieces.size();
}

bool WorkShare::take(std::size_t index, Piece& piece) {
    for (std::size_t turn = 0; turn < queues_.size(); ++turn) {
        auto& queue = *queues_[(index + turn) % queues_.size()];
        const std::lock_guard lock(queue.mutex);
        if (queue.pieces.empty()) continue;
        if (turn == 0) {
            piece = std::move(queue.pieces.back());
            queue.pieces.pop_back();
        } else {
            piece = std::move(queue.pieces.front());
            queue.pieces.pop_front();
        }
        --queued_;
        return true;
    }
    return false;
}

void WorkShare::wait() {
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
        const auto done = attempt([&] { piece(worker); });
        piece = {};  // what it held is given back before others may end
        if (!done) {
            const std::lock_guard lock(mutex_);
            if (thrown_) thrown_ = done;
            stopped_ = true;
        }
        if (--unfinished_ == 0 || stopped_) {
            const std::lock_guard lock(mutex_);
            changed_.notify_all();
        }
    }
}

}  // namespace forebay::tree
