// Goal: a new session waits for a killed session that is still ending, and for its agent, which does not know yet;
// beside a living session it is refused. Method: processes that hold the locks and are stopped while they end.

#include "path/node/holder_wait.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/process.hpp"
#include "path/node/staging.hpp"
#include "support/dying_process.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using node::DirectoryLocking;
using node::LockedDirectory;
using node::Staging;

namespace {

Staging staged_by(const std::string& directory, std::int64_t process) {
    return Staging::create(LockedDirectory::lock(directory, "/run7").value(),
                           {.run = "/run7", .host = "nid1", .process = process, .agent = {}}, 0ms)
        .value();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a holder is waited for while it is ending, for a moment if it lives, and never if it is this process") {
    test::DyingProcess child([] {});
    const auto now = sys::Clock::now();
    const node::HolderWait wait("/lock", 2s), at_once("/lock", 0s);
    CHECK(contains(wait.turn(child.pid(), now + 1s).value(), "/lock: at most 2 s"));
    CHECK_FALSE(wait.turn(child.pid(), now + 3s));
    CHECK_FALSE(at_once.turn(child.pid(), now + 1s));
    CHECK(wait.turn(0, now + 1s));
    CHECK_FALSE(wait.turn(0, now + 3s));
    CHECK_FALSE(wait.turn(sys::process_id(), now));
    child.kill();
    CHECK(contains(at_once.turn(child.pid(), now + 59s).value(), std::to_string(child.pid())));
    CHECK_FALSE(wait.turn(child.pid(), now + 62s));
}

TEST_CASE("the staging of a session that is ending is locked when it has ended; that of one that lives is refused") {
    const test::TempDirectory base;
    const auto directory = base / "run7-8d1f0baa-0";
    test::DyingProcess session([&] {
        static std::optional<Staging> kept;
        kept.emplace(staged_by(directory, sys::process_id()));
    });
    DirectoryLocking for_living(directory, "/run7", 0ms);
    const auto refused = for_living.turn().value();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(contains(refused.error().text(), "process " + std::to_string(session.pid())));
    CHECK(node::remove_leftover(directory).error().kind == ErrorKind::refused);

    session.kill();
    DirectoryLocking locking(directory, "/run7", 0ms);
    REQUIRE_FALSE(locking.turn());
    CHECK(contains(locking.holder(), "process " + std::to_string(session.pid())));
    CHECK(contains(locking.holder(), "is ending"));
    REQUIRE_FALSE(locking.turn());
    session.let_end();
    auto taken = locking.turn();
    REQUIRE(taken);
    CHECK(taken->value().path() == directory);
}

TEST_CASE("a lock comes free while it is waited for, and the listener has heard whose it is") {
    const test::TempDirectory base;
    const auto lock = base / "lock";
    std::vector<std::string> heard;
    std::atomic<bool> is_waiting{false};
    pid_t holder = -1;
    // The tracer releases the process after its name was reported, so the test takes only as long as the report.
    std::thread tracer([&] {
        test::DyingProcess session([&] {
            static sys::FileLock kept;
            kept = sys::FileLock::take(lock).value();
        });
        session.kill();
        holder = session.pid();
        is_waiting = true;
        is_waiting.notify_all();
        while (is_waiting) std::this_thread::sleep_for(1ms);
    });
    is_waiting.wait(false);
    CHECK(node::await_free(lock, holder, [&](const std::string& line) {
              heard.push_back(line);
              is_waiting = false;
          }).value());
    tracer.join();
    REQUIRE(heard.size() == 1);
    CHECK(contains(heard[0], "process " + std::to_string(holder)));
    CHECK(contains(heard[0], "at most 60 s"));
}

TEST_CASE("what a dead session left goes although its agent does not know yet that the session is dead") {
    const test::TempDirectory base;
    const auto directory = base / "run7-8d1f0baa-0";
    static_cast<void>(staged_by(directory, 0x3fffffff));
    std::ofstream(directory + "/restart.0.h5") << "staged";
    auto agent = sys::FileLock::take(node::agent_lock_path(directory)).value();
    auto page = Staging::join(directory).value();
    SUBCASE("it ends when it is asked to") {
        std::thread serving([&] {
            while (page.control().ending.load() == 0) std::this_thread::sleep_for(1ms);
            agent.release();
        });
        CHECK(node::remove_leftover(directory, node::Unpacked::stay, 60s).has_value());
        serving.join();
        CHECK_FALSE(std::filesystem::exists(directory));
    }
    SUBCASE("it does not end") {
        const auto refused = node::remove_leftover(directory, node::Unpacked::stay, 10ms);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
        CHECK(contains(refused.error().text(), directory + "/agent.log"));
        CHECK(std::filesystem::exists(directory + "/restart.0.h5"));
    }
}
