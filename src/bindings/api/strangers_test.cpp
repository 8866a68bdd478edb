// Goal: another user of the node can neither read, replace, delete, pre-create nor block staged files.
// Method: processes of two users in a directory with mode 1777, as /dev/shm has. Needs root, else it is skipped.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>

#include "bindings/api/state.hpp"
#include "path/catalog/catalog.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

constexpr uid_t owner = 54'321, stranger = 54'322;

/// The exit code of `body` in a process of that user; 99 if it throws.
int as_user(uid_t user, const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgroups(0, nullptr) != 0 || ::setgid(user) != 0 || ::setuid(user) != 0) ::_exit(98);
        try {
            ::_exit(body());
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            ::_exit(99);
        }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}

struct Node {
    Node() {
        fs::permissions(folder.path(), static_cast<fs::perms>(0755));
        fs::create_directory(shared);
        fs::permissions(shared, static_cast<fs::perms>(01777));
        fs::create_directory(folder / "target");
        REQUIRE(::chown((folder / "target").c_str(), owner, owner) == 0);
    }
    std::string home() const { return shared + "/forebay-" + std::to_string(owner); }

    test::TempDirectory folder;
    std::string shared = folder / "shm";
};

/// Saves one step and commits it. Calls `staged` with the staging directory while the session is open.
int save_as_owner(const Node& node, const std::function<void(const std::string&)>& staged) {
    return as_user(owner, [&] {
        Options options{.run = node.folder / "target/run", .staging = node.shared};
        options.agent.mode = AgentMode::thread;
        auto session = Session::open(options).value();
        auto stream = session.stream("restart", {.keep = 0}).value();
        std::vector<double> data(1000, 3.5);
        stream.array("u", f64, {1000}, {packed({{0}, {1000}}, data.data())}).value();
        stream.save(1).value();
        stream.wait_committed(std::chrono::seconds(60)).value();
        staged(node::staging_directories(node.shared).value().at(0));
        session.close().value();
        return 0;
    });
}

void check_committed(const Node& node) {
    const auto all = catalog::snapshots(sys::posix_store(), node.folder / "target/run", "restart").value();
    REQUIRE(all.size() == 1);
    CHECK(catalog::verify(sys::posix_store(), all.front(), {}).value().damage.empty());
}

}  // namespace

TEST_CASE("a name that another user has taken, in any form, blocks nobody, and nothing is staged there") {
    const std::vector<std::function<bool(const std::string&)>> ways{
        [](const std::string& name) { return ::mkdir(name.c_str(), 0777) == 0 && ::chmod(name.c_str(), 0777) == 0; },
        [](const std::string& name) {
            return ::mkdir((name + "-trap").c_str(), 0777) == 0 &&
                   ::symlink((name + "-trap").c_str(), name.c_str()) == 0;
        },
        [](const std::string& name) { return ::close(::open(name.c_str(), O_CREAT | O_WRONLY, 0666)) == 0; },
        [](const std::string& name) { return ::mkfifo(name.c_str(), 0666) == 0; },
    };
    for (std::size_t way = 0; way < ways.size(); ++way) {
        CAPTURE(way);
        const Node node;
        REQUIRE(as_user(stranger, [&] { return ways[way](node.home()) ? 0 : 1; }) == 0);
        CHECK(save_as_owner(node, [&](const std::string& staged) {
                  if (staged.starts_with(node.home() + "/")) throw std::runtime_error("staged in a stranger's place");
              }) == 0);
        check_committed(node);
        if (fs::is_directory(node.home())) CHECK(fs::is_empty(node.home()));
    }
}

TEST_CASE("what is staged cannot be listed, read, written, locked, replaced or removed by another user") {
    const Node node;
    int asked[2], answered[2];
    REQUIRE((::pipe(asked) == 0 && ::pipe(answered) == 0));
    int saved = -1;
    std::thread owner_lives([&] {
        saved = save_as_owner(node, [&](const std::string& staged) {
            char byte = 0;
            if (::write(asked[1], staged.data(), staged.size()) < 0 || ::read(answered[0], &byte, 1) != 1)
                throw std::runtime_error("no answer");
        });
    });
    ::pollfd wait{asked[0], POLLIN, 0};
    std::string staged(4096, '\0');
    const auto length = ::poll(&wait, 1, 60'000) == 1 ? ::read(asked[0], staged.data(), staged.size()) : 0;
    if (length <= 0) {
        owner_lives.join();
        FAIL("the owner ended with ", saved);
    }
    staged.resize(static_cast<std::size_t>(length));
    REQUIRE(fs::exists(staged));
    std::vector<std::string> places{staged, staged.substr(0, staged.find_last_of('/'))};
    for (const auto& entry : fs::directory_iterator(staged)) places.push_back(entry.path().string());
    CHECK(places.size() > 5);  // among them a node file, the control page, two locks, session.json
    for (const auto& place : places) {
        CAPTURE(place);
        const auto refused = [&](const std::function<bool()>& act) {
            return as_user(stranger, [&] { return act() ? 1 : 0; }) == 0;
        };
        CHECK(refused([&] { return ::open(place.c_str(), O_RDONLY) >= 0; }));
        CHECK(refused([&] { return ::open(place.c_str(), O_RDWR) >= 0; }));
        CHECK(refused([&] { return ::open((place + "/x").c_str(), O_RDWR | O_CREAT, 0600) >= 0; }));
        CHECK(refused([&] { return ::unlink(place.c_str()) == 0 || ::rmdir(place.c_str()) == 0; }));
        CHECK(refused([&] { return ::rename(place.c_str(), (node.shared + "/mine").c_str()) == 0; }));
        CHECK(refused([&] { return ::rename(node.shared.c_str(), place.c_str()) == 0; }));
        CHECK(refused([&] { return ::chmod(place.c_str(), 0777) == 0; }));
        CHECK(refused([&] { return ::link(place.c_str(), (node.shared + "/mine").c_str()) == 0; }));
    }
    CHECK(::write(answered[1], "x", 1) == 1);
    owner_lives.join();
    CHECK(saved == 0);
    check_committed(node);
}

int main(int argc, char** argv) {
#ifdef __SANITIZE_THREAD__
    std::puts("skipped: the thread sanitizer cannot follow a child that starts threads");
    return 77;
#endif
    if (::geteuid() != 0) {
        std::puts("skipped: processes of two users need root");
        return 77;
    }
    return doctest::Context(argc, argv).run();
}
