// Goal: whatever process is killed, at any time, sealed snapshots are committed: by the agent alone, by the next agent,
// by the next session or by `forebay drain`. A restart finds a whole snapshot, never older than a durable snapshot. If
// the agent of a node is gone for good, the saves of all nodes end soon, with the error of that node.
// Method: the application is a forked process whose ranks are threads; agents are processes, slowed by the rate limit;
// SIGKILL for the application, an agent, or both.

#include <doctest/doctest.h>
#include <sched.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "path/catalog/catalog.hpp"
#include "support/mid_drain.hpp"
#include "support/processes.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
using namespace std::chrono_literals;

using test::agent_of;
using test::forebay_command;
using test::kill_agents;
using test::MidDrain;
using test::staged;
using test::wait_for_agents;
using test::wait_until;
using Rank = test::RowRank;

namespace {

constexpr int ranks = 3;
constexpr std::uint64_t slow = 1'000'000;  // bytes per second of each agent

Options options_in(const test::TempDirectory& folder, int nodes, std::uint64_t rate) {
    Options options{.run = folder / "run", .staging = folder.path()};
    options.virtual_nodes = nodes;
    options.agent.rate_bytes_per_second = rate;
    options.agent.block_bytes = 1u << 16;
    options.close_wait = 60s;
    return options;
}

std::vector<std::int64_t> committed(const Options& options) {
    std::vector<std::int64_t> steps;
    const auto all = catalog::snapshots(sys::posix_store(), options.run, "restart");
    if (!all) return steps;
    for (const auto& snapshot : *all) {
        steps.push_back(snapshot.step);
        const auto verified = catalog::verify(sys::posix_store(), snapshot, {});
        CHECK_MESSAGE((verified && verified->damage.empty()), snapshot.directory);
    }
    return steps;
}

}  // namespace

namespace {

// Stopped agents of some nodes: they neither drain nor leave until they continue.
class StoppedAgents {
public:
    ~StoppedAgents() { go_on(); }
    void stop(const std::vector<std::string>& directories) {
        for (const auto& directory : directories) {
            wait_until(
                [&] { return test::text_in(node::agent_log_path(directory)).find(" serves ") != std::string::npos; });
            ::kill(agents_.emplace_back(agent_of(directory)), SIGSTOP);
        }
    }
    void go_on() {
        for (const auto agent : agents_) ::kill(agent, SIGCONT);
        agents_.clear();
    }

private:
    std::vector<pid_t> agents_;
};

// A node that has no agent, or whose drain failed, as long as this object lives.
class FailingNode {
public:
    FailingNode(const std::string& directory, bool agent_is_gone) : log_(node::agent_log_path(directory)) {
        if (agent_is_gone) {
            ::kill(agent_of(directory), SIGKILL);
            wait_until([&] { return !sys::lock_is_held(node::agent_lock_path(directory)); });
            std::filesystem::rename(log_, log_ + ".away");
            std::filesystem::create_directory(log_);
            return;
        }
        node_ = node::Staging::join(directory).value();
        auto& slot = node_->control().slots[0];
        node::set_error(slot.error_text, {ErrorKind::broken, "the disk has burnt down"});
        slot.error_kind = static_cast<std::uint32_t>(ErrorKind::broken);
        slot.failures += 1;
        slot.state = node::SlotState::failed;
    }
    ~FailingNode() {
        if (node_) return;
        std::filesystem::remove(log_);
        std::filesystem::rename(log_ + ".away", log_);
    }
    FailingNode(const FailingNode&) = delete;
    FailingNode& operator=(const FailingNode&) = delete;

private:
    const std::string log_;
    std::optional<node::Staging> node_;
};

}  // namespace

TEST_CASE("a node that cannot save ends the wait of all others, which get its error") {
    for (const int nodes : {2, 3})
        for (const bool agent_is_gone : {true, false}) {
            CAPTURE(nodes);
            CAPTURE(agent_is_gone);
            const test::TempDirectory folder;
            auto options = options_in(folder, nodes, 0);
            options.stall_wait = 30s;
            StoppedAgents agents;
            std::optional<FailingNode> failing;
            test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
                Rank here(std::move(world), options);
                here.once([&] { agents.stop(staged(options)); });
                CHECK(here.save(1).value().kept);
                here.once([&] { failing.emplace(test::staging_of(options, nodes - 1), agent_is_gone); });
                const auto saved = here.save(2);
                CHECK_FALSE(saved);
                const auto text = saved ? "saved" : saved.error().text();
                CHECK_MESSAGE(text.find(agent_is_gone ? "no agent on " : "the disk has burnt down") != text.npos, text);
                CHECK_MESSAGE(text.find("(reported by rank 2)") != text.npos, text);
                here.once([&] {
                    failing.reset();
                    agents.go_on();
                });
                here.stream.wait_committed(60s).value();
                CHECK(here.save(2).value().kept);
                here.session.close().value();
            });
            CHECK(committed(options) == std::vector<std::int64_t>{2, 1});
        }
}

