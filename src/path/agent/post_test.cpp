// Goal: a dedicated agent serves each session that asks, reports why it cannot, and ends when all ranks have left, even
// with a session open. Method: the agent is a thread; staging directories are real.

#include "path/agent/post.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <list>
#include <memory>
#include <thread>

#include "core/base/limits.hpp"
#include "core/sys/machine.hpp"
#include "path/node/staging.hpp"
#include "support/processes.hpp"
#include "support/soon.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

struct Agent {
    explicit Agent(agent::Post& post) : thread([&post] { agent::serve(post, {}); }) {}
    std::jthread thread;
};

node::Staging staged_in(const test::TempDirectory& folder, const std::string& name) {
    const node::SessionFile file{.run = folder / ("run-" + name), .host = "here", .process = 1, .agent = {}};
    return node::Staging::create(node::LockedDirectory::lock(folder / name, file.run).value(), file, 0ms).value();
}

void end(node::Staging& staging) {
    staging.control().ending = 1;
    node::ring(staging.control().bell);
}

}  // namespace

TEST_CASE("sessions are served at once and one after another; the agent ends when all have left") {
    const test::TempDirectory folder;
    const auto post = std::make_unique<agent::Post>(2);
    Agent agent(*post);
    auto first = staged_in(folder, "a"), second = staged_in(folder, "b");
    for (auto* staging : {&first, &second}) {
        agent::ask(*post, staging->directory(), 10s).value();
        CHECK(staging->agent_lives());
    }
    end(first);
    CHECK(test::soon([&] { return !first.agent_lives(); }));
    CHECK(second.agent_lives());
    first.control().ending = 0;
    agent::ask(*post, first.directory(), 10s).value();
    CHECK(first.agent_lives());
    agent::leave(*post);
    CHECK(first.agent_lives());
    agent::leave(*post);  // both sessions are still open: nobody will end them
    agent.thread.join();
    CHECK_FALSE(first.agent_lives());
    CHECK_FALSE(second.agent_lives());
}

TEST_CASE("what cannot be served is told to who asked, and leaves the place to others") {
    const test::TempDirectory folder;
    const auto post = std::make_unique<agent::Post>(1);
    Agent agent(*post);
    for (std::size_t i = 0; i < 2 * agent::post_sessions_max; ++i) {
        const auto refused = agent::ask(*post, folder / "nothing", 10s);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::missing);
        CHECK(refused.error().text().find("session.json") != std::string::npos);
    }
    CHECK(agent::ask(*post, "/" + std::string(2000, 'x'), 10s).error().kind == ErrorKind::refused);
    std::list<node::Staging> all;
    for (std::size_t i = 0; i < agent::post_sessions_max; ++i) {
        all.push_back(staged_in(folder, std::to_string(i)));
        agent::ask(*post, all.back().directory(), 10s).value();
    }
    CHECK(agent::ask(*post, folder / "nothing", 10s).error().kind == ErrorKind::full);
    end(all.front());
    CHECK(test::soon([&] { return !all.front().agent_lives(); }));
    CHECK(test::soon([&] { return agent::ask(*post, folder / "nothing", 10s).error().kind == ErrorKind::missing; }));
    agent::leave(*post);
}

TEST_CASE("an agent that does not answer is given up") {
    const auto post = std::make_unique<agent::Post>(1);
    const auto silent = agent::ask(*post, "/nowhere", 50ms);
    REQUIRE_FALSE(silent);
    CHECK(silent.error().kind == ErrorKind::retry);
}

TEST_CASE("its log stays small: a long one is put aside") {
    const test::TempDirectory folder;
    const auto post = std::make_unique<agent::Post>(1);
    Agent agent(*post);
    auto staging = staged_in(folder, "a");
    const auto log = node::agent_log_path(staging.directory());
    { std::ofstream(log) << std::string(2 * limits::log_bytes_max, 'x'); }
    std::filesystem::permissions(log, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    agent::ask(*post, staging.directory(), 10s).value();
    CHECK(test::text_in(log).find("serves") != std::string::npos);
    CHECK(std::filesystem::file_size(log) < limits::log_bytes_max);
    CHECK(std::filesystem::file_size(log + ".1") == 2 * limits::log_bytes_max);
    agent::leave(*post);
}

TEST_CASE("an agent that is waited for long is named") {
    const auto post = std::make_unique<agent::Post>(1);
    std::string text;
    const auto say = [&](const std::string& line) {
        text = line;
        post->entries[0].state = agent::PostState::served;
        node::ring(post->news);
    };
    agent::ask(*post, "/staged", 600s, say).value();
    CHECK_MESSAGE(text.ends_with("for the dedicated agent of " + sys::host_name() + " to serve /staged"), text);
}
