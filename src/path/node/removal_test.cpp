// Goal: a staging directory is removed whole, or its rest is still recognised; a file that a program just put into its
// spool is never removed. Method: this executable defines unlinkat(), which the library finds first, and makes it fail
// for one name.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "path/node/staging.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using node::Staging;
namespace fs = std::filesystem;

namespace {

std::string fail_unlink_of = "none";

node::SessionFile sample() { return {.run = "/scratch/run7", .host = "nid00412", .process = 4711, .agent = {}}; }

Staging create(const std::string& directory) {
    auto locked = node::LockedDirectory::lock(directory, sample().run).value();
    return Staging::create(std::move(locked), sample(), std::chrono::milliseconds(0)).value();
}

}  // namespace

extern "C" int unlinkat(int folder, const char* path, int flags) noexcept {
    if (std::string_view(path).ends_with(fail_unlink_of)) return errno = EIO, -1;
    return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}

TEST_CASE("a removal that fails half way leaves a staging directory that is known for what it is") {
    for (const bool by_session : {false, true}) {
        CAPTURE(by_session);
        const test::TempDirectory base;
        const auto directory = base / "run7-8d1f0baa-0";
        std::optional<Staging> staging = create(directory);
        if (!by_session) staging.reset();
        const auto remove = [&] { return by_session ? staging->remove() : node::remove_leftover(directory); };
        // A file may enter the spool at any moment.
        fs::create_directory(directory + "/spool");
        std::ofstream(directory + "/spool/late") << "late";
        std::ofstream(directory + "/restart.0.h5") << "staged";
        const auto failed = remove();
        REQUIRE_FALSE(failed);
        CHECK(failed.error().kind == ErrorKind::retry);
        CHECK_MESSAGE(failed.error().text().find("forebay drain " + directory) != std::string::npos,
                      failed.error().text());
        for (const auto* name : {"/session.json", "/spool/late", "/restart.0.h5"}) CHECK(fs::exists(directory + name));
        fs::remove(directory + "/spool/late");
        CHECK(remove().has_value());
        CHECK_FALSE(fs::exists(directory));
    }
}

TEST_CASE("session.json goes after all that is staged, and before the locks") {
    const test::TempDirectory base("/dev/shm");  // this file system lists older entries later
    const auto directory = base / "run7-8d1f0baa-0";
    fs::create_directory(directory);
    fs::permissions(directory, fs::perms::owner_all);
    std::ofstream(directory + "/restart.0.h5") << "staged";
    auto staging = create(directory);
    fail_unlink_of = "restart.0.h5";
    CHECK_FALSE(staging.remove());
    CHECK(fs::exists(directory + "/session.json"));
    fail_unlink_of = "session.json";
    CHECK_FALSE(staging.remove());
    CHECK_FALSE(fs::exists(directory + "/restart.0.h5"));
    CHECK(fs::exists(directory + "/application.lock"));
    fail_unlink_of = "none";
    CHECK(staging.remove().has_value());
    CHECK_FALSE(fs::exists(directory));
}
