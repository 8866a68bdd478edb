// Goal: a link with the name of a snapshot or of a leftover is removed as a link. Retention, a replacement and recover
// finish, and nothing behind the link is touched. Method: a real directory with a link to another directory. That
// directory has a foreign file, and a file with the name of a temporary file of Forebay.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "path/catalog/names.hpp"
#include "support/committed_run.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;

namespace {

namespace fs = std::filesystem;

const char* const temporary = ".manifest.json.7-0123456789abcdef.tmp";

struct Run {
    test::TempDirectory folder;
    sys::Store& store = sys::posix_store();
    std::string run = folder / "run7";
    std::string others = folder / "others";

    Run() {
        fs::create_directory(others);
        for (const auto* name : {"data", temporary}) store.open(others + "/" + name, sys::Access::create).value();
    }
    void save(std::int64_t step, std::uint64_t id = 0xf3) {
        REQUIRE(test::commit_all(store, run, {.id = id, .step = step}));
    }
    void link(const std::string& name) { fs::create_directory_symlink(others, run + "/restart/" + name); }
    std::vector<std::string> names() {
        std::vector<std::string> names;
        for (const auto& entry : store.list(run + "/restart").value()) names.push_back(entry.name);
        return names;
    }
    void check_untouched() const {
        CHECK(fs::exists(others + "/data"));
        CHECK(fs::exists(others + "/" + temporary));
    }
};

}  // namespace

TEST_CASE("retention removes the link of an old step, once") {
    Run at;
    at.save(10);
    at.save(20);
    at.link("step-000000");
    CHECK(catalog::prune(at.store, at.run, "restart", {.keep = 1}).value().removed.size() == 2);
    CHECK(at.names() == std::vector<std::string>{"step-000020"});
    at.check_untouched();
    CHECK(catalog::prune(at.store, at.run, "restart", {.keep = 1}).value().removed.empty());
}

TEST_CASE("a save of the step takes the link's place") {
    Run at;
    at.save(10);
    at.link("step-000020");
    at.save(20, 0xf4);
    CHECK(at.names() == std::vector<std::string>{"step-000010", "step-000020"});
    CHECK(test::is_whole(at.store, at.run, {.id = 0xf4, .step = 20}));
    CHECK_FALSE(fs::is_symlink(at.run + "/restart/step-000020"));
    at.check_untouched();
}

TEST_CASE("recover removes a link that was being removed, and sweeps nothing behind one") {
    Run at;
    at.save(10);
    at.link(catalog::leftover_name({0, 0x50, catalog::Leftover::Kind::gone}));
    at.link("step-000005");
    const auto recovered = commit::recover(at.store, at.run, true).value();
    REQUIRE(recovered.size() == 1);
    CHECK(recovered[0].outcome == commit::Recovered::Outcome::removed);
    CHECK(at.names() == std::vector<std::string>{"step-000005", "step-000010"});
    at.check_untouched();
}
