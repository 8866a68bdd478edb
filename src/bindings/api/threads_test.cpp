// Goal: if this user may have no more threads, a call is an Error with the limit. Nothing ends the application, and
// everything works again when the limit is lifted. A restart needs no threads except the ranks.
// Method: a child of its own user, with an agent thread, may have 0, 1, 2, ... threads beside its first thread.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "support/limited_process.hpp"
#include "support/row_rank.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t elements = 3'000'000;  // several blocks for several writers
constexpr int threads_most = 7;                // the threads of an agent that drains in a thread, and one to spare

Options options_in(const test::TempDirectory& folder) {
    Options options{.run = folder / "run", .staging = folder.path()};
    options.agent.mode = AgentMode::thread;
    options.agent.retries = 1;
    options.agent.retry_pause = 1ms;
    return options;
}

/// 0 if `answer` is well, or is an error with a reason.
template <class T>
int judge(const Result<T>& answer) {
    if (answer) return 0;
    if (answer.error().kind != ErrorKind::retry) std::fprintf(stderr, "%s\n", answer.error().text().c_str());
    return answer.error().kind == ErrorKind::retry && answer.error().what.find("ulimit -u") != std::string::npos ? 0
                                                                                                                 : 1;
}

int read_without(const Options& options) {
    auto session = Session::open(options).value();
    auto stream = session.stream("restart", {.keep = 0}).value();
    std::vector<double> data(elements);
    stream.array("u", f64, {elements}, {packed({{0}, {elements}}, data.data())}).value();
    auto restart = stream.newest().value();
    if (!restart || !test::limit_to(RLIMIT_NPROC, 1)) return 11;
    restart->read().value();  // only by the calling thread
    if (data.front() != 4.5 || data.back() != 4.5) return 13;
    if (!test::lift_limit(RLIMIT_NPROC)) return 97;
    session.close().value();
    return 0;
}

rlim_t threads_now() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<rlim_t>(std::distance(begin(tasks), end(tasks)));
}

// Ranks that may start only so many more threads after they begin to read.
int read_beside(const Options& options, int ranks, rlim_t more) {
    std::atomic<int> wrong{0};
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        const auto own = world->split(0);
        const auto rank = static_cast<std::uint64_t>(own->rank()), rows = elements / static_cast<std::uint64_t>(ranks);
        auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value();
        auto stream = session.stream("restart", {.keep = 0}).value();
        std::vector<double> data(rows);
        stream.array("u", f64, {elements}, {packed({{rank * rows}, {rows}}, data.data())}).value();
        auto restart = stream.newest().value();
        own->barrier();
        if (own->rank() == 0 && !test::limit_to(RLIMIT_NPROC, threads_now() + more)) wrong = 1;
        own->barrier();
        restart->read().value();
        own->barrier();
        if (own->rank() == 0 && !test::lift_limit(RLIMIT_NPROC)) wrong = 1;
        for (std::uint64_t i = 0; i < rows; ++i)
            if (data[i] != static_cast<double>(rank * rows + i)) wrong = 2;
        session.close().value();
    });
    return wrong;
}

int read_by_few(const test::TempDirectory& folder) {
    if (!test::become_limited_user()) return 98;
    auto options = options_in(folder);
    {
        auto session = Session::open(options).value();
        auto stream = session.stream("restart", {.keep = 0}).value();
        std::vector<double> data(elements);
        std::iota(data.begin(), data.end(), 0.0);
        stream.array("u", f64, {elements}, {packed({{0}, {elements}}, data.data())}).value();
        stream.save(1).value();
        session.close().value();
    }
    // Buffers: 2 and 4, for six pieces and more.
    for (const std::uint64_t window_bytes : {4u << 20, 16u << 20})
        for (const int ranks : {1, 2, 3})
            for (const rlim_t more : {0, 1, 2}) {
                options.restart_window_bytes = window_bytes;
                if (const auto wrong = read_beside(options, ranks, more); wrong != 0) return wrong;
            }
    return 0;
}

int save_with(const test::TempDirectory& folder, int threads) {
    if (!test::become_limited_user()) return 98;
    if (!test::limit_to(RLIMIT_NPROC, static_cast<rlim_t>(1 + threads))) return 97;
    const auto options = options_in(folder);
    std::vector<double> data(elements, 4.5);
    auto limited = Session::open(options);
    if (judge(limited) != 0) return 1;
    if (threads == 0 && limited) return 2;
    if (threads == 0 && !test::lift_limit(RLIMIT_NPROC)) return 97;
    auto session = limited ? std::move(limited) : Session::open(options);
    if (!session) return 3;
    auto stream = session->stream("restart", {.keep = 0}).value();
    stream.array("u", f64, {elements}, {packed({{0}, {elements}}, data.data())}).value();
    stream.save(1).value();
    stream.wait_committed(60s).value();  // by fewer writers than wanted
    if (judge(session->job()) != 0) return 4;
    if (!test::lift_limit(RLIMIT_NPROC)) return 97;
    stream.save(2).value();
    session->job().value();
    auto restart = stream.newest().value();
    if (!restart || restart->step() != 2) return 5;
    if (!restart->read()) return 6;
    session->close().value();
    return read_without(options);
}

}  // namespace

TEST_CASE("a session with fewer threads than it wants, or none") {
    for (int threads = 0; threads <= threads_most; ++threads) {
        CAPTURE(threads);
        const test::TempDirectory folder;
        test::give_to_limited_user(folder.path());
        REQUIRE(test::in_child([&] { return save_with(folder, threads); }) == 0);
    }
}

TEST_CASE("a restart by ranks that get no threads to read with, or fewer than they want") {
    const test::TempDirectory folder;
    test::give_to_limited_user(folder.path());
    CHECK(test::in_child([&] { return read_by_few(folder); }) == 0);
}

int main(int argc, char** argv) {
#ifdef __SANITIZE_THREAD__
    std::puts("skipped: the thread sanitizer needs a thread of its own");
    return 77;
#endif
    return doctest::Context(argc, argv).run();
}