TEST_CASE("one node waits long for its slot and the others not at all: all save") {
    for (const int nodes : {2, 3}) {
        const test::TempDirectory folder;
        auto options = options_in(folder, nodes, 0);
        StoppedAgents agents;
        bool has_waited = false;
        options.log = [&](const std::string& line) {
            if (line.find("still waiting after ") == line.npos || line.find("a slot for step 2") == line.npos) return;
            has_waited = true;
            agents.go_on();
        };
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            Rank here(std::move(world), options, {.keep = 0});
            here.once([&] { agents.stop({test::staging_of(options, 0)}); });
            CHECK(here.save(1).value().kept);
            CHECK(here.save(2).value().kept);
            here.session.close().value();
        });
        CHECK(has_waited);
        CHECK(committed(options) == std::vector<std::int64_t>{2, 1});
    }
}

TEST_CASE("all ranks are killed while their step drains: the agents finish and commit alone") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes, slow);
        {
            const MidDrain application(ranks, options);
            CHECK(committed(options).empty());
        }
        CHECK(committed(options).empty());
        wait_for_agents(options);
        CHECK(committed(options) == std::vector<std::int64_t>{5});
        const auto listing = forebay_command("ls --json " + options.run);
        CHECK_MESSAGE(listing.find("\"step\": 5") != std::string::npos, listing);
    }
}

TEST_CASE("the agent is killed while it drains: the next save starts another, which commits") {
    for (const auto policy : {Policy::wait, Policy::skip, Policy::newest_only}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, 1, slow);
        Rank here(comm::alone(), options, {.policy = policy, .keep = 0});
        here.save(1).value();
        wait_until([&] { return here.session.draining(); });
        kill_agents(options);
        CHECK(committed(options).empty());
        CHECK(here.save(2).value().kept == (policy == Policy::wait));
        here.stream.wait_committed(60s).value();
        CHECK(committed(options) ==
              (policy == Policy::wait ? std::vector<std::int64_t>{2, 1} : std::vector<std::int64_t>{1}));
        CHECK_FALSE(here.session.draining());
        here.session.close().value();
    }
}

TEST_CASE("the agent gives way to the ranks") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, 1, 0);
    Rank here(comm::alone(), options);
    here.save(1).value();
    here.stream.wait_committed(60s).value();
    CHECK(::sched_getscheduler(test::agent_of(staged(options).at(0))) == SCHED_BATCH);
    here.session.close().value();
}

TEST_CASE("skipping saves alone bring a killed agent back") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, 1, slow);
    Rank here(comm::alone(), options, {.policy = Policy::skip, .keep = 0});
    here.save(1).value();
    wait_until([&] { return here.session.draining(); });
    kill_agents(options);
    std::int64_t step = 2;
    wait_until([&] { return here.save(step++).value().kept; });
    here.session.close().value();
    CHECK(committed(options) == std::vector<std::int64_t>{step - 1, 1});
}

TEST_CASE("the agents are killed while they drain: wait_committed and close bring others") {
    for (const bool closes : {false, true}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, 2, slow);
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            const auto own = world->split(0);
            Rank here(std::move(world), options);
            here.save(1).value();
            while (!here.session.draining()) std::this_thread::sleep_for(1ms);
            own->barrier();
            if (own->rank() == 0) kill_agents(options);
            own->barrier();
            if (!closes) here.stream.wait_committed(60s).value();
            here.session.close().value();
        });
        CHECK(committed(options) == std::vector<std::int64_t>{1});
        CHECK(staged(options).empty());
    }
}

TEST_CASE("application and agents are killed: forebay drain commits what was sealed") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes, slow);
        {
            const MidDrain application(ranks, options);
            const auto in_use = forebay_command("drain " + staged(options).front(), 2);
            CHECK_MESSAGE(in_use.find("another session (process ") != std::string::npos, in_use);
        }
        kill_agents(options);
        CHECK(committed(options).empty());
        // The part of one node is not a snapshot: exit code 1, and it stays staged.
        for (const auto& directory : staged(options)) {
            const bool last = directory == staged(options).back();
            const auto output = forebay_command("drain " + directory, last ? 0 : 1);
            CHECK_MESSAGE(output.find("restart@5") != std::string::npos, output);
        }
        CHECK(committed(options) == std::vector<std::int64_t>{5});
        const auto rest = forebay_command("drain all --staging " + folder.path());
        CHECK_MESSAGE(staged(options).empty(), rest);
    }
}

TEST_CASE("application and agents are killed: the next session commits what was sealed, and restarts from it") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        auto options = options_in(folder, nodes, slow);
        { const MidDrain application(ranks, options); }
        kill_agents(options);
        CHECK(committed(options).empty());
        options.agent.rate_bytes_per_second = 0;
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            Rank here(std::move(world), options);
            CHECK(here.restore() == 5);
            here.session.close().value();
        });
        CHECK(committed(options) == std::vector<std::int64_t>{5});
        CHECK(staged(options).empty());
    }
}
