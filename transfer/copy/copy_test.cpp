// Goal: a copy has everything that its source has, whatever was at the target before. An entry that cannot be copied is
// reported and has no final name.
// Method: copies small trees with each special case, on 1, 2 and 5 threads, and compares with compare_trees(), which
// has its own test. Includes targets with other entries under a name, leftovers of killed runs, and a source that
// changes all the time.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/temp_directory.hpp"
#include "transfer/compare/compare.hpp"
#include "transfer/copy/copy.hpp"

using namespace forebay;
using tree::EntryEvent;
namespace fs = std::filesystem;

namespace {

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A directory with each kind of entry, and names of one inode in two directories.
void make_tree(const std::string& path) {
    fs::create_directories(path + "/below/empty");
    write(path + "/file", "some bytes");
    write(path + "/below/other", std::string(100'000, 'x'));
    fs::create_hard_link(path + "/file", path + "/below/same");
    fs::create_symlink("below/nothing", path + "/link");
    fs::create_hard_link(path + "/below/other", path + "/other-too");
    write(path + "/sparse", "");
    fs::resize_file(path + "/sparse", 10 << 20);
    const auto folder = sys::open_posix_folder(path).value();
    folder->make_special("fifo", {.kind = sys::EntryKind::fifo}).value();
    folder->make_special("socket", {.kind = sys::EntryKind::socket}).value();
    folder->open_file("file").value()->set_times({1, 2}, {-300'000'000, 999'999'999}).value();
    folder->open_entry("fifo").value()->set_permissions(0640).value();
    folder->open_folder("below").value()->set_times({1, 2}, {3, 4}).value();
    folder->open_folder("below").value()->set_permissions(0555).value();
}

struct Outcome {
    tree::EntryLog entry_log;
    tree::CopyCounts counts;
    Result<> copied;
};

std::unique_ptr<Outcome> copy(const std::string& source, const std::string& target,
                              const tree::TreeCopyOptions& options = {.threads = 2}) {
    auto outcome = std::make_unique<Outcome>();
    outcome->copied = tree::copy_tree(source, target, options, outcome->entry_log, outcome->counts);
    return outcome;
}

void check_equal(const std::string& source, const std::string& target) {
    tree::EntryLog entry_log;
    tree::CompareCounts counts;
    REQUIRE(tree::compare_trees(source, target, {.threads = 2}, entry_log, counts));
    for (const auto& log_entry : entry_log.first()) FAIL_CHECK(log_entry.path << ": " << log_entry.why);
}

}  // namespace

TEST_CASE("copy: all is kept, and again nothing is done") {
    for (const std::uint32_t threads : {1u, 2u, 5u}) {
        CAPTURE(threads);
        const test::TempDirectory directory("/dev/shm");
        make_tree(directory / "source");
        const auto first = copy(directory / "source", directory / "target", {.threads = threads});
        REQUIRE(first->copied);
        CHECK_FALSE(first->entry_log.has_errors());
        CHECK(first->counts.entries == 10);
        CHECK(first->counts.copied == 6);
        CHECK(first->counts.linked == 2);
        check_equal(directory / "source", directory / "target");
        const auto again = copy(directory / "source", directory / "target", {.threads = threads});
        CHECK(again->counts.copied + again->counts.linked + again->counts.adjusted == 0);
        check_equal(directory / "source", directory / "target");
    }
}

TEST_CASE("copy: what differs at the target is replaced or adjusted, and stays out of other names") {
    const test::TempDirectory directory("/dev/shm");
    make_tree(directory / "source");
    REQUIRE(copy(directory / "source", directory / "target")->copied);
    fs::create_hard_link(directory / "target/sparse", directory / "outside");
    write(directory / "target/sparse", "another text");
    fs::permissions(directory / "target/fifo", fs::perms::all);
    fs::remove(directory / "target/link");
    fs::create_symlink("elsewhere", directory / "target/link");
    fs::remove(directory / "target/below/same");
    write(directory / "target/below/same", "not the same inode");
    write(directory / "target/more", "of the target alone");
    const auto synced = copy(directory / "source", directory / "target");
    REQUIRE(synced->copied);
    CHECK_FALSE(synced->entry_log.has_errors());
    CHECK(synced->counts.adjusted == 1);
    CHECK(read(directory / "outside") == "another text");
    CHECK(read(directory / "target/more") == "of the target alone");
    fs::remove(directory / "target/more");
    CHECK(copy(directory / "source", directory / "target")->copied);  // the directory's times
    check_equal(directory / "source", directory / "target");
}

TEST_CASE("copy: where the target keeps whole seconds nothing is copied again; an older file under a name is") {
    const test::TempDirectory directory("/dev/shm");
    make_tree(directory / "source");
    const auto source = sys::open_posix_folder(directory / "source").value();
    source->open_file("file").value()->set_times({1, 2}, {300'000'000, 5}).value();
    REQUIRE(copy(directory / "source", directory / "target")->copied);
    const auto target = sys::open_posix_folder(directory / "target").value();
    target->open_file("file").value()->set_times({1, 0}, {300'000'000, 0}).value();
    const auto again = copy(directory / "source", directory / "target");
    CHECK(again->counts.copied + again->counts.adjusted == 0);
    target->open_file("file").value()->set_times({1, 0}, {300'000'001, 0}).value();
    CHECK(copy(directory / "source", directory / "target")->counts.copied == 1);
    target->open_file("file").value()->set_times({1, 0}, {300'000'000, 0}).value();
    write(directory / "source/file", "OTHER TEXT");  // changed within the second that the target keeps
    source->open_file("file").value()->set_times({1, 2}, {300'000'000, 5}).value();
    CHECK(copy(directory / "source", directory / "target")->counts.copied == 1);
    CHECK(read(directory / "target/file") == "OTHER TEXT");

    const tree::TreeCopyOptions without_times{.threads = 2, .preserve = {.times = false}};
    CHECK(copy(directory / "source", directory / "target", without_times)->counts.copied == 0);
    write(directory / "older", "SOME BYTES");
    fs::rename(directory / "older", directory / "source/file");
    source->open_file("file").value()->set_times({1, 2}, {1, 2}).value();
    CHECK(copy(directory / "source", directory / "target", without_times)->counts.copied == 1);
    CHECK(read(directory / "target/file") == "SOME BYTES");
}

TEST_CASE("copy: what the source has not is removed, but never after an error") {
    const test::TempDirectory directory("/dev/shm");
    make_tree(directory / "source");
    REQUIRE(copy(directory / "source", directory / "target")->copied);
    fs::create_directories(directory / "target/more/below");
    write(directory / "target/more/below/file", "x");
    fs::create_symlink("/etc", directory / "target/more/outside");
    fs::remove(directory / "target/file");
    fs::create_directories(directory / "target/file/folder");  // a directory in the place of a source file of two names
    fs::remove(directory / "target/link");
    fs::create_directories(directory / "target/link/folder");
    SUBCASE("without errors") {
        const auto synced = copy(directory / "source", directory / "target", {.threads = 2, .removes_extra = true});
        REQUIRE(synced->copied);
        CHECK_FALSE(synced->entry_log.has_errors());
        CHECK(synced->counts.removed == 8);
        check_equal(directory / "source", directory / "target");
    }
    SUBCASE("after an error") {
        tree::TreeCopyOptions options{.threads = 2, .removes_extra = true};
        options.wished.reset();
        tree::EntryLog entry_log;
        tree::CopyCounts counts;
        entry_log.add_error("early", Error{ErrorKind::retry, "made to fail"});
        REQUIRE(tree::copy_tree(directory / "source", directory / "target", options, entry_log, counts));
        CHECK(counts.removed == 0);
        CHECK(fs::exists(directory / "target/more/below/file"));
        CHECK(fs::is_directory(directory / "target/file/folder"));
    }
    SUBCASE("what patterns leave out stays, with the folders that it is in") {
        write(directory / "target/more/below/kept.log", "x");
        write(directory / "target/link/folder/kept.log", "x");
        tree::TreeCopyOptions options{.threads = 2, .filter = {.exclude = {"*.log"}}, .removes_extra = true};
        SUBCASE("done") {
            auto synced = copy(directory / "source", directory / "target", options);
            REQUIRE(synced->copied);
            CHECK(synced->entry_log.count_of(EntryEvent::failed) == 1);
            CHECK(synced->entry_log.first().at(0).path == "link");
            CHECK(fs::exists(directory / "target/more/below/file"));  // after an error nothing is removed
            fs::remove_all(directory / "target/link");
            write(directory / "source/left.log", "x");  // a target directory has the name of an excluded file
            fs::create_directories(directory / "target/left.log");
            synced = copy(directory / "source", directory / "target", options);
            CHECK_FALSE(synced->entry_log.has_errors());
            CHECK(synced->counts.removed == 2);
            CHECK(fs::exists(directory / "target/more/below/kept.log"));
            CHECK_FALSE(fs::exists(directory / "target/more/below/file"));
        }
        SUBCASE("in a dry run") {
            options.is_dry = true;
            const auto dry = copy(directory / "source", directory / "target", options);
            REQUIRE(dry->copied);
            CHECK(dry->entry_log.count_of(EntryEvent::failed) == 1);
            // "file" with its directory. "link" is an error.
            CHECK(dry->entry_log.count_of(EntryEvent::would_remove) == 2);
        }
    }
    SUBCASE("in a dry run") {
        const auto dry =
            copy(directory / "source", directory / "target", {.threads = 2, .removes_extra = true, .is_dry = true});
        REQUIRE(dry->copied);
        CHECK(dry->entry_log.count_of(EntryEvent::would_remove) == 8);
        CHECK(fs::exists(directory / "target/more/below/file"));
    }
}

TEST_CASE("copy: one tree in the other is refused, before anything is made") {
    const test::TempDirectory directory;
    make_tree(directory / "source");
    for (const auto* target : {"source", "source/below/empty", "source/new", "source/below/../new", ""}) {
        CAPTURE(target);
        const auto refused = copy(directory / "source", directory / target);
        REQUIRE_FALSE(refused->copied);
        CHECK(refused->copied.error().kind == ErrorKind::refused);
    }
    CHECK_FALSE(fs::exists(directory / "source/new"));
    CHECK(copy(directory / "none", directory / "target")->copied.error().kind == ErrorKind::missing);
    CHECK(copy(directory / "source", directory / "none/target")->copied.error().kind == ErrorKind::missing);
}

TEST_CASE("copy: patterns and lists choose, and a listed name that is not there is said") {
    const test::TempDirectory directory("/dev/shm");
    make_tree(directory / "source");
    const auto chosen = copy(directory / "source", directory / "a", {.threads = 2, .filter = {.exclude = {"below"}}});
    REQUIRE(chosen->copied);
    CHECK_FALSE(fs::exists(directory / "a/below"));
    CHECK(fs::exists(directory / "a/file"));
    tree::TreeCopyOptions options{.threads = 2};
    options.wished = tree::path_list("below/same\nnot/there\n", false).value();
    const auto listed = copy(directory / "source", directory / "b", options);
    REQUIRE(listed->copied);
    CHECK(read(directory / "b/below/same") == "some bytes");
    CHECK_FALSE(fs::exists(directory / "b/below/other"));
    CHECK_FALSE(fs::exists(directory / "b/file"));
    CHECK(listed->entry_log.count_of(EntryEvent::vanished) == 1);
}

TEST_CASE("copy: a file that changes each time is said, and is not at the target") {
    const test::TempDirectory directory("/dev/shm");
    fs::create_directory(directory / "source");
    for (const std::uint64_t bytes :
         {std::uint64_t{40} << 20, std::uint64_t{80} << 20}) {  // in one piece, and in several
        write(directory / "source/growing", std::string(bytes, '-'));
        std::atomic<bool> begun{false}, ends{false};
        std::thread writer([&] {
            std::ofstream file(directory / "source/growing", std::ios::in | std::ios::out);
            for (char byte = 'a'; !ends; byte = byte == 'z' ? 'a' : static_cast<char>(byte + 1)) {
                file.seekp(0);
                file << std::string(1 << 20, byte) << std::flush;
                begun = true;
                std::this_thread::sleep_for(std::chrono::milliseconds(50));  // time for a copy to begin
            }
        });
        while (!begun) std::this_thread::yield();
        const auto copied =
            copy(directory / "source", directory / "target", {.threads = 2, .rate_bytes_per_second = 100 << 20});
        ends = true;
        writer.join();
        REQUIRE(copied->copied);
        CHECK(copied->entry_log.count_of(EntryEvent::changed) == 1);
        CHECK(fs::is_empty(directory / "target"));
    }
}

TEST_CASE("copy: leftovers of a killed run go, and pieces that are done stay done") {
    const test::TempDirectory directory("/dev/shm");
    fs::create_directory(directory / "source");
    write(directory / "source/large", std::string(100 << 20, 'l'));
    write(directory / "source/small", "s");
    // A run stopped by a full target leaves the same state as a killed run. Here the watch callback stops it.
    tree::TreeCopyOptions options{.threads = 1, .rate_bytes_per_second = 200 << 20};
    struct Stop {};
    options.watch = [](const tree::CopyCounts& counts) {
        if (counts.bytes > 70 << 20) throw Stop{};
    };
    CHECK_FALSE(copy(directory / "source", directory / "target", options)->copied);
    CHECK_FALSE(fs::exists(directory / "target/large"));
    std::string temporary;
    for (const auto& entry : fs::directory_iterator(directory / "target"))
        if (entry.path().filename().string().starts_with(".fb-")) temporary = entry.path().filename();
    REQUIRE_FALSE(temporary.empty());
    write(directory / ("target/" + temporary.substr(0, 13) + "0123456789abcdef"), "of a file that is gone");
    SUBCASE("the source is as it was") {
        const auto resumed = copy(directory / "source", directory / "target");
        REQUIRE(resumed->copied);
        CHECK(resumed->counts.resumed_bytes == 64 << 20);
        check_equal(directory / "source", directory / "target");
    }
    SUBCASE("the source was written to") {
        std::fstream(directory / "source/large", std::ios::in | std::ios::out) << "other bytes";
        const auto begun_anew = copy(directory / "source", directory / "target");
        REQUIRE(begun_anew->copied);
        CHECK(begun_anew->counts.resumed_bytes == 0);
        check_equal(directory / "source", directory / "target");
    }
    SUBCASE("the source is gone") {
        fs::remove(directory / "source/large");
        REQUIRE(copy(directory / "source", directory / "target")->copied);
        check_equal(directory / "source", directory / "target");
    }
}

TEST_CASE("copy: a file of 8 EiB with few bytes costs what these cost") {
    const test::TempDirectory directory("/dev/shm");
    fs::create_directory(directory / "source");
    write(directory / "source/huge", "first");
    constexpr std::uint64_t bytes = (1ull << 63) - 4096, inside = 1ull << 60;
    fs::resize_file(directory / "source/huge", bytes);
    std::fstream(directory / "source/huge", std::ios::in | std::ios::out).seekp(inside).write("inner", 5);
    const auto copied = copy(directory / "source", directory / "target");
    REQUIRE(copied->copied);
    CHECK(copied->counts.copied == 1);
    CHECK(copied->counts.passed_bytes == bytes);
    CHECK(fs::file_size(directory / "target/huge") == bytes);
    std::string inner(5, ' ');
    std::ifstream(directory / "target/huge").seekg(inside).read(inner.data(), 5);
    CHECK(inner == "inner");
    CHECK(copy(directory / "source", directory / "target")->counts.equal == 1);
    check_equal(directory / "source", directory / "target");
}

TEST_CASE("copy: what is gone at the target did not vanish from the source") {
    const test::TempDirectory directory("/dev/shm");
    fs::create_directories(directory / "source/below");
    for (const char* name : {"one", "two"})
        write(directory / ("source/below/" + std::string(name)), std::string(3 << 20, 'x'));
    tree::TreeCopyOptions options{.threads = 1, .rate_bytes_per_second = 20 << 20};
    bool was_removed = false;
    options.watch = [&](const tree::CopyCounts& counts) {
        if (counts.bytes == 0 || std::exchange(was_removed, true)) return;
        fs::remove_all(directory / "target/below");
    };
    const auto copied = copy(directory / "source", directory / "target", options);
    REQUIRE(copied->copied);
    REQUIRE(was_removed);
    CHECK(copied->entry_log.count_of(EntryEvent::vanished) == 0);
    CHECK(copied->entry_log.count_of(EntryEvent::failed) >= 1);
    for (const auto& log_entry : copied->entry_log.first()) CHECK(log_entry.why.starts_with("at the target: "));
    REQUIRE(copy(directory / "source", directory / "target")->copied);
    check_equal(directory / "source", directory / "target");
}
