// Goal: an excluded node writes no node file to the target. A neighbour writes it, in every mode of the agent; its
// snapshots are committed and restored. Whatever process is killed, nothing is lost and nothing hangs. Method: four
// virtual nodes of one rank, a thread each; the run's events, and the bytes that helpers count.

#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "core/sys/machine.hpp"
#include "path/agent/neighbours.hpp"
#include "path/node/watch.hpp"
#include "support/mid_drain.hpp"
#include "support/processes.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::MidDrain;
using test::staged;
using test::wait_for_agents;
using Rank = test::RowRank;

namespace {

constexpr int nodes = 4;
constexpr std::uint64_t slow = 300'000;  // bytes per second of each agent: a drain takes 0.8 s

struct Neighbourly {
    test::TempDirectory folder;
    std::string run = folder / "run";
    std::vector<std::string> log_lines;

    Options options(AgentMode mode, const std::string& excluded, std::uint64_t rate = 0) {
        Options options{.run = run, .staging = folder.path()};
        options.virtual_nodes = nodes;
        options.agent.mode = mode;
        options.agent.exclude_nodes = excluded;
        options.agent.rate_bytes_per_second = rate;
        options.agent.block_bytes = 1u << 14;
        options.agent.retry_pause = 20ms;
        options.agent.linger = 0ms;
        options.close_wait = 60s;
        options.log = [this](const std::string& line) { log_lines.push_back(line); };
        return options;
    }
    /// The texts of all events of that name, of a node.
    std::string told(int node, const std::string& event) const {
        std::string all;
        const auto path = run + "/forebay/events-" + sys::host_name() + "-" + std::to_string(node) + ".jsonl";
        std::ifstream lines(path);
        for (std::string line; std::getline(lines, line);)
            if (line.find("\"event\":\"" + event + "\"") != line.npos) all += line + "\n";
        return all;
    }
    bool told_by_any(const std::string& event) const {
        for (int node = 0; node < nodes; ++node)
            if (!told(node, event).empty()) return true;
        return false;
    }
    std::string directory_of(int node, const Options& options) const { return test::staging_of(options, node); }
    std::vector<std::string> addresses() const {
        std::vector<std::string> lines;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(run + "/forebay"))
            if (entry.path().filename().string().starts_with("neighbour-")) lines.push_back(entry.path());
        return lines;
    }
};

// "HOST/1", a virtual node of this machine.
std::string node_name(int node) { return sys::host_name() + "/" + std::to_string(node); }

// Stops the agent of `helper` while node 1 drains through it, with more than half of the bytes to come. If the drain
// was faster than this thread, the agent continues and the result is false.
bool stops_helper(const Neighbourly& job, const Options& options, int helper) {
    const auto watch = node::Watch::open(job.directory_of(1, options)).value();
    const auto& slots = watch.page().slots;
    const auto any = [&](const auto& condition) { return std::ranges::any_of(slots, condition); };
    const auto is_under_way = [](const node::SlotControl& slot) {
        const auto bytes = slot.drained_bytes.load();
        return slot.state.load() == node::SlotState::draining && bytes > 0 && 2 * bytes < slot.file_bytes.load();
    };
    const auto is_pending = [](const node::SlotControl& slot) {
        const auto state = slot.state.load();
        return state == node::SlotState::sealed || state == node::SlotState::draining;
    };
    CHECK(test::soon([&] { return any(is_under_way) || !any(is_pending); }));
    const auto agent = test::agent_of(job.directory_of(helper, options));
    ::kill(agent, SIGSTOP);
    if (any(is_under_way)) return true;
    ::kill(agent, SIGCONT);
    return false;
}

// Saves until this happens. Returns the step under way.
std::int64_t save_until_stopped(Rank& here, const Neighbourly& job, const Options& options, int helper,
                                std::atomic<bool>& has_stopped) {
    for (std::int64_t step = 1;; ++step) {
        here.save(step).value();
        here.once([&] { has_stopped = stops_helper(job, options, helper); });
        if (has_stopped) return step;
        here.stream.wait_committed(60s).value();
    }
}

std::vector<std::int64_t> down_from(std::int64_t step) {
    std::vector<std::int64_t> steps;
    for (; step > 0; --step) steps.push_back(step);
    return steps;
}

}  // namespace

TEST_CASE("an excluded node's files are written by a neighbour, and restored") {
    for (const auto mode : {AgentMode::process, AgentMode::thread}) {
        Neighbourly job;
        auto options = job.options(mode, node_name(1));
        test::with_threads(nodes, [&](std::unique_ptr<comm::Group> world) {
            Rank here(std::move(world), options, {.keep = 0});
            for (std::int64_t step = 1; step <= 3; ++step) {
                here.save(step).value();
                here.stream.wait_committed(60s).value();
            }
            here.once([&] {
                const auto token =
                    node::decode_session(test::text_in(job.directory_of(1, options) + "/session.json"), "session.json")
                        .value()
                        .neighbours.token;
                CHECK(token.size() == 32);
                const auto addresses = job.addresses();
                CHECK(addresses.size() == 2);
                for (const auto& path : addresses) CHECK(test::text_in(path).find(token) == std::string::npos);
            });
            CHECK(here.restore() == 3);
            here.session.close().value();
        });
        wait_for_agents(options);
        CHECK(test::committed_steps(job.run) == std::vector<std::int64_t>{3, 2, 1});
        CHECK(staged(options).empty());
        // Node 1 begins with the second of the helpers, which are nodes 0 and 3.
        CHECK(job.told(1, "detours").find(node_name(3) + ": this node is excluded") != std::string::npos);
        CHECK(job.told(3, "helped").find("3 node files of others") != std::string::npos);
        CHECK(job.told(0, "helped").empty());
        CHECK_FALSE(job.told_by_any("no_detour"));
        CHECK(job.addresses().empty());
        CHECK(std::ranges::any_of(job.log_lines, [](const std::string& line) {
            return line.find("1 of 4 nodes are excluded. 2 nodes write for them") != line.npos;
        }));
        test::with_threads(nodes, [&](std::unique_ptr<comm::Group> world) {
            Rank here(std::move(world), job.options(mode, ""));
            CHECK(here.restore() == 3);
            here.session.close().value();
        });
    }
}

