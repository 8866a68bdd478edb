// Goal: files that programs of the job put into a spool are packed by the next server or drain of its staging
// directory, or they stay and are reported by name, once. No file is removed with an unpacked spool. Method: keepers of
// spools with short pauses, over the simulated disk; a user who is not root; a program whose working directory is the
// spool; a forwarder over another disk than this machine's.

#include "path/agent/spool.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "core/forward/server.hpp"
#include "path/agent/leftovers.hpp"
#include "support/ordinary_user.hpp"
#include "support/packed_files.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/soon.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using agent::SpoolKeeper;
using test::Contents;
using test::put;
using test::SimStore;
namespace fs = std::filesystem;

namespace {

const std::string run = "/run7", host = "node", stream = "packed-node-0";
constexpr agent::SpoolPace soon_packed{.look = 1ms, .wait_max = 1ms, .error_pause = 1ms};

const auto silent = [](const agent::Event&) {};

/// A staging directory whose session has died.
struct Left {
    explicit Left(const std::string& name, const std::string& to = run)
        : directory(folder / name), session{.run = to, .host = host, .agent = {}} {
        REQUIRE(node::Staging::create(node::LockedDirectory::lock(directory, "run").value(), session, 0ms));
        fs::create_directory(spool);
    }
    Result<> finish(sys::Store& store) const { return SpoolKeeper(store, directory, session, silent).finish(); }
    std::vector<std::string> names() const {
        auto names = sys::names_in(directory).value();
        std::erase_if(names, [](const std::string& name) { return !name.starts_with("spool"); });
        return names;
    }

    test::TempDirectory folder{"/dev/shm"};
    const std::string directory;
    const fs::path spool = directory + "/spool";
    const node::SessionFile session;
};

}  // namespace

TEST_CASE("a file that cannot be read holds up no other, and is told once by name") {
    const auto output = test::told_by_ordinary_user([]() -> std::string {
        const Left left("x-0");
        SimStore disk(run);
        std::mutex mutex;
        std::vector<std::string> log;
        std::string text;
        {
            SpoolKeeper keeper(disk, left.directory, left.session, agent::to_log([&](const std::string& line) {
                                   const std::lock_guard lock(mutex);
                                   log.push_back(line);
                               }),
                               soon_packed);
            put(left.spool / "bad", "closed");
            fs::permissions(left.spool / "bad", fs::perms::none);
            for (const auto* name : {"good1", "good2", "good3", "good4"}) {
                put(left.spool / (std::string(".") + name), name);
                fs::rename(left.spool / (std::string(".") + name), left.spool / name);
                if (!test::soon([&] { return !fs::exists(left.spool / name); })) return std::string(name) + " stays";
            }
            std::this_thread::sleep_for(20ms);  // some more rounds
            {
                const std::lock_guard lock(mutex);
                for (const auto& line : log) text += line.find("bad: ") != line.npos ? "told, " : "";
            }
            const auto finished = keeper.finish();
            const std::string before = "is not packed: bad (bad: open: ",
                              problem = finished ? "" : finished.error().text();
            const auto at = problem.find(before);
            text += at != problem.npos && problem.find("bad (bad: ", at + before.size()) == problem.npos
                        ? "told at the end, "
                        : problem;
        }
        return text + std::to_string(test::packed_in(disk, run, stream).size()) + " packed";
    });
    CHECK(output == "told, told at the end, 4 packed");
}

TEST_CASE("a target that fails is told once, and again when it fails in another way or after it has worked") {
    const Left left("x-0");
    SimStore disk(run);
    struct Failing : test::PassingStore {
        using PassingStore::PassingStore;
        Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
            const auto error = kind.load();
            if (error != ErrorKind::broken && path.ends_with(".tmp")) return ++failures, Error{error, "open: " + path};
            return PassingStore::open(path, access);
        }
        std::atomic<ErrorKind> kind = ErrorKind::retry;
        std::atomic<int> failures = 0;
    } store(disk);
    std::atomic<int> count = 0;
    put(left.spool / "a", "a");
    SpoolKeeper keeper(
        store, left.directory, left.session,
        [&](const agent::Event& event) { count += event.what == agent::What::not_packed ? 1 : 0; }, soon_packed);
    const auto fail_on = [&](ErrorKind kind) {
        store.kind = kind;
        store.failures = 0;
        REQUIRE(test::soon([&] { return store.failures > 3; }));
    };
    fail_on(ErrorKind::retry);
    CHECK(count.load() == 1);
    fail_on(ErrorKind::full);
    CHECK(count.load() == 2);
    store.kind = ErrorKind::broken;  // none
    REQUIRE(test::soon([&] { return fs::is_empty(left.spool); }));
    put(left.spool / "b", "b");
    fail_on(ErrorKind::full);
    CHECK(count.load() == 3);
}

TEST_CASE("two nodes of one host name pack into one stream at once: all of both is there") {
    for (int round = 0; round < 10; ++round) {
        const Left a("a-0"), b("b-0");
        SimStore disk(run);
        // A host whose clock was ahead has packed once: both packers take the same next step.
        REQUIRE(disk.make_directories(run + "/" + stream + "/step-9000000000000"));
        for (int i = 0; i < 5; ++i) {
            put(a.spool / ("a" + std::to_string(i)), "of a");
            put(b.spool / ("b" + std::to_string(i)), "of b");
        }
        std::thread other([&] { a.finish(disk).value(); });
        b.finish(disk).value();
        other.join();
        REQUIRE(disk.remove_tree(run + "/" + stream + "/step-9000000000000"));
        CHECK(test::packed_in(disk, run, stream).size() == 10);
    }
}

