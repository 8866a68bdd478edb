// Goal: the profile that fits best is found. Profiles that do not fit, damaged files and foreign files are not used,
// and the latter two are reported. Method: profiles with made keys in directories of their own.

#include "path/telemetry/profile.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::telemetry;

namespace {

const RunKind run{.cluster = "nid", .file_system = "lustre", .targets = 156, .nodes = 64, .ranks_per_node = 12};

void write(const test::TempDirectory& folder, const std::string& name, const RunKind& kind, std::int64_t created,
           const char* what = "profile") {
    const format::Advice advice{.kind = what, .made_unix_ns = created, .made_by = name, .key = key_of(kind)};
    sys::write_text_durable(sys::posix_store(), folder / name, format::encode(advice)).value();
}

}  // namespace

TEST_CASE("distances are doublings, weighted; another file system does not fit") {
    const auto apart = [](auto change) {
        auto other = run;
        change(other);
        return distance(key_of(run), key_of(other));
    };
    CHECK(apart([](RunKind&) {}) == 0.0);
    CHECK(apart([](RunKind& kind) { kind.nodes = 128; }) == 1.0);
    CHECK(apart([](RunKind& kind) { kind.nodes = 16; }) == 2.0);
    CHECK(apart([](RunKind& kind) { kind.ranks_per_node = 48; }) == 1.0);
    CHECK(apart([](RunKind& kind) { kind.cluster = "x"; }) == 4.0);
    CHECK(apart([](RunKind& kind) { kind.bytes_per_rank = 7; }) == 0.0);  // the run does not know its own
    CHECK_FALSE(apart([](RunKind& kind) { kind.file_system = "ext4"; }).has_value());
    CHECK_FALSE(apart([](RunKind& kind) { kind.nodes = 8192; }).has_value());
    auto other = run;
    other.nodes = 16;
    other.cluster = "x";
    CHECK(difference(key_of(run), key_of(other)) == "cluster x for nid, nodes 16 for 64");
    CHECK(key_of(run).size() == 5);
}

TEST_CASE("the nearest profile is found, of two as near that of the earlier directory, there the newest") {
    const test::TempDirectory first, second;
    const std::vector<std::string> both{first.path(), second.path(), first / "missing"};
    std::vector<std::string> notes;
    auto& store = sys::posix_store();
    CHECK_FALSE(find_profile(store, both, key_of(run), notes).has_value());
    auto far = run;
    far.nodes = 16;
    write(first, "far.json", far, 9);
    CHECK(find_profile(store, both, key_of(run), notes)->path == first / "far.json");
    write(second, "near.json", run, 1);
    CHECK(find_profile(store, both, key_of(run), notes)->path == second / "near.json");
    write(first, "old.json", run, 3);
    write(first, "new.json", run, 5);
    write(first, "older.json", run, 2);
    const auto profile = find_profile(store, both, key_of(run), notes);
    CHECK(profile->path == first / "new.json");
    CHECK(profile->distance == 0);
    CHECK(notes.empty());
    auto elsewhere = run;
    elsewhere.file_system = "nfs";
    CHECK_FALSE(find_profile(store, both, key_of(elsewhere), notes).has_value());
}

TEST_CASE("what is no profile is not taken, and is told") {
    const test::TempDirectory folder;
    auto& store = sys::posix_store();
    write(folder, "plan.json", run, 1, "plan");
    sys::write_text_durable(store, folder / "torn.json", "{\"forebay\": \"adv").value();
    sys::write_text_durable(store, folder / "notes.txt", "mine").value();
    std::vector<std::string> notes;
    CHECK_FALSE(find_profile(store, {folder.path()}, key_of(run), notes).has_value());
    REQUIRE(notes.size() == 2);
    CHECK(notes[0].find("of kind \"plan\"") != std::string::npos);
    CHECK(notes[1].find("torn.json") != std::string::npos);
    CHECK(read_profile(store, folder / "none.json").error().kind == ErrorKind::missing);
}

TEST_CASE("profiles are looked for below the current directory, the user's and the site's") {
    ::setenv("XDG_CONFIG_HOME", "/home/me/own", 1);
    CHECK(profile_directories() ==
          std::vector<std::string>{"./.forebay", "/home/me/own/forebay", "/etc/forebay/profiles"});
    ::setenv("XDG_CONFIG_HOME", "", 1);
    ::setenv("HOME", "/home/me", 1);
    CHECK(profile_directories()[1] == "/home/me/.config/forebay");
    ::setenv("SLURM_CLUSTER_NAME", "aurora", 1);
    CHECK(cluster_name() == "aurora");
    ::unsetenv("SLURM_CLUSTER_NAME");
    CHECK_FALSE(cluster_name().empty());
}
