// Goal: unreadable entries of a directory are reported and stay, and the rest is packed at once. Odd times of files are
// kept as well as the format can. No finished file is ever skipped. Method: a user who is not root and closed files;
// times outside the clocks of C++ and of the format; files that change, grow or cannot be removed under the packer.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <limits>
#include <string>

#include "support/ordinary_user.hpp"
#include "support/packed_files.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using agent::Packer;
using test::Contents;
using test::put;
using test::SimStore;
namespace fs = std::filesystem;

namespace {

const std::string run = "run7", stream = "packed-here";

/// Twenty directories with a file each. One directory, and a file beside them, are closed to everybody.
void make_partly_closed(const fs::path& spool) {
    for (int i = 0; i < 20; ++i) put(spool / ("d" + std::to_string(i)) / "data", std::to_string(i));
    put(spool / "e", "closed");
    put(spool / "f", "open");
    fs::permissions(spool / "d7", fs::perms::none);
    fs::permissions(spool / "e", fs::perms::none);
}

void set_time(const fs::path& path, std::int64_t seconds) {
    const timespec times[2] = {{.tv_sec = seconds, .tv_nsec = 0}, {.tv_sec = seconds, .tv_nsec = 0}};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("a directory and a file that cannot be read are left out, and all others are packed") {
    const auto output = test::told_by_ordinary_user([]() -> std::string {
        const test::TempDirectory folder;
        const fs::path spool = folder / "spool";
        make_partly_closed(spool);
        SimStore disk;
        Packer packer(disk, spool, run, stream);
        for (;;) {
            const auto packed = packer.pack_batch();
            if (!packed) return packed.error().text();
            if (packed->files == 0) break;
        }
        std::string text = std::to_string(test::packed_in(disk, run, stream).size()) + " packed";
        fs::permissions(spool / "d7", fs::perms::owner_all);
        fs::permissions(spool / "e", fs::perms::owner_all);
        for (const auto& [path, content] : test::files_in(spool)) text += ", " + path + " stays";
        test::pack_all(packer);
        text += ", then " + std::to_string(test::packed_in(disk, run, stream).size());
        return text + ", " + std::to_string(test::files_in(spool).size()) + " stay";
    });
    CHECK(output == "20 packed, d7/data stays, e stays, then 22, 0 stay");
}

TEST_CASE("files of any time are packed; the format's clock ends in 1677 and 2262") {
    constexpr std::int64_t year = 31'556'952;
    const test::TempDirectory folder("/dev/shm");  // tmpfs keeps every time
    const fs::path spool = folder / "spool";
    const std::map<std::string, std::int64_t> times{{"1500", -470 * year}, {"1800", -170 * year}, {"1969", -year},
                                                    {"1970", 0},           {"2030", 60 * year},   {"2500", 530 * year},
                                                    {"3000", 1030 * year}};
    for (const auto& [name, seconds] : times) {
        put(spool / name, name);
        set_time(spool / name, seconds);
    }
    SimStore disk;
    Packer packer(disk, spool, run, stream);
    CHECK(agent::finished_in(spool).files.size() == times.size());
    CHECK(test::pack_all(packer) == 1);
    CHECK(test::files_in(spool).empty());
    CHECK(test::packed_in(disk, run, stream).size() == times.size());
    const auto snapshot = catalog::snapshots(disk, run, stream).value().front();
    for (const auto& variable : catalog::load_manifest(disk, snapshot.directory).value().schema.variables) {
        const auto file = format::packed_file(variable);
        REQUIRE(file);
        const auto seconds = times.at(file->path);
        const auto kept = seconds < -300 * year  ? std::numeric_limits<std::int64_t>::min()
                          : seconds > 300 * year ? std::numeric_limits<std::int64_t>::max()
                                                 : seconds * 1'000'000'000;
        CHECK_MESSAGE(file->modified_unix_ns == kept, file->path);
    }
}

TEST_CASE("what is left out is named with its reason, and so often as it is there") {
    const auto output = test::told_by_ordinary_user([]() -> std::string {
        const test::TempDirectory folder;
        const fs::path spool = folder / "spool";
        make_partly_closed(spool);
        SimStore disk;
        Packer packer(disk, spool, run, stream);
        test::pack_all(packer);
        std::string text;
        for (const auto& entry : packer.left_out())
            text += entry.path + " " + name_of(entry.why.kind) +
                    (entry.why.what.find("Permission denied") == std::string::npos ? entry.why.what : "") + "; ";
        fs::remove(spool / "e");
        test::pack_all(packer);
        text += std::to_string(packer.left_out().size());
        fs::permissions(spool / "d7", fs::perms::owner_all);
        return text;
    });
    CHECK(output == "d7/ refused; e refused; 1");
}

TEST_CASE("a file that is packed and cannot be removed is named, and packed once") {
    const auto output = test::told_by_ordinary_user([]() -> std::string {
        const test::TempDirectory folder;
        const fs::path spool = folder / "spool";
        put(spool / "d/a", "1");
        put(spool / "b", "2");
        fs::permissions(spool / "d", fs::perms::owner_read | fs::perms::owner_exec);
        SimStore disk;
        Packer packer(disk, spool, run, stream);
        const auto batches = test::pack_all(packer);
        packer.try_again();
        std::string text = std::to_string(batches) + " and " + std::to_string(test::pack_all(packer));
        for (const auto& entry : packer.left_out()) text += ", " + entry.path + ": " + entry.why.what.substr(0, 35);
        fs::permissions(spool / "d", fs::perms::owner_all);
        return text;
    });
    CHECK(output == "1 and 0, d/a: it is packed, but cannot be removed");
}

TEST_CASE("a file that is written again and again: each Packer ends, and says that it changed") {
    for (const bool removes : {false, true}) {
        CAPTURE(removes);
        const test::TempDirectory folder;
        const fs::path spool = folder / "spool";
        put(spool / "growing", "x");
        put(spool / "other", "y");
        SimStore disk;
        struct Growing : test::PassingStore {
            using PassingStore::PassingStore;
            Result<> rename(const std::string& from, const std::string& to) override {
                if (to.ends_with(".h5")) put(file, content += "x");  // it was read before
                return PassingStore::rename(from, to);
            }
            fs::path file;
            std::string content = "x";
        } store(disk);
        store.file = spool / "growing";
        Packer packer(store, spool, run, stream, removes);
        CHECK(test::pack_all(packer) == (removes ? 3 : 1));
        REQUIRE(packer.left_out().size() == 1);
        CHECK(packer.left_out()[0].path == "growing");
        CHECK(packer.left_out()[0].why.text().find("changed") != std::string::npos);
        CHECK(test::files_in(spool).contains("growing"));
        CHECK(test::files_in(spool).contains("other") == !removes);
        CHECK(test::packed_in(disk, run, stream).size() == 2);
    }
}

TEST_CASE("a file that no batch can describe holds up no other") {
    const test::TempDirectory folder("/dev/shm");
    const fs::path spool = folder / "spool";
    for (int i = 0; i < 9; ++i) put(spool / std::to_string(i), "x");
    fs::resize_file(spool / "4", (std::uint64_t{1} << 62) + 1);  // the whole file is a hole
    SimStore disk;
    Packer packer(disk, spool, run, stream, true, {.bytes_max = std::uint64_t{1} << 63});
    test::pack_all(packer);
    CHECK(test::packed_in(disk, run, stream).size() == 8);
    REQUIRE(packer.left_out().size() == 1);
    CHECK(packer.left_out()[0].path == "4");
}

TEST_CASE("files that cannot be read here and there: those before each make a batch, and each is read twice at worst") {
    const auto output = test::told_by_ordinary_user([]() -> std::string {
        const test::TempDirectory folder;
        const fs::path spool = folder / "spool";
        for (int i = 0; i < 40; ++i) {
            put(spool / std::to_string(100 + i), "x");
            set_time(spool / std::to_string(100 + i), 1'000'000 + i);
            if (i % 10 == 0) fs::permissions(spool / std::to_string(100 + i), fs::perms::none);
        }
        SimStore disk;
        Packer packer(disk, spool, run, stream);
        const auto batches = test::pack_all(packer);
        return std::to_string(batches) + " batches, " + std::to_string(packer.left_out().size()) + " left, " +
               std::to_string(test::packed_in(disk, run, stream).size()) + " packed";
    });
    CHECK(output == "4 batches, 4 left, 36 packed");
}
