// Goal: a session gets its agent from the keeper of its node, with the session's environment. Without a keeper, or if
// the keeper fails, the session knows it soon. A step of Slurm with tracked processes is recognised.
// Method: keeper and session are threads of this process. A script stands for the agent.

#include "path/agent/keeper.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/sys/private_file.hpp"
#include "path/node/staging.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

struct Node {
    test::TempDirectory folder;
    std::string home = node::staging_home(folder.path()).value();
    std::string directory = home + "/run7-0";

    Node() {
        ::setenv(agent::keeper_variable, "77-test", 1);
        sys::make_private_directory(directory).value();
    }
    ~Node() { ::unsetenv(agent::keeper_variable); }

    sys::Spawn spawn(const std::string& script) const {
        const auto program = folder / "program";
        std::ofstream(program) << "#!/bin/sh\n" << script;
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        return {.program = program,
                .arguments = {},
                .environment = {{"OF_SESSION", "a value"}},
                .environment_removed = {},
                .log_path = {}};
    }
    std::string text(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(folder / name).rdbuf();
        return text.str();
    }
};

struct Keeper {
    agent::KeeperDoor door;
    std::atomic<bool> ends{false};
    std::string hosted;
    std::jthread thread;

    explicit Keeper(const Node& node)
        : door(agent::KeeperDoor::open(node.folder.path(), "77-test").value()), thread([this] {
              while (!ends)
                  if (auto directory = door.serve(20ms); !directory.empty()) hosted = directory;
          }) {}
    ~Keeper() { ends = true; }
};

}  // namespace

TEST_CASE("the keeper starts the program of the session, with its environment") {
    const Node node;
    const auto spawn = node.spawn("echo \"$@ $OF_SESSION\" > " + node.folder.path() + "/seen\n");
    {
        Keeper keeper(node);
        CHECK(agent::has_keeper(node.directory));
        CHECK(agent::ask_keeper(node.directory, spawn, 20s).value());
        keeper.ends = true;
        keeper.thread.join();
        CHECK(keeper.hosted == node.directory);
    }
    CHECK(node.text("seen") == "agent --session " + node.directory + " a value\n");
    CHECK_FALSE(agent::has_keeper(node.directory));
}

TEST_CASE("without a keeper the session goes on at once, and a failure has a reason") {
    const Node node;
    CHECK_FALSE(agent::ask_keeper(node.directory, node.spawn("exit 0\n"), 20s).value());
    Keeper keeper(node);
    CHECK_FALSE(agent::KeeperDoor::open(node.folder.path(), "77-test"));
    const auto failed = agent::ask_keeper(node.directory, node.spawn("echo no room; exit 3\n"), 20s);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().text().find("no room") != std::string::npos);
    CHECK_FALSE(agent::ask_keeper(node.home + "/deeper/run7-0", node.spawn("exit 0\n"), 20s).value());
}

TEST_CASE("the name of a killed keeper is taken again") {
    const Node node;
    const auto path = node.home + "/keeper.77-test";
    { const auto killed = sys::Listener::open_local(path).value(); }
    CHECK(std::filesystem::exists(path));
    CHECK_FALSE(agent::has_keeper(node.directory));
    const Keeper keeper(node);
    CHECK(agent::has_keeper(node.directory));
}

TEST_CASE("a keeper removes the sockets of killed keepers, and no other socket") {
    const Node node;
    const auto killed = node.home + "/keeper.76-killed", starting = node.home + "/keeper.76-starting";
    const auto lives = node.home + "/keeper.76-lives", other = node.home + "/other";
    const auto listener = sys::Listener::open_local(lives).value();
    for (const auto& path : {killed, starting, other}) static_cast<void>(sys::Listener::open_local(path).value());
    const auto long_ago = std::filesystem::file_time_type::clock::now() - 1h;
    for (const auto& path : {killed, lives, other}) std::filesystem::last_write_time(path, long_ago);
    const Keeper keeper(node);
    CHECK_FALSE(std::filesystem::exists(killed));
    for (const auto& path : {starting, lives, other}) CHECK(std::filesystem::exists(path));
}

TEST_CASE("a step whose processes are tracked ends its agents") {
    const std::string v1 = "9:name=systemd:/\n6:freezer:/slurm_n2/uid_1000/job_12/step_0\n0::/\n";
    const std::string v2 = "0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0\n";
    const std::string only_memory = "6:freezer:/\n4:memory:/slurm/uid_1000/job_12/step_0/task_0\n0::/\n";
    CHECK(agent::ends_with_step("12", "0", v1));
    CHECK(agent::ends_with_step("12", "0", v2));
    CHECK_FALSE(agent::ends_with_step("12", "0", only_memory));
    CHECK_FALSE(agent::ends_with_step("13", "0", v2));
    CHECK_FALSE(agent::ends_with_step("12", "", v2));
    CHECK_FALSE(agent::ends_with_step("12", "0", ""));
}