TEST_CASE("at its end a spool is closed: programs are refused, what is unfinished goes, what an earlier end left too") {
    const Left left("x-0");
    SimStore disk(run);
    put(left.directory + "/spool.closed-0123456789abcdef/old", "of an end that was cut");
    put(left.spool / "d/new", "new");
    put(left.spool / "d/.unfinished", "-");
    put(left.spool / ".d/unfinished", "-");
    fs::create_symlink("new", left.spool / "link");
    fs::create_directory(left.spool / "d/empty");
    REQUIRE(left.finish(disk));
    CHECK(left.names().empty());
    CHECK(test::packed_in(disk, run, stream) == Contents{{"old", "of an end that was cut"}, {"d/new", "new"}});
    REQUIRE(agent::remove_spools(left.directory));  // it may be called again
}

TEST_CASE("a spool that is closed and not packed: by its path it is gone, and what is in it stays and is told") {
    const Left left("x-0");
    SimStore disk(run);
    put(left.spool / "early", "early");
    put(left.spool / ".unfinished", "-");
    const int at = ::open(left.spool.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(at >= 0);
    disk.fail(test::Op::open, 0, {ErrorKind::full, "No space left"}, 1000);
    CHECK(left.finish(disk).error().kind == ErrorKind::full);
    CHECK_FALSE(fs::exists(left.spool));
    // Written by a program whose working directory is the spool.
    const int file = ::openat(at, "late", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(::write(file, "late", 4) == 4);
    ::close(file);
    ::close(at);
    const auto removed = agent::remove_spools(left.directory);
    REQUIRE_FALSE(removed);
    CHECK(removed.error().kind == ErrorKind::retry);
    CHECK_MESSAGE(removed.error().text().find("2 files of the spool in") != std::string::npos, removed.error().text());
    CHECK_MESSAGE(removed.error().text().find(": early, late.\n  Safe:") != std::string::npos, removed.error().text());
    CHECK(removed.error().text().find("forebay drain " + left.directory) != std::string::npos);
    REQUIRE(left.names().size() == 1);
    SimStore other(run);
    REQUIRE(left.finish(other));
    CHECK(test::packed_in(other, run, stream) == Contents{{"early", "early"}, {"late", "late"}});
    CHECK(left.names().empty());
}

TEST_CASE("a program that never rests: what it was not refused is packed or stays, and the end comes") {
    const Left left("x-0");
    SimStore disk(run);
    const int at = ::open(left.spool.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    std::atomic<bool> stop = false;
    std::atomic<std::size_t> finished = 0;
    std::thread program([&] {
        for (; !stop; ++finished) {
            const int file = ::openat(at, ".w", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
            if (file < 0) return;
            ::close(file);
            if (::renameat(at, ".w", at, ("f" + std::to_string(finished)).c_str()) != 0) return;
            std::this_thread::yield();
        }
    });
    REQUIRE(test::soon([&] { return finished > 10; }));
    static_cast<void>(left.finish(disk));  // it may find files that came after its last look
    stop = true;
    program.join();
    ::close(at);
    left.finish(disk).value();
    CHECK(test::packed_in(disk, run, stream).size() == finished);
}

TEST_CASE("a spool that cannot be looked at is not empty") {
    const auto output = test::told_by_ordinary_user([]() -> std::string {
        const Left left("x-0");
        SimStore disk(run);
        put(left.spool / "d/x", "closed");
        put(left.spool / "good", "open");
        fs::permissions(left.spool / "d", fs::perms::none);
        const auto finished = left.finish(disk), removed = agent::remove_spools(left.directory);
        std::string text = finished || removed ? "empty" : "told";
        if (!removed && removed.error().text().find("d/: open of directory: ") == std::string::npos)
            text += ", without the name: " + removed.error().text();
        fs::permissions(left.directory + "/" + left.names().at(0) + "/d", fs::perms::owner_all);
        left.finish(disk).value();
        return text + ", " + std::to_string(test::packed_in(disk, run, stream).size()) + " packed";
    });
    CHECK(output == "told, 2 packed");
}

TEST_CASE("drained through a forwarder, a spool is packed where the forwarder writes") {
    const test::TempDirectory here;
    const auto far_run = here / "run7";
    const Left left("x-0", far_run);
    put(left.spool / "a", "of a");
    SimStore far;
    REQUIRE(far.make_directories(far_run));
    const std::string token = "0123456789abcdef0123456789abcdef";
    auto server = forward::Server::start(far, "127.0.0.1:0", {.run = far_run, .token = token}).value();
    const auto drained = agent::drain_leftover(
        left.directory, {},
        {.remove = true, .forwarding = {.to = {"127.0.0.1:" + std::to_string(server.port())}, .token = token}});
    REQUIRE(drained);
    CHECK(drained->empty());
    CHECK(server.stop());
    CHECK(test::packed_in(far, far_run, stream) == Contents{{"a", "of a"}});
    CHECK_FALSE(fs::exists(left.directory));
    CHECK_FALSE(fs::exists(far_run));
}
