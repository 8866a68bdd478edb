// Goal: a rank's threads run only on CPUs of its own, and are only as many as memory can feed; if memory is too short
// to measure this, only the caller copies.
// Method: masks as launchers set them; a real crew on this machine; every allocation fails in turn.

#include "path/stage/copy_threads.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "support/failing_memory.hpp"

using namespace forebay;

namespace {

sys::CpuSet cpus(unsigned first, unsigned last) {
    sys::CpuSet set;
    for (unsigned cpu = first; cpu <= last; ++cpu) set.set(cpu);
    return set;
}

std::vector<std::string> alone(const std::vector<sys::CpuSet>& ranks) {
    std::vector<std::string> shown;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
        shown.push_back(sys::show_cpus(stage::cpus_alone(ranks, rank)));
    return shown;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("cpus_alone: what no other rank of the machine may use") {
    CHECK(alone({cpus(0, 63)}) == Texts{"0-63"});                                        // the only rank
    CHECK(alone({cpus(0, 63), cpus(0, 63)}) == Texts{"", ""});                           // not bound
    CHECK(alone({cpus(0, 0), cpus(1, 1), cpus(2, 2)}) == Texts{"0", "1", "2"});          // a rank a core
    CHECK(alone({cpus(0, 31), cpus(32, 63)}) == Texts{"0-31", "32-63"});                 // a rank a socket
    CHECK(alone({cpus(0, 31), cpus(0, 31), cpus(32, 63)}) == Texts{"", "", "32-63"});    // three on two sockets
    CHECK(alone({cpus(0, 3), cpus(2, 5), cpus(6, 7)}) == Texts{"0-1", "4-5", "6-7"});    // half shared
    CHECK(alone({cpus(0, 7), cpus(0, 0)}) == Texts{"1-7", ""});                          // one within the other
    CHECK(alone({cpus(0, 3) | cpus(64, 67), cpus(4, 7)}) == Texts{"0-3,64-67", "4-7"});  // both threads of cores
    CHECK(alone({cpus(8188, 8191), cpus(8190, 8190)}) == Texts{"8188-8189,8191", ""});
}

TEST_CASE("crew_at_memory_limit: all, or a half, a quarter and so on") {
    for (std::uint32_t threads = 1; threads <= 4; ++threads) {
        const auto [crew, measured] = stage::crew_at_memory_limit(threads, sys::own_cpus());
        CHECK(measured);
        CHECK((crew->threads() == threads || crew->threads() == threads / 2 || crew->threads() == threads / 4));
        CHECK(crew->shortage());
    }
}

TEST_CASE("crew_at_memory_limit: one thread where memory is too short to try more") {
    constexpr std::int64_t many = 1'000'000;
    test::failing_allocation = many;
    std::make_unique<sys::Crew>(1, sys::own_cpus()).reset();
    const auto of_caller_alone = many - std::exchange(test::failing_allocation, -1);
    int not_measured = 0;
    bool all_was_there = false;
    for (auto allocation = of_caller_alone; !all_was_there; ++allocation) {
        CAPTURE(allocation);
        test::failed_allocations = 0;
        test::failing_allocation = allocation;
        const auto [crew, measured] = stage::crew_at_memory_limit(4, sys::own_cpus());
        test::failing_allocation = -1;
        all_was_there = test::failed_allocations == 0;
        CHECK(crew->threads() >= 1);
        if (measured) continue;
        ++not_measured;
        CHECK(crew->threads() == 1);
        CHECK(measured.error().kind == ErrorKind::full);
    }
    CHECK(not_measured > 4);  // two pieces of memory for each thread, and more
}
