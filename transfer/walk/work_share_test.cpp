// Goal: all work is done once, on any number of threads, however it grows. A piece that throws ends the run with an
// error.
// Method: runs a tree of pieces that add pieces on 1, 2, 3, 5 and 17 threads, pieces that throw or stop the rest, and a
// piece that adds 100,000. A thread takes offers all the time.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <thread>

#include "transfer/walk/dir_node.hpp"
#include "transfer/walk/work_share.hpp"

using namespace forebay;

namespace {

void grow(tree::TreeWorker& worker, std::atomic<int>& done, int depth) {
    ++done;
    if (depth == 0) return;
    for (int child = 0; child < 5; ++child)
        worker.share->add(worker, [&done, depth](tree::TreeWorker& other) { grow(other, done, depth - 1); });
}

}  // namespace

TEST_CASE("work_share: every piece is done once") {
    for (const std::uint32_t threads : {1u, 2u, 3u, 5u, 17u}) {
        CAPTURE(threads);
        tree::WorkShare share(threads);
        std::atomic<int> done{0};
        REQUIRE(share.run([&](tree::TreeWorker& worker) { grow(worker, done, 5); }));
        CHECK(done == 1 + 5 + 25 + 125 + 625 + 3125);
        REQUIRE(share.run([&](tree::TreeWorker& worker) { grow(worker, done, 1); }));  // and again
        CHECK(done == 3906 + 6);
    }
}

TEST_CASE("work_share: a piece that throws is an error, and ends the others") {
    for (const std::uint32_t threads : {1u, 3u}) {
        tree::WorkShare share(threads);
        const auto ended = share.run([&](tree::TreeWorker& worker) {
            worker.share->add(worker, [](tree::TreeWorker&) { throw std::runtime_error("made to fail"); });
        });
        REQUIRE_FALSE(ended);
        CHECK(ended.error().what.find("made to fail") != std::string::npos);
    }
}

TEST_CASE("work_share: after a stop nothing is begun") {
    tree::WorkShare share(1);
    int done = 0;
    REQUIRE(share.run([&](tree::TreeWorker& worker) {
        for (int i = 0; i < 10; ++i)
            worker.share->add(worker, [&](tree::TreeWorker& other) {
                ++done;
                other.share->stop();
            });
    }));
    CHECK(done == 1);
}

// The thread that talks to other processes lives longer than the work. The preset tsan finds races.
TEST_CASE("work_share: offers are taken by another thread while a run begins and ends") {
    tree::WorkShare share(2);
    const auto dir_node = std::make_shared<tree::DirNode>(nullptr, "");
    std::atomic<bool> is_over{false};
    std::atomic<std::size_t> done{0}, taken{0};
    std::thread other([&] {
        while (!is_over) taken += share.take_offers(1).size();
    });
    for (int turn = 0; turn < 200; ++turn)
        CHECK(share.run([&](tree::TreeWorker& worker) {
            for (int i = 0; i < 10; ++i) share.add(worker, [&](tree::TreeWorker&) { ++done; }, {.dir_node = dir_node});
        }));
    is_over = true;
    other.join();
    CHECK(done + taken == 200 * 10);
}

TEST_CASE("work_share: who adds much does some of it, so that few pieces wait") {
    for (const std::uint32_t threads : {1u, 3u}) {
        CAPTURE(threads);
        tree::WorkShare share(threads);
        std::atomic<int> done{0};
        std::size_t most = 0;
        REQUIRE(share.run([&](tree::TreeWorker& worker) {
            for (int i = 0; i < 100'000; ++i) {
                const int depth = i % 1'000 == 0 ? 3 : 0;
                worker.share->add(worker, [&done, depth](tree::TreeWorker& other) { grow(other, done, depth); });
                most = std::max(most, worker.share->waiting(worker));
                worker.share->relieve(worker);
            }
        }));
        CHECK(done == 99'900 + 100 * 156);
        CHECK(most <= 4'097);
    }
}

TEST_CASE("work_share: pieces within pieces are of some depth alone") {
    tree::WorkShare share(1);
    std::size_t deepest = 0, done = 0;
    std::function<void(tree::TreeWorker&, int)> add_many = [&](tree::TreeWorker& worker, int depth) {
        ++done;
        deepest = std::max(deepest, worker.nesting);
        if (depth == 0) return;
        for (int i = 0; i < 4'200; ++i) {
            const auto below = i == 0 ? 0 : i == 4'199 ? depth - 1 : 0;
            worker.share->add(worker, [&, below](tree::TreeWorker& other) { add_many(other, below); });
            worker.share->relieve(worker);
        }
    };
    REQUIRE(share.run([&](tree::TreeWorker& worker) { add_many(worker, 15); }));
    CHECK(done == 1 + 15 * 4'200);
    CHECK(deepest == 8);
}
