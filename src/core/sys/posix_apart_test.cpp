// Goal: work that crashes, computes without an end or takes all memory is an error for the caller, and the caller goes
//       on. Results and the parts of errors arrive whole.
// Method: run_apart() meets each kind of end, with short bounds.

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <vector>

#include "core/sys/apart.hpp"

using namespace forebay;
using namespace forebay::sys;

namespace {

constexpr ApartBounds bounds{.memory_bytes = 256u << 20, .processor_time = std::chrono::seconds(1)};

Result<int> apart(const std::function<Result<int>(const Alive&)>& work) { return run_apart(bounds, work); }

}  // namespace

TEST_CASE("what the work gives arrives") {
    CHECK(apart([](const Alive&) { return Result<int>(6); }).value() == 6);
    const Error given{ErrorKind::unsupported, "what\nfailed", "", "the next step"};
    const auto error = apart([&](const Alive&) { return Result<int>(given); }).error();
    CHECK(error.kind == given.kind);
    CHECK(error.what == given.what);
    CHECK(error.safe.empty());
    CHECK(error.next == given.next);
}

TEST_CASE("a crash is damage, and who is killed says so") {
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS})
        CHECK(apart([&](const Alive&) -> Result<int> {
                  std::signal(signal, SIG_DFL);
                  return std::raise(signal);
              })
                  .error()
                  .kind == ErrorKind::corrupt);
    CHECK(apart([](const Alive&) -> Result<int> { std::_Exit(0); }).error().kind == ErrorKind::corrupt);
    CHECK(apart([](const Alive&) -> Result<int> { return std::raise(SIGKILL); }).error().kind == ErrorKind::retry);
}

TEST_CASE("work without an end is damage, and work that goes on is not") {
    volatile std::uint64_t rounds = 0;
    const auto endless = [&](const Alive&) -> Result<int> {
        for (;;) rounds = rounds + 1;
    };
    CHECK(apart(endless).error().kind == ErrorKind::corrupt);
    const auto goes_on = [&](const Alive& alive) -> Result<int> {
        const auto begin = std::clock();
        while (std::clock() - begin < 3 * CLOCKS_PER_SEC / 2) alive();
        return 0;
    };
    CHECK(apart(goes_on).has_value());
}

TEST_CASE("memory is bounded") {
    const auto error = apart([](const Alive&) -> Result<int> {
                           const std::vector<char> large(std::size_t{1} << 32);
                           return static_cast<int>(large[1]);
                       }).error();
    CHECK(error.kind == ErrorKind::full);
}
