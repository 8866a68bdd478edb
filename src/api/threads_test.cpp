// Goal: where this user may have no more threads a call is an Error that names the limit, nothing ends the application,
// and all works again when the limit is lifted.
// Method: a child of a user of its own, with an agent that is a thread, may have 0, 1, 2, ... threads beside its first.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "support/limited_process.hpp"
#include "support/row_rank.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t elements = 3'000'000;  // several blocks for several writers
constexpr int threads_most = 7;                // what an agent in a thread has when it drains, and one to spare

Options options_in(const test::TempDirectory& folder) {
    Options options{.run = folder / "run", .staging = folder.path()};
    options.agent.mode = AgentMode::thread;
    options.agent.retries = 1;
    options.agent.retry_pause = 1ms;
    return options;
}

/// 0 when `answer` is well, or is an error that says why.
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
    auto found = stream.newest().value();
    if (!found || !test::limit_to(RLIMIT_NPROC, 1)) return 11;
    const auto unread = found->read();
    if (unread || judge(unread) != 0) return 12;
    if (!test::lift_limit(RLIMIT_NPROC)) return 97;
    found->read().value();
    if (data.front() != 4.5 || data.back() != 4.5) return 13;
    session.close().value();
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
    stream.wait_committed(60s).value();  // by fewer writers than are wanted
    if (judge(session->job()) != 0) return 4;
    if (!test::lift_limit(RLIMIT_NPROC)) return 97;
    stream.save(2).value();
    session->job().value();
    auto found = stream.newest().value();
    if (!found || found->step() != 2) return 5;
    if (!found->read()) return 6;
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

int main(int argc, char** argv) {
#ifdef __SANITIZE_THREAD__
    std::puts("skipped: the thread sanitizer needs a thread of its own");
    return 77;
#endif
    return doctest::Context(argc, argv).run();
}
