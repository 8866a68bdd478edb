// Goal: one program writes a file at a time, and all its ranks get the same answer. Files are finished in their order,
// even if one of them failed. A run that could not be finished stays.
// Method: ranks are threads, sessions are functions of the test, makers are the marks that they leave.

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "bindings/compat/made/writers.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;

namespace {

namespace fs = std::filesystem;

struct File : made::WrittenFile {
    std::function<Result<>()> close = {};
    Result<> close_session() const { return close(); }
};

made::Making making_of(const test::TempDirectory& folder, const std::string& name) {
    made::Making making{.run = made::FileRun(folder / name), .settings = {}, .command = {}};
    making.settings.options.staging = folder.path();
    making.settings.options.close_wait = std::chrono::milliseconds(0);
    making.settings.program = "/bin/true";
    return making;
}

File file_of(const test::TempDirectory& folder, const std::string& name, const std::string& key,
             std::function<Result<>()> close) {
    return {{.ranks = {comm::alone(), key}, .making = making_of(folder, name)}, std::move(close)};
}

void make(const File& file) {
    fs::create_directory(file.making.run.path());
    std::ofstream(file.making.run.made_path()) << "made\n";
    std::ofstream(file.making.run.file()) << "data";
}

}  // namespace

TEST_CASE("claim: the first rank clears and locks, and every rank of a second program is refused") {
    for (const int ranks : {1, 2, 3, 5}) {
        const test::TempDirectory folder;
        std::atomic<int> cleared = 0;
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> group) {
            const std::shared_ptr<comm::Group> world = std::move(group);
            const auto clear = [&] {
                ++cleared;
                return sys::posix_store().make_directories(folder / "m.forebay");
            };
            File first{{.ranks = {world, "1"}, .making = making_of(folder, "m")}};
            REQUIRE(made::claim(first, clear));
            CHECK(first.lock.held() == (world->rank() == 0));
            CHECK(first.making.settings.options.run == folder / "m.forebay");
            File second{{.ranks = {world, "1"}, .making = making_of(folder, "m")}};
            const auto refused = made::claim(second, clear);
            REQUIRE_FALSE(refused);
            CHECK(refused.error().kind == ErrorKind::refused);
            const auto failed = made::claim(second, [] { return Result<>(Error{ErrorKind::full, "full"}); });
            CHECK(failed.error().kind == ErrorKind::full);
        });
        CHECK(cleared == 2);
    }
}

TEST_CASE("finish: in order, those that are wanted, each one though another failed") {
    const test::TempDirectory folder;
    std::string order;
    made::Writers<File> writers;
    const auto add = [&](const std::string& name, const std::string& key, Result<> closed) {
        auto file = file_of(folder, name, key, [&order, name, closed] {
            order += name;
            return closed;
        });
        make(file);
        writers.add(std::move(file));
    };
    add("a", "", {});
    add("b", "0,1,", {});
    add("c", "", Error{ErrorKind::full, "c failed"});
    add("d", "", Error{ErrorKind::retry, "d failed"});
    CHECK(writers.count({comm::alone(), ""}) == 3);
    const auto finished = writers.finish_all(made::Which::alone);
    REQUIRE_FALSE(finished);
    CHECK(finished.error().what == "c failed");
    CHECK(order == "acd");
    CHECK_FALSE(fs::exists(folder / "a.forebay"));
    for (const auto* name : {"b", "c", "d"}) CHECK(fs::exists(folder / (std::string(name) + ".forebay")));
    CHECK(writers.count({comm::alone(), ""}) == 0);
    REQUIRE(writers.finish([](const File& file) { return file.name().ends_with("b"); }));
    CHECK(order == "acdb");
    CHECK_FALSE(fs::exists(folder / "b.forebay"));
}

TEST_CASE("finish: a run that is to be kept stays, and so does one whose file is not made") {
    const test::TempDirectory folder;
    auto kept = file_of(folder, "kept", "", [] { return Result<>(); });
    make(kept);
    kept.making.settings.keep = true;
    CHECK(made::finish(kept, {}));
    CHECK(fs::exists(kept.making.run.made_path()));
    auto lost = file_of(folder, "lost", "", [] { return Result<>(); });
    fs::create_directory(lost.making.run.path());
    const auto finished = made::finish(lost, {});
    REQUIRE_FALSE(finished);
    CHECK(finished.error().what.find("was not made") != std::string::npos);
    CHECK(fs::exists(lost.making.run.path()));
}

TEST_CASE("finish: the name is free once the session is closed, or once the file is made") {
    for (const bool until_made : {false, true}) {
        const test::TempDirectory folder;
        auto file = file_of(folder, "m", "", [] { return Result<>(); });
        fs::create_directory(file.making.run.path());
        file.lock = node::RunLock::take(file.making.run.writer_lock()).value();
        file.is_locked_until_made = until_made;
        CHECK_FALSE(made::finish(file, {}));  // nobody makes it
        CHECK(file.lock.held() == until_made);
    }
}
