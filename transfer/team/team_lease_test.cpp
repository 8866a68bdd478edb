// Goal: after the end of a worker's lease no call changes a tree. If the lease has run out, a call waits for a renewal.
// Reading calls do not wait.
// Method: opens an entry of each kind in a directory in memory, ends the lease, and tries every call that changes.

#include "transfer/team/team_lease.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/sys/clock.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

TEST_CASE("team_term: nothing is changed after the end") {
    const test::TempDirectory directory("/dev/shm");
    fs::create_directory(directory / "folder");
    fs::create_directory(directory / "empty");
    std::ofstream(directory / "file") << "bytes";
    std::ofstream(directory / "folder/below") << "bytes";
    tree::TeamLease lease(0s);
    const auto top = tree::within_lease(sys::open_posix_folder(directory.path()).value(), lease);
    const auto folder = top->open_folder("folder").value();
    const auto file = top->reopen_file("file").value();
    const auto new_file = top->make_file("made", 0600).value();
    const auto entry = top->open_entry("file").value();
    REQUIRE(new_file->write(0, std::as_bytes(std::span("new", 3))));
    REQUIRE(folder->make_hard_link("again", *top, "made"));

    const auto seen = [&] {
        std::string text;
        for (const auto& item : fs::recursive_directory_iterator(directory.path())) {
            const auto status =
                sys::open_posix_folder(item.path().parent_path()).value()->status_of(item.path().filename());
            text += item.path().string() + std::to_string(status->changed.seconds) + "." +
                    std::to_string(status->changed.nanoseconds) + "\n";
        }
        return text;
    };
    const auto before = seen();
    lease.end();
    const auto bytes = std::as_bytes(std::span("other", 5));
    for (sys::OpenEntry* opened : {static_cast<sys::OpenEntry*>(folder.get()), static_cast<sys::OpenEntry*>(file.get()),
                                   static_cast<sys::OpenEntry*>(new_file.get()), entry.get()}) {
        CHECK(opened->set_owner(1, 1).error().kind == ErrorKind::retry);
        CHECK_FALSE(opened->set_permissions(0777));
        CHECK_FALSE(opened->set_times({1, 2}, {3, 4}));
        CHECK_FALSE(opened->set_attribute("user.one", "value"));
        CHECK_FALSE(opened->remove_attribute("user.one"));
        CHECK_FALSE(opened->keep_set());
    }
    for (const auto& opened : {&file, &new_file}) {
        CHECK_FALSE((*opened)->write(0, bytes));
        CHECK_FALSE((*opened)->resize(1));
        CHECK_FALSE((*opened)->copy_from(**opened, 0, 1));
        CHECK_FALSE((*opened)->begin("file", **opened, {}));
    }
    CHECK_FALSE(top->make_file("x", 0600));
    CHECK_FALSE(top->make_unlaid_file("x", 0600));
    CHECK_FALSE(top->make_folder("x", 0700));
    CHECK_FALSE(top->make_link("x", "file"));
    CHECK_FALSE(top->make_special("x", {.kind = sys::EntryKind::fifo}));
    CHECK_FALSE(top->make_hard_link("x", *folder, "below"));
    CHECK_FALSE(top->rename("made", "file"));
    CHECK_FALSE(top->rename_new("made", "x"));
    CHECK_FALSE(top->remove("file"));
    CHECK_FALSE(top->remove_folder("empty"));
    int count = 0;
    folder->remove_each(std::vector<std::string>{"below", "again"}, [&](const std::string&, const Result<>& removed) {
        CHECK(removed.error().kind == ErrorKind::retry);
        ++count;
    });
    CHECK(count == 2);
    CHECK(top->status_of("file"));
    std::array<std::byte, 5> room{};
    CHECK(file->read(0, room).value() == room.size());
    CHECK(seen() == before);
}

TEST_CASE("team_term: a call waits until the term is renewed") {
    const test::TempDirectory directory("/dev/shm");
    tree::TeamLease lease(1s);
    const auto top = tree::within_lease(sys::open_posix_folder(directory.path()).value(), lease);
    REQUIRE(top->make_folder("now", 0700));
    lease.renew(0s);  // an old message does not shorten the lease
    REQUIRE(top->make_folder("still", 0700));
    std::this_thread::sleep_for(1s);
    std::atomic<bool> is_made{false};
    std::thread late([&] { is_made = top->make_folder("later", 0700).has_value(); });
    std::this_thread::sleep_for(100ms);
    CHECK_FALSE(fs::exists(directory / "later"));
    lease.renew(sys::time_since_boot() - 2s);  // a message sent before the pause
    std::this_thread::sleep_for(50ms);
    CHECK_FALSE(fs::exists(directory / "later"));
    lease.renew(sys::time_since_boot());
    late.join();
    CHECK(is_made);
    CHECK(fs::exists(directory / "later"));
}
