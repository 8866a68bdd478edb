// Goal: a process that waits for a file learns that it is made, why it is not, or that nobody makes it. Runs of earlier
// writers are deleted or finished, but never under a living writer or maker.
// Method: runs made by hand; a maker is its lock and its marks, or a script in place of `forebay`.

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "bindings/compat/made/making.hpp"
#include "core/sys/store.hpp"
#include "path/node/run_lock.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;

namespace {

namespace fs = std::filesystem;

struct Beside {
    test::TempDirectory folder;
    made::Making making{.run = made::FileRun(folder / "file"), .settings = {}, .command = {"h5part", folder / "file"}};

    Beside() {
        fs::create_directory(making.run.path());
        making.settings.options.close_wait = std::chrono::milliseconds(0);
        making.settings.program = "/bin/true";
    }
    const made::FileRun& run() const { return making.run; }
    void mark(const std::string& path, const std::string& text = "") const { std::ofstream(path) << text; }
    bool has_run() const { return fs::exists(run().path()); }
    // A maker that runs `lines` in the run, and is then ready.
    void script(const std::string& lines) {
        making.settings.program = folder / "maker";
        std::ofstream(making.settings.program) << "#!/bin/sh\ncd " << run().path() << "\n" << lines << "\n";
        fs::permissions(making.settings.program, fs::perms::owner_all);
        making.settings.options.close_wait = std::chrono::seconds(7);
    }
};

bool says(const Result<>& result, const std::string& part) {
    return !result && result.error().text().find(part) != std::string::npos;
}

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("await: the file is made when the mark is there or the run is gone") {
    const Beside place;
    place.mark(place.run().made_path());
    CHECK(says(place.making.await(), "the process that made it has ended"));  // somebody has removed the file
    place.mark(place.run().file());
    CHECK(place.making.await());
    fs::remove_all(place.run().path());
    CHECK(place.making.await());
}

TEST_CASE("await: a run that its maker deletes is gone when the wait ends, by whichever look") {
    constexpr int rounds = 60, waiters_count = 16;
    for (int round = 0; round < rounds; ++round) {
        Beside place;
        place.making.settings.options.close_wait = std::chrono::seconds(7);
        place.mark(place.run().made_path());
        place.mark(place.run().file());
        for (int i = 0; i < 30; ++i) place.mark(place.run().path() + "/" + std::to_string(i));
        auto lock = node::RunLock::take(place.run().finish_lock()).value();
        std::atomic<int> waited = 0;
        std::vector<std::thread> waiters;
        for (int i = 0; i < waiters_count; ++i)
            waiters.emplace_back([&] {
                if (place.making.await() && !fs::exists(place.run().gone_path())) ++waited;
            });
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const auto removed = sys::remove_tree_at_once(sys::posix_store(), place.run().path());
        lock.release();
        for (auto& waiter : waiters) waiter.join();
        REQUIRE(removed);
        REQUIRE(waited == waiters_count);
    }
}

TEST_CASE("await: the maker's own reason, an end without one, and a wait that was too short") {
    const Beside place;
    CHECK(says(place.making.await(), "the process that made it has ended."));
    CHECK(says(place.making.await(), "Next: forebay h5part " + place.run().file() + ". The log is "));
    {
        const auto maker = node::RunLock::take(place.run().finish_lock()).value();
        CHECK(says(place.making.await(), "after 0 s it is still being made"));
    }
    const Error disk_full{ErrorKind::retry, "the disk is full", "the run", "make room"};
    place.mark(place.run().failed_path(), disk_full.text());
    CHECK(place.making.await().error().text() == disk_full.text());
    CHECK(place.making.await().error().next == "make room");
    CHECK(place.making.await().error().kind == ErrorKind::retry);
}

TEST_CASE("start: the command gets the settings' words, and further ones") {
    Beside place;
    place.script("echo \"$*\" > made; : > ../file");
    place.making.settings.keep = true;
    place.making.more = {"--align", "4096"};
    REQUIRE(place.making.start());
    CHECK(text_of(place.run().made_path()) ==
          "h5part " + place.run().file() + " --background --wait 7 --keep --align 4096\n");
    CHECK(place.making.await());
}

TEST_CASE("start: a program that fails is told; one that finds another maker at work is not") {
    Beside place;
    place.script("exit 1");
    CHECK(says(place.making.start(), "its process did not start"));
    CHECK(says(place.making.start(), "Next: forebay h5part " + place.run().file()));
    const auto maker = node::RunLock::take(place.run().finish_lock()).value();
    CHECK(place.making.start());
}

TEST_CASE("start_if_needed: only where the file is not made and nobody makes it") {
    Beside place;
    place.script("echo started >> count");
    REQUIRE(place.making.start_if_needed());
    {
        const auto maker = node::RunLock::take(place.run().finish_lock()).value();
        REQUIRE(place.making.start_if_needed());
    }
    place.mark(place.run().made_path());
    place.mark(place.run().file());
    REQUIRE(place.making.start_if_needed());
    CHECK(text_of(place.run().path() + "/count") == "started\n");
}

TEST_CASE("remove_if_made: a run whose file is not made stays, and so does one with a maker") {
    const Beside place;
    REQUIRE(place.making.remove_if_made());
    CHECK(place.has_run());
    place.mark(place.run().made_path());
    REQUIRE(place.making.remove_if_made());
    CHECK(place.has_run());  // somebody has removed the file
    place.mark(place.run().file());
    {
        const auto maker = node::RunLock::take(place.run().finish_lock()).value();
        CHECK(place.making.remove_if_made().error().kind == ErrorKind::retry);
        CHECK(place.has_run());
    }
    REQUIRE(place.making.remove_if_made());
    CHECK_FALSE(place.has_run());
    CHECK(place.making.remove_if_made());
}

TEST_CASE("clear: what nobody is at is deleted, and a writer or a maker that lives keeps its run") {
    const Beside place;
    {
        const auto writer = node::RunLock::take(place.run().writer_lock()).value();
        CHECK(place.making.clear(false).error().kind == ErrorKind::refused);
        CHECK(says(place.making.clear(true), "is being written by another program"));
    }
    {
        const auto maker = node::RunLock::take(place.run().finish_lock()).value();
        CHECK(says(place.making.clear(false), "still being made"));
    }
    CHECK(place.has_run());
    REQUIRE(place.making.clear(false));
    CHECK_FALSE(place.has_run());
    CHECK(place.making.clear(false));
    CHECK(place.making.clear(true));
}

TEST_CASE("clear: with `finish` the file is made first, and its run stays where that fails") {
    Beside place;
    place.script("echo full > failed");
    CHECK(says(place.making.clear(true), "full"));
    CHECK(place.has_run());
    fs::remove(place.run().failed_path());
    place.script("echo made > ../seen; : > ../file; echo made > made");
    REQUIRE(place.making.clear(true));
    CHECK_FALSE(place.has_run());
    CHECK(fs::exists(place.folder / "seen"));
}
