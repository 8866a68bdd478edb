#include "thread_group.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace forebay::test {

namespace {

// Shared by the ranks of one group: a place for each rank, and a barrier around its use.
struct Shared {
    explicit Shared(int ranks) : places(static_cast<std::size_t>(ranks)) {}

    std::mutex mutex;
    std::condition_variable all_here;
    std::vector<const void*> places;
    int waiting = 0;
    std::uint64_t round = 0;
    bool failed = false;
    std::map<int, std::shared_ptr<Shared>> parts;  // groups of the split in progress, by colour

    void wait() {
        std::unique_lock lock(mutex);
        const auto here = round;
        if (++waiting == static_cast<int>(places.size())) {
            waiting = 0;
            ++round;
            all_here.notify_all();
            return;
        }
        all_here.wait(lock, [&] { return round != here || failed; });
        if (round == here) throw std::runtime_error("another rank of this test failed");
    }
};

class ThreadGroup final : public comm::Group {
public:
    ThreadGroup(std::shared_ptr<Shared> shared, int rank, int machines)
        : shared_(std::move(shared)), rank_(rank), machines_(machines) {}

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(shared_->places.size()); }
    void barrier() override { shared_->wait(); }
    void max(std::span<std::int64_t> numbers) override {
        reduce(numbers, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }
    void sum(std::span<std::int64_t> numbers) override {
        reduce(numbers, [](std::int64_t a, std::int64_t b) { return a + b; });
    }
    void gather_all(std::span<const std::byte> own_bytes, std::span<std::byte> all) override {
        exchange(own_bytes.data(), [&](int from, const void* theirs) {
            std::copy_n(static_cast<const std::byte*>(theirs), own_bytes.size(),
                        all.begin() + static_cast<std::ptrdiff_t>(own_bytes.size()) * from);
        });
    }
    void broadcast(std::span<std::byte> bytes, int root) override {
        exchange(bytes.data(), [&](int from, const void* theirs) {
            if (from == root && from != rank_)
                std::copy_n(static_cast<const std::byte*>(theirs), bytes.size(), bytes.begin());
        });
    }
    std::unique_ptr<comm::Group> split(int colour) override {
        int my_rank = 0;
        int members = 0;
        exchange(&colour, [&](int from, const void* theirs) {
            if (*static_cast<const int*>(theirs) != colour) return;
            ++members;
            if (from < rank_) ++my_rank;
        });
        std::shared_ptr<Shared> part;
        if (colour >= 0) {
            const std::scoped_lock lock(shared_->mutex);
            auto& place = shared_->parts[colour];
            if (!place) place = std::make_shared<Shared>(members);
            part = place;
        }
        barrier();
        if (rank_ == 0) shared_->parts.clear();
        barrier();
        return part ? std::make_unique<ThreadGroup>(part, my_rank, 1) : nullptr;
    }
    std::unique_ptr<comm::Group> split_shared() override { return split(rank_ * machines_ / size()); }

private:
    template <class Visit>
    void exchange(const void* own, Visit&& visit) {
        shared_->places[static_cast<std::size_t>(rank_)] = own;
        barrier();
        for (int from = 0; from < size(); ++from) visit(from, shared_->places[static_cast<std::size_t>(from)]);
        barrier();
    }
    template <class Op>
    void reduce(std::span<std::int64_t> numbers, Op op) {
        const std::vector<std::int64_t> own_numbers(numbers.begin(), numbers.end());
        exchange(own_numbers.data(), [&](int from, const void* theirs) {
            if (from == rank_) return;
            for (std::size_t i = 0; i < numbers.size(); ++i)
                numbers[i] = op(numbers[i], static_cast<const std::int64_t*>(theirs)[i]);
        });
    }

    std::shared_ptr<Shared> shared_;
    int rank_;
    int machines_;
};

}  // namespace

void with_machines(int ranks, int machines, const std::function<void(std::unique_ptr<comm::Group>)>& body) {
    const auto shared = std::make_shared<Shared>(ranks);
    std::mutex mutex;
    std::exception_ptr first;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                body(std::make_unique<ThreadGroup>(shared, rank, machines));
            } catch (...) {
                const std::scoped_lock lock(mutex, shared->mutex);
                if (!first) first = std::current_exception();
                shared->failed = true;
                shared->all_here.notify_all();
            }
        });
    }
    for (auto& thread : threads) thread.join();
    if (first) std::rethrow_exception(first);
}

void with_threads(int ranks, const std::function<void(std::unique_ptr<comm::Group>)>& body) {
    with_machines(ranks, 1, body);
}

}  // namespace forebay::test
