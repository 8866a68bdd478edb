// Goal: retention removes nothing that nobody abandoned by choice, and never a good snapshot in favour of a snapshot
// that may be damaged; it gives a reason for each removal. Method: small snapshots of several sessions, marked,
// damaged, or changed after their commit; on the simulated disk, and on a real disk for times.

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "path/catalog/history.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/run.hpp"
#include "support/committed_run.hpp"
#include "support/sim_store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::SimStore;
using test::SmallSnapshot;
using Steps = std::vector<std::int64_t>;
using Starts = std::vector<format::LineStart>;

namespace {

const std::string stream = "restart";
constexpr std::uint64_t run_id = 0xf3;

SmallSnapshot of(const Starts& lines, std::int64_t step) {
    const auto line = lines.back().line;
    return {.id = line.session * 1'000'000u + line.turn * 100'000u + static_cast<std::uint64_t>(step) * 10 + 1,
            .step = step,
            .sealed_unix_ns = 1'000'000,
            .lineage = {run_id, 1, lines}};
}

const Starts first{{{1, 0}, -1}}, second{{{1, 0}, -1}, {{2, 0}, 300}}, anew{{{2, 0}, -1}};
const format::Mark holes{.analysis = "numbers", .condition = "u/nan > 0", .result = "u/nan", .value = 1.0};

struct Run {
    explicit Run(sys::Store& disk, std::string where = "run7") : store(disk), run(std::move(where)) {
        sys::make_directories_durable(store, run + "/" + catalog::own_directory).value();
        sys::write_text_durable(store, run + "/" + catalog::own_directory + "/run-00000000000000f3.json", "{}").value();
    }
    void commit(const Starts& lines, const Steps& steps, bool marked = false) {
        for (const auto step : steps) {
            const auto snapshot = of(lines, step);
            test::commit_all(store, run, snapshot).value();
            if (marked) catalog::mark(store, {run, stream, step, snapshot.id}, std::span(&holes, 1)).value();
        }
    }
    catalog::Pruned prune(const catalog::Retention& what) { return catalog::prune(store, run, stream, what).value(); }
    Steps living() { return steps_of(catalog::history(store, run, stream).value().living); }
    Steps abandoned() { return steps_of(catalog::history(store, run, stream).value().abandoned); }

    static Steps steps_of(const std::vector<catalog::Version>& versions) {
        Steps steps;
        for (const auto& version : versions) steps.push_back(version.head.step);
        return steps;
    }
    static Steps steps_of(const std::vector<catalog::Snapshot>& snapshots) {
        Steps steps;
        for (const auto& snapshot : snapshots) steps.push_back(snapshot.step);
        return steps;
    }

    sys::Store& store;
    const std::string run;
};

}  // namespace

TEST_CASE("retention: marked snapshots of a new line push out nothing that the run has left") {
    SimStore disk;
    Run here(disk);
    here.commit(first, {100, 200, 300}, true);
    here.commit(anew, {1, 2, 3, 4}, true);
    auto pruned = here.prune({.keep = 2});
    CHECK(Run::steps_of(pruned.removed) == Steps{2, 1});
    CHECK(pruned.reasons == std::vector<std::string>(2, "it is marked, and older than 2 marked snapshots"));
    CHECK(here.abandoned() == Steps{300, 200, 100});
    here.commit(anew, {5});
    CHECK(here.prune({.keep = 2}).removed.empty());  // one good snapshot is not enough
    here.commit(anew, {6});
    pruned = here.prune({.keep = 2});
    CHECK(here.living() == Steps{6, 5});
    CHECK(here.abandoned().empty());
    REQUIRE(pruned.reasons.size() == 5);
    CHECK(pruned.reasons[0] == "it is older than 2 whole snapshots");
    CHECK(pruned.reasons[4] == "line 2 began anew, and 2 whole snapshots came after");
}

TEST_CASE("retention: what an analysis may still mark does not help to remove what the run has left") {
    SimStore disk;
    Run here(disk);
    here.commit(first, {100, 200, 300, 400});
    here.commit(second, {310, 320});
    CHECK(here.prune({.keep = 2, .unproved = 1}).removed.size() == 2);  // 100 and 200 of the living line
    CHECK(here.abandoned() == Steps{400});
    here.prune({.keep = 2});
    CHECK(here.abandoned().empty());
}

TEST_CASE("retention: lines that go on from the new one count with it, and others do not") {
    SimStore disk;
    Run here(disk);
    here.commit(first, {100, 200, 300, 400, 500});
    here.commit(second, {310});
    auto third = second;
    third.push_back({{3, 0}, 310});
    here.commit(third, {320});
    here.prune({.keep = 2});
    CHECK(here.living() == Steps{320, 310});
    CHECK(here.abandoned().empty());  // 310 and 320 came after 300

    SimStore other_disk;
    Run other(other_disk);
    other.commit(first, {100, 200, 300, 400, 500});
    other.commit(second, {310});
    other.commit({{{1, 0}, -1}, {{3, 0}, 300}}, {305});
    other.prune({.keep = 2});
    CHECK(other.living() == Steps{305, 300});  // 300 is older than the abandoned snapshots
    CHECK(other.abandoned() == Steps{310, 500, 400});
    other.prune({.keep = 2, .keep_abandoned = 1});  // a person chose that
    CHECK(other.abandoned() == Steps{310});
}

