// Goal: `forebay extract` restores files as they were, with their times. It harms nothing that exists: neither files
// behind a link, nor files of the user, nor files of the batch itself, for any names. Method: the real program, on
// files that `forebay pack` packed.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "core/format/packed.hpp"
#include "support/killable.hpp"
#include "support/packed_files.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using test::Contents;
using test::put;
namespace fs = std::filesystem;

namespace {

struct Place {
    void pack() const { test::forebay_command("pack " + from.string() + " " + run); }
    std::string extract(const std::string& more = "", int exit_code = 0) const {
        return test::forebay_command("extract " + run + " -C " + out.string() + " " + more, exit_code);
    }

    test::TempDirectory folder{"/dev/shm"};  // tmpfs keeps every time
    const fs::path from = folder / "from", out = folder / "out";
    const std::string run = folder / "run";
};

struct stat state_of(const fs::path& path) {
    struct stat about {};
    REQUIRE(::lstat(path.c_str(), &about) == 0);
    return about;
}

void set_time(const fs::path& path, std::int64_t seconds) {
    const timespec times[2] = {{.tv_sec = seconds, .tv_nsec = 5}, {.tv_sec = seconds, .tv_nsec = 5}};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("nothing is extracted through a link, nor into names that exist") {
    const test::TempDirectory folder;
    const fs::path from = folder / "from", out = folder / "out";
    fs::create_directories(from / "d");
    std::ofstream(from / "d/x") << "1";
    test::forebay_command("pack " + from.string() + " " + (folder / "run"));
    fs::create_directories(out);
    fs::create_directories(folder / "elsewhere");
    fs::create_symlink(folder / "elsewhere", out / "d");
    const auto output = test::forebay_command("extract " + (folder / "run") + " -C " + out.string(), 2);
    CHECK_MESSAGE(output.find("is a link") != std::string::npos, output);
    CHECK(fs::is_empty(folder / "elsewhere"));
    // A path that leads out of the directory is not a packed file, whoever wrote it.
    for (const auto* path : {"..%2Fx", "/etc/x", "a/..%2F..", "a//b", "", "%00"}) {
        Variable variable = format::packed_variable({.path = "ok\n", .bytes = 1}, 0);
        variable.attributes.others.back().second = std::string(path);
        CHECK_FALSE(format::packed_file(variable));
    }
}

TEST_CASE("whatever the files of a batch and of the user are called, none is taken for a temporary one") {
    const Place place;
    put(place.from / "a", "of a");
    put(place.from / "a.forebay-tmp", "older");
    put(place.from / "b", "of b");
    put(place.from / std::string(255, 'n'), "long");
    fs::last_write_time(place.from / "a.forebay-tmp", fs::file_time_type::clock::now() - std::chrono::hours(1));
    place.pack();
    put(place.out / "b.forebay-tmp", "the user's");
    place.extract();
    auto wanted = test::files_in(place.from);
    wanted["b.forebay-tmp"] = "the user's";
    CHECK(test::files_in(place.out) == wanted);
}

TEST_CASE("what is there stays without --overwrite, and with it all of it is replaced") {
    const Place place;
    put(place.from / "a", "packed");
    place.pack();
    put(place.out / "a", "the user's");
    const auto output = place.extract("", 2);
    CHECK_MESSAGE(output.find("--overwrite") != std::string::npos, output);
    CHECK(test::files_in(place.out) == Contents{{"a", "the user's"}});
    place.extract("--overwrite");
    CHECK(test::files_in(place.out) == Contents{{"a", "packed"}});
}

TEST_CASE("times and modes come back, also those before 1970 and those that only the format's clock ends") {
    const Place place;
    constexpr std::int64_t year = 31'556'952, first = -9'223'372'037, last = 9'223'372'036;  // of a 64-bit clock in ns
    const std::map<std::string, std::int64_t> wanted{{"1500", first},     {"1800", -170 * year}, {"1969", -year},
                                                     {"2030", 60 * year}, {"2500", last},        {"1970", 0}};
    for (const auto& [name, kept] : wanted) {
        put(place.from / name, name);
        set_time(place.from / name, name == "1500" ? -470 * year : name == "2500" ? 530 * year : kept);
    }
    fs::permissions(place.from / "1970", fs::perms(0604));
    place.pack();
    place.extract();
    for (const auto& file : wanted)
        CHECK_MESSAGE(state_of(place.out / file.first).st_mtim.tv_sec == file.second, file.first);
    CHECK(state_of(place.out / "1969").st_mtim.tv_nsec == 5);
    CHECK((state_of(place.out / "1970").st_mode & 07777) == 0604);
}

TEST_CASE("of several files of one path the last is written, and the others are told and can be had") {
    const Place place;
    for (const auto* content : {"first", "second", "second", "third"}) {
        put(place.from / "a", content);
        set_time(place.from / "a", 1'000'000 + content[0]);
        place.pack();
    }
    const auto output = place.extract();
    CHECK(test::files_in(place.out) == Contents{{"a", "third"}});
    const auto others = output.find(", others in @");
    REQUIRE_MESSAGE(others != std::string::npos, output);
    CHECK_MESSAGE(std::ranges::count(output, '@') == 3, output);
    const auto first = output.substr(others + 13, output.find(',', others + 13) - others - 13);
    test::forebay_command("extract " + place.run + "/packed-files@" + first + " --overwrite -C " + place.out.string());
    CHECK(test::files_in(place.out) == Contents{{"a", "first"}});
}

TEST_CASE("a run is not packed into itself") {
    const Place place;
    put(place.from / "a", "1");
    const auto output =
        test::forebay_command("pack " + place.from.string() + " " + (place.from / "run").string() + " --remove", 2);
    CHECK_MESSAGE(output.find("into itself") != std::string::npos, output);
    CHECK(test::files_in(place.from) == Contents{{"a", "1"}});
}

TEST_CASE("pack tells what it left out, in words and in JSON, and by its exit code") {
    const Place place;
    put(place.from / "good", "1");
    // A directory with a path too long for any call: nobody can list it, not even root.
    fs::create_directories(place.from / "deep");
    const auto here = fs::current_path();
    fs::current_path(place.from / "deep");
    for (int i = 0; i < 20; ++i) {
        fs::create_directory(std::string(250, 'd'));
        fs::current_path(std::string(250, 'd'));
    }
    fs::current_path(here);
    const auto output = test::forebay_command("pack " + place.from.string() + " " + place.run + " --remove", 1);
    CHECK_MESSAGE(output.find("  1 file, 1 B\n") != std::string::npos, output);
    CHECK_MESSAGE(output.find("left out: deep/ddd") != std::string::npos, output);
    const auto json = test::forebay_command("pack " + place.from.string() + " " + place.run + " --json", 1);
    CHECK_MESSAGE(json.find("\"left_out\"") != std::string::npos, json);
    CHECK_MESSAGE(json.find("File name too long") != std::string::npos, json);
}
