// Goal: each wait that lasts longer than 2 s logs its reason on rank 0: the agent, directory, step and state.
// Method: the awaited event does not happen before the log line; then the test makes it happen. All waits run at once,
// so the test takes as long as the longest wait.

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "core/forward/frames.hpp"
#include "core/forward/server.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/private_file.hpp"
#include "support/sessions.hpp"
#include "support/staging_of.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::options_in;

namespace {

// The lines of one session. At the first line about a wait, it calls `act`.
struct Log {
    explicit Log(std::function<void()> then = [] {}) : act(std::move(then)) {}
    void add(const std::string& line) {
        const std::lock_guard lock(mutex);
        lines.push_back(line);
        if (line.find("still waiting after ") == std::string::npos) return;
        if (waits.empty()) act();
        waits.push_back(line);
    }
    void check_says(std::initializer_list<std::string> parts) {
        const std::lock_guard lock(mutex);
        CHECK(waits.size() == 1);
        for (const auto& part : parts) {
            const auto text = waits.empty() ? "nothing" : waits.front();
            CHECK_MESSAGE(text.find(part) != std::string::npos, text);
        }
    }
    std::mutex mutex;
    std::function<void()> act;
    std::vector<std::string> lines, waits;
};

// One rank's stream of one array, with elements of 8 bytes.
struct Saver {
    Saver(Session& session, const std::string& name, int rank, int ranks, const StreamOptions& options = {.keep = 0})
        : data(30'000), stream(session.stream(name, options).value()) {
        const auto row = static_cast<std::uint64_t>(rank);
        stream
            .array("u", f64, {static_cast<std::uint64_t>(ranks), data.size()},
                   {packed({{row, 0}, {1, data.size()}}, data.data())})
            .value();
    }
    std::vector<double> data;
    Stream stream;
};

// Acts as an agent that never comes to the stream, since it drains another stream for ever.
void commit(const Options& options, const std::string& stream) {
    auto node = node::Staging::join(test::staging_of(options)).value();
    for (auto& slot : node.control().slots)
        if (node.control().streams[slot.stream].name.data() == stream && slot.state == node::SlotState::sealed)
            slot.state = node::SlotState::committed;
    node::ring(node.control().news);
}

void wait_for_a_slot_and_for_commits() {
    const test::TempDirectory folder;
    auto options = options_in(folder, 1);
    options.agent.rate_bytes_per_second = 1;
    Log log([&] { commit(options, "restart"); });
    options.log = [&](const std::string& line) { log.add(line); };
    auto session = Session::open(options).value();
    Saver busy(session, "busy", 0, 1), saver(session, "restart", 0, 1);
    busy.stream.save(1).value();
    while (!session.draining()) std::this_thread::sleep_for(1ms);
    saver.stream.save(11).value();
    CHECK(saver.stream.save(12).value().kept);
    const auto directory = test::staging_of(options);
    log.check_says({"stream 'restart': a slot for step 12: step 11 is sealed", sys::host_name(), directory,
                    "at most 600 s without progress of the agent"});
    log.waits.clear();
    saver.stream.wait_committed(60s).value();
    log.check_says({"the agent on " + sys::host_name(), directory, "step 12 is sealed", "at most 60 s in all"});
}

// The agent of the second node. The node's first rank is not rank 0.
void wait_for_an_old_agent() {
    const test::TempDirectory folder;
    auto options = options_in(folder, 2);
    const auto directory = test::staging_of(options, 1);
    sys::FileLock agent;
    {
        const node::SessionFile file{.run = options.run,
                                     .run_id = catalog::identity_of(sys::posix_store(), options.run).value(),
                                     .host = "here",
                                     .process = 1,
                                     .agent = {}};
        auto left = node::Staging::create(node::LockedDirectory::lock(directory, "run").value(), file, 0ms).value();
        left.control().slots[left.slots_of(left.add_stream("restart", {}).value()).at(0)].step = 7;
        left.control().slots[0].state = node::SlotState::draining;
        left.control().slots[0].drained_bytes = 5'000'000;
        agent = sys::FileLock::take(node::agent_lock_path(directory)).value();
    }
    Log log([&] { agent.release(); });
    options.log = [&](const std::string& line) { log.add(line); };
    test::with_session(2, options, [](Session&, comm::Group&) {});
    log.check_says({"the agent of an earlier session on " + sys::host_name(), directory,
                    "step 7 is draining (5.00 MB so far)", "at most 600 s"});
}

void wait_for_the_token() {
    const test::TempDirectory folder;
    const auto token = forward::new_token();
    auto server = forward::Server::start(sys::posix_store(), "127.0.0.1:0",
                                         {.run = "", .token = token, .make_view = {}, .log = {}})
                      .value();
    auto options = options_in(folder, 1);
    options.agent.forward_to = {"127.0.0.1:" + std::to_string(server.port())};
    options.agent.forward_token_file = folder / "token";
    Log log([&] { sys::write_private(folder / "token", token + "\n").value(); });
    options.log = [&](const std::string& line) { log.add(line); };
    Session::open(options).value().close().value();
    log.check_says({"the token of the forwarders, " + (folder / "token"), "at most 60 s"});
    server.stop();
}

void wait_for_the_target() {
    std::atomic<bool> answers{false};
    Log log([&] { answers = true; });
    const auto work = [&]() -> Result<> {
        while (!answers) std::this_thread::sleep_for(1ms);
        return {};
    };
    within(600s, "the run directory /scratch/run7", work, [&](const std::string& line) { log.add(line); }).value();
    log.check_says({"the run directory /scratch/run7 to answer", "at most 600 s in all"});
}

// Two ranks on two nodes, with drains of four seconds.
struct SlowNodes {
    SlowNodes() { options.agent.rate_bytes_per_second = 60'000; }
    void session(Log& log, const std::function<void(Session&, Saver&)>& body) const {
        auto own = options;
        own.log = [&](const std::string& line) { log.add(line); };
        test::with_threads(2, [&](std::unique_ptr<comm::Group> world) {
            const int rank = world->rank();
            auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), own).value();
            Saver saver(session, "restart", rank, 2);
            body(session, saver);
        });
    }
    std::string directory() const { return test::staging_of(options); }

    test::TempDirectory folder;
    Options options = options_in(folder, 2);
};

void wait_for_the_end() {
    const SlowNodes nodes;
    Log log;
    nodes.session(log, [](Session& session, Saver& saver) {
        saver.stream.save(4).value();
        session.close().value();
    });
    log.check_says({"the agent on " + sys::host_name() + " to commit the staged copies in " + nodes.directory(),
                    "step 4 is draining", "at most 600 s in all"});
}

void wait_for_what_was_left() {
    const SlowNodes nodes;
    Log log, left;
    nodes.session(left, [](Session&, Saver& saver) { saver.stream.save(3).value(); });
    nodes.session(log, [](Session& session, Saver& saver) {
        CHECK(saver.stream.newest().value()->step() == 3);
        session.close().value();
    });
    log.check_says({"to drain the copies of an earlier session in " + nodes.directory(), "step 3 is draining"});
}

}  // namespace

TEST_CASE("waits that last say what they wait for") {
    std::vector<std::jthread> all;
    for (const auto& wait : {wait_for_a_slot_and_for_commits, wait_for_an_old_agent, wait_for_the_token,
                             wait_for_the_target, wait_for_the_end, wait_for_what_was_left})
        all.emplace_back([wait] {
            try {
                wait();
            } catch (const std::exception& thrown) {
                FAIL_CHECK(thrown.what());
            }
        });
}