TEST_CASE("retention: a proof is asked for what would count, before anything goes, and only if something would") {
    SimStore disk;
    Run here(disk);
    here.commit(first, {1, 2, 3, 4});
    Steps asked;
    catalog::Retention what{.keep = 2};
    what.proof = [&](const catalog::Snapshot& snapshot) -> Result<> {
        asked.push_back(snapshot.step);
        if (snapshot.step != 4) return {};
        return Error{ErrorKind::corrupt, "rotten"};
    };
    what.dry_run = true;
    auto pruned = here.prune(what);
    CHECK(Run::steps_of(pruned.removed) == Steps{1});
    CHECK(Run::steps_of(pruned.kept) == Steps{4, 3, 2});
    REQUIRE(pruned.problems.size() == 1);
    CHECK(pruned.problems[0].find("step 4") != std::string::npos);
    CHECK(asked == Steps{4, 3, 2});
    CHECK(here.living() == Steps{4, 3, 2, 1});
    asked.clear();
    what.keep = 4;
    CHECK(here.prune(what).removed.empty());
    CHECK(asked.empty());
    what.keep = 3;  // with 4 it would be enough
    CHECK(here.prune(what).removed.empty());
    CHECK(asked == Steps{4, 3, 2, 1});
}

TEST_CASE("retention: a file that has changed since its commit does not count, whatever its size and record say") {
    const test::TempDirectory place;
    Run here(sys::posix_store(), place / "run7");
    here.commit(first, {1, 2, 3});
    const auto file = here.run + "/restart/step-000003/node-00000.h5";
    const auto manifest = catalog::load_manifest(here.store, here.run + "/restart/step-000003").value();
    const auto committed = std::filesystem::last_write_time(file);
    CHECK(catalog::check_unchanged(here.store, here.run + "/restart/step-000003", manifest));
    CHECK(manifest.nodes[0].changed_unix_ns.has_value());

    std::filesystem::last_write_time(file, committed + 1s);
    CHECK(catalog::check_whole(here.store, here.run + "/restart/step-000003", manifest));
    const auto changed = catalog::check_unchanged(here.store, here.run + "/restart/step-000003", manifest);
    REQUIRE_FALSE(changed);
    CHECK(changed.error().kind == ErrorKind::corrupt);
    CHECK(changed.error().what.find("step-000003/node-00000.h5") != std::string::npos);
    auto pruned = here.prune({.keep = 1});
    CHECK(Run::steps_of(pruned.removed) == Steps{1});  // 2 counts, and 3 is newer
    CHECK(here.living() == Steps{3, 2});

    // A copy to a file system of whole seconds has the same time, without its last digits.
    std::filesystem::last_write_time(file, std::chrono::floor<std::chrono::seconds>(committed));
    CHECK(catalog::check_unchanged(here.store, here.run + "/restart/step-000003", manifest));
    std::filesystem::last_write_time(file, committed);
    CHECK(Run::steps_of(here.prune({.keep = 1}).removed) == Steps{2});
}

TEST_CASE("retention: a manifest that notes no times does not count where there are times") {
    const test::TempDirectory place;
    Run here(sys::posix_store(), place / "run7");
    here.commit(first, {1, 2});
    const auto path = here.run + "/restart/step-000002/manifest.json";
    auto manifest = catalog::load_manifest(here.store, here.run + "/restart/step-000002").value();
    for (auto& line : manifest.nodes) line.changed_unix_ns.reset();
    sys::write_text_durable(here.store, path, format::encode_manifest(manifest)).value();
    CHECK(here.prune({.keep = 1}).removed.empty());
    CHECK(here.prune({.keep = 1, .proof = [](const catalog::Snapshot&) { return Result<>(); }}).removed.size() == 1);
}

TEST_CASE("retention: copies of a snapshot under other names do not count") {
    const test::TempDirectory place;
    Run here(sys::posix_store(), place / "run7");
    here.commit(first, {1, 2});
    const auto all = std::filesystem::copy_options::recursive;
    const auto directory = here.run + "/restart/step-00000";
    std::filesystem::copy(directory + "2", here.run + "/restart/line-1.step-000002", all);
    std::filesystem::copy(directory + "2", directory + "9", all);
    const catalog::Retention what{
        .keep = 2, .dry_run = true, .proof = [](const catalog::Snapshot&) { return Result<>(); }};
    const auto pruned = here.prune(what);
    // The copy has the name of the abandoned snapshot, and no data exist only there.
    REQUIRE(pruned.removed.size() == 1);
    CHECK(pruned.removed[0].directory == here.run + "/restart/line-1.step-000002");
    CHECK(pruned.problems.size() == 1);
    CHECK(Run::steps_of(pruned.kept) == Steps{9, 2, 1});
}