TEST_CASE("without exclusions nobody listens; where all are excluded they write themselves, and it is said") {
    for (const bool all : {false, true}) {
        Neighbourly job;
        const auto options = job.options(AgentMode::thread, all ? sys::host_name() : "another-host");
        test::with_threads(nodes, [&](std::unique_ptr<comm::Group> world) {
            Rank here(std::move(world), options, {.keep = 0});
            here.save(1).value();
            here.stream.wait_committed(60s).value();
            here.once([&] { CHECK(job.addresses().empty()); });
            here.session.close().value();
        });
        CHECK(test::committed_steps(job.run) == std::vector<std::int64_t>{1});
        CHECK_FALSE(job.told_by_any("detours"));
        CHECK(all == std::ranges::any_of(job.log_lines, [](const std::string& line) {
                  return line.find("excludes all nodes of this job") != line.npos;
              }));
    }
}

TEST_CASE("the helper is killed in the middle of a drain: another one, or the node itself, goes on, all is committed") {
    for (const int helpers : {1, 2}) {
        Neighbourly job;
        auto options = job.options(AgentMode::process, node_name(1), slow);
        options.agent.neighbours = helpers;
        const int helper = helpers == 1 ? 2 : 3;  // the helper that node 1 begins with
        std::atomic<bool> has_stopped{false};
        std::atomic<std::int64_t> last_step{0};
        test::with_threads(nodes, [&](std::unique_ptr<comm::Group> world) {
            Rank here(std::move(world), options, {.keep = 0});
            const auto step = save_until_stopped(here, job, options, helper, has_stopped);
            here.once([&] {
                ::kill(test::agent_of(job.directory_of(helper, options)), SIGKILL);
                // Ranks that wait for the commit make the helper continue: they begin to wait when node 1 has another
                // way.
                CHECK(test::soon([&] {
                    return helpers == 1
                               ? !job.told(1, "no_detour").empty()
                               : job.told(1, "detours").find("through " + sys::host_name() + ":") != std::string::npos;
                }));
            });
            here.stream.wait_committed(60s).value();
            here.save(step + 1).value();
            here.stream.wait_committed(60s).value();
            here.session.close().value();
            last_step = step + 1;
        });
        wait_for_agents(options);
        CHECK(test::committed_steps(job.run) == down_from(last_step));
        CHECK(job.told(1, "detours").find(node_name(helper)) != std::string::npos);
        if (helpers == 1) CHECK(job.told(1, "no_detour").find("no neighbour answers") != std::string::npos);
        else CHECK(job.told(0, "helped").find("node files of others") != std::string::npos);
    }
}

TEST_CASE("all ranks are killed while their step drains: a helper that is done stays for the node that it helps") {
    Neighbourly job;
    auto options = job.options(AgentMode::process, node_name(1), slow);
    options.agent.neighbours = 1;
    {
        const MidDrain application(nodes, options);
        CHECK(test::soon([&] { return !job.told(1, "detours").empty(); }));
    }
    wait_for_agents(options);
    CHECK(test::committed_steps(job.run) == std::vector<std::int64_t>{5});
    CHECK_FALSE(job.told(2, "helped").empty());
    CHECK_FALSE(job.told_by_any("no_detour"));
    CHECK(job.addresses().empty());
}

TEST_CASE("a helper that is stopped holds nobody up for long") {
    Neighbourly job;
    auto options = job.options(AgentMode::process, node_name(1), slow);
    options.agent.neighbours = 1;
    std::atomic<bool> has_stopped{false};
    std::atomic<std::int64_t> last_step{0};
    test::with_threads(nodes, [&](std::unique_ptr<comm::Group> world) {
        Rank here(std::move(world), options, {.keep = 0});
        const auto step = save_until_stopped(here, job, options, 2, has_stopped);
        here.once([&] {
            // Its own node file comes when it continues.
            CHECK(test::soon([&] { return !job.told(1, "no_detour").empty(); }));
            ::kill(test::agent_of(job.directory_of(2, options)), SIGCONT);
        });
        here.stream.wait_committed(60s).value();
        here.session.close().value();
        last_step = step;
    });
    wait_for_agents(options);
    CHECK(test::committed_steps(job.run) == down_from(last_step));
}

TEST_CASE("a list in a file is read on each node, and one that cannot be read refuses the session") {
    Neighbourly job;
    const auto list = job.folder / "exclude.nodes";
    std::ofstream(list) << "nid00001\n" << node_name(2) << "\n";
    auto options = job.options(AgentMode::thread, "@" + list);
    test::with_threads(nodes, [&](std::unique_ptr<comm::Group> world) {
        Rank here(std::move(world), options, {.keep = 0});
        here.save(1).value();
        here.stream.wait_committed(60s).value();
        here.session.close().value();
    });
    CHECK_FALSE(job.told(2, "detours").empty());
    CHECK(job.told(1, "detours").empty());
    options.agent.exclude_nodes = "@" + (job.folder / "none");
    const auto missing = Session::open(options);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().kind == ErrorKind::missing);
    options.agent.exclude_nodes = "nid[1-";
    CHECK(Session::open(options).error().text().find("agent.exclude_nodes") != std::string::npos);
}
