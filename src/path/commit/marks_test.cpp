// Goal: marking may run beside commit, replacement and removal of the snapshot, in any order and with a cut anywhere.
// The snapshot ends marked, or it is unmarked and no caller was promised the mark. No manifest is lost or torn.
// Retention counts no marked snapshot as a good snapshot. Method: small snapshots on the simulated disk. A cut, or the
// act of the other program, comes before each operation.

#include "path/catalog/marks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using format::Mark;
using test::SimStore;
using test::SmallSnapshot;
using Marks = std::vector<Mark>;

namespace {

const std::string run = "run7", stream = "restart";
const SmallSnapshot first_save{.id = 0xf3, .nodes = 2},
    later{.id = 0xf4, .nodes = 1, .sealed_unix_ns = 1'800'000'000'000'000'000};
const Mark holes{"numbers", "*/nan > 0", "theta/nan", 3}, hot{"numbers", "theta/max >= 400", "theta/max", 412.5};

catalog::MarkedSave save_of(const SmallSnapshot& snapshot) { return {run, stream, snapshot.step, snapshot.id}; }
Result<> mark(sys::Store& store, const SmallSnapshot& snapshot, const Marks& marks = {holes}) {
    return catalog::mark(store, save_of(snapshot), marks);
}

std::unique_ptr<SimStore> disk_with(const SmallSnapshot& snapshot, bool committed) {
    SimStore disk(run);
    REQUIRE(test::drain_all(disk, run, snapshot));
    if (committed) REQUIRE(test::commit(disk, run, snapshot));
    disk.settle();
    return disk.clone();
}

Marks in_manifest(sys::Store& store, const SmallSnapshot& snapshot) {
    return catalog::load_manifest(store, test::step_directory(run, snapshot)).value().marks;
}
Marks known(sys::Store& store, const SmallSnapshot& snapshot) {
    const auto directory = test::step_directory(run, snapshot);
    return catalog::marks_of(store, directory, catalog::load_manifest(store, directory).value()).value();
}

// After any cut, and after the next programs are done, the snapshot is whole and its manifest agrees with the readers.
void check_settled(SimStore& disk, const SmallSnapshot& snapshot, bool is_told) {
    REQUIRE(commit::recover(disk, run, true));
    if (!test::is_whole(disk, run, snapshot)) {
        REQUIRE(test::drain_all(disk, run, snapshot));
        REQUIRE(test::commit(disk, run, snapshot));
    }
    CHECK(test::is_whole(disk, run, snapshot));
    const auto marks = in_manifest(disk, snapshot);
    CHECK(marks == known(disk, snapshot));
    CHECK((marks.empty() || marks == Marks{holes}));
    if (is_told) CHECK(marks == Marks{holes});
    CHECK(std::ranges::none_of(disk.paths(), [](const auto& path) { return path.ends_with(".tmp"); }));
}

// Runs `act` on a copy of the disk. Runs `other` before each operation of it, and after the last.
template <class Act, class Other, class Check>
void at_each_operation(const SimStore& before, const Act& act, const Other& other, const Check& check) {
    bool is_after = false;
    for (int at = 0; !is_after; ++at) {
        CAPTURE(at);
        const auto disk = before.clone();
        test::InterruptedStore store(*disk, at, [&] { other(*disk); });
        act(store);
        is_after = store.operations() <= at;
        if (is_after) other(*disk);
        check(*disk);
    }
}

void check_marked_or_gone(const Result<>& marked) {
    if (!marked) CHECK(marked.error().kind == ErrorKind::missing);
}

}  // namespace

TEST_CASE("a mark that comes before the manifest is in it when the snapshot is committed, one that comes later too") {
    for (const bool committed : {false, true}) {
        CAPTURE(committed);
        const auto disk = disk_with(first_save, committed);
        REQUIRE(mark(*disk, first_save));
        REQUIRE(mark(*disk, first_save));
        REQUIRE(mark(*disk, first_save, {hot}));
        if (!committed) REQUIRE(test::commit(*disk, run, first_save));
        auto marks = in_manifest(*disk, first_save);
        std::ranges::sort(marks, {}, &Mark::condition);
        CHECK(marks == Marks{holes, hot});
        CHECK(test::is_whole(*disk, run, first_save));
        const auto unmark = [&](const Marks& which) {
            REQUIRE(catalog::unmark(*disk, test::step_directory(run, first_save), which));
        };
        unmark({holes});  // the person who removes this mark has not seen the second mark
        CHECK(known(*disk, first_save) == Marks{hot});
        CHECK(catalog::marks_beside(*disk, test::step_directory(run, first_save)).value() == Marks{hot});
        unmark({holes, hot});
        CHECK(known(*disk, first_save).empty());
        CHECK(test::is_whole(*disk, run, first_save));
    }
}

TEST_CASE("a mark whose value is not a number is made once, as any other") {
    const Mark flag{"look", "theta is not finite", "", std::nan("")};
    const auto disk = disk_with(first_save, true);
    for (int i = 0; i < 2; ++i) REQUIRE(mark(*disk, first_save, {flag}));
    CHECK(in_manifest(*disk, first_save) == Marks{flag});
    CHECK(known(*disk, first_save) == Marks{flag});
}

TEST_CASE("a snapshot that has as many marks as one may have gets no more, and is marked") {
    const auto disk = disk_with(first_save, true);
    for (int i = 0; i < 70; ++i)
        REQUIRE(
            mark(*disk, first_save, {{"look", std::to_string(i), "", 0}, {"look", std::to_string(i + 100), "", 0}}));
    CHECK(in_manifest(*disk, first_save).size() == format::marks_max);
    CHECK(known(*disk, first_save).size() == format::marks_max);
    CHECK(disk->list(catalog::marks_path(test::step_directory(run, first_save)))->size() == format::marks_max);
    CHECK(test::is_whole(*disk, run, first_save));
}

TEST_CASE("a snapshot that is not there cannot be marked") {
    const auto disk = disk_with(first_save, true);
    CHECK(mark(*disk, later).error().kind == ErrorKind::missing);
    CHECK(mark(*disk, first_save, {{"numbers", "", "", 0}}).error().kind == ErrorKind::refused);
}

TEST_CASE("marking: a crash at any operation leaves a whole snapshot, marked or not yet") {
    for (const bool committed : {false, true}) {
        CAPTURE(committed);
        const auto before = disk_with(first_save, committed);
        test::crash_at_each(
            *before, test::reboots(6), [](SimStore& disk) { return mark(disk, first_save); },
            [&](SimStore& disk, const Result<>& marked) {
                if (committed) CHECK(test::is_whole(disk, run, first_save));
                if (committed && marked) CHECK(known(disk, first_save) == Marks{holes});
                check_settled(disk, first_save, marked.has_value());
            });
    }
}

TEST_CASE("commit of a marked part: a crash at any operation loses no mark") {
    const auto before = disk_with(first_save, false);
    REQUIRE(mark(*before, first_save));
    before->settle();
    test::crash_at_each(
        *before, test::reboots(6), [](SimStore& disk) { return test::commit(disk, run, first_save); },
        [](SimStore& disk, const auto&) { check_settled(disk, first_save, true); });
}

TEST_CASE("mark and commit race: each at every operation of the other") {
    const auto before = disk_with(first_save, false);
    const auto marking = [](sys::Store& store) { CHECK(mark(store, first_save)); };
    const auto committing = [](sys::Store& store) { CHECK(test::commit(store, run, first_save)); };
    const auto check = [](SimStore& disk) {
        CHECK(in_manifest(disk, first_save) == Marks{holes});
        CHECK(test::is_whole(disk, run, first_save));
    };
    at_each_operation(*before, marking, committing, check);
    at_each_operation(*before, committing, marking, check);
}

TEST_CASE("two who commit and one who marks: the late manifest loses no mark") {
    const auto before = disk_with(first_save, false);
    const auto committing = [](sys::Store& store) { CHECK(test::commit(store, run, first_save)); };
    const auto both = [&](sys::Store& store) {
        CHECK(mark(store, first_save));
        committing(store);
    };
    at_each_operation(*before, committing, both,
                      [](SimStore& disk) { CHECK(in_manifest(disk, first_save) == Marks{holes}); });
}

TEST_CASE("two who mark at once: the manifest has both") {
    const auto before = disk_with(first_save, true);
    at_each_operation(
        *before, [](sys::Store& store) { CHECK(mark(store, first_save)); },
        [](sys::Store& store) { CHECK(mark(store, first_save, {hot})); },
        [](SimStore& disk) { CHECK(in_manifest(disk, first_save).size() == 2); });
}

TEST_CASE("a save that takes the name of the one that is being marked keeps its own manifest, and is not marked") {
    const auto before = disk_with(first_save, true);
    REQUIRE(test::drain_all(*before, run, later));
    before->settle();
    at_each_operation(
        *before, [](sys::Store& store) { check_marked_or_gone(mark(store, first_save)); },
        [](sys::Store& store) { CHECK(test::commit(store, run, later)); },
        [](SimStore& disk) {
            CHECK(test::is_whole(disk, run, later));
            CHECK(known(disk, later).empty());
        });
}

TEST_CASE("retention beside a marker removes the snapshot whole, at any operation of the marker") {
    const auto before = disk_with(first_save, true);
    const SmallSnapshot next{.id = 0xf5, .step = 130};
    REQUIRE(test::commit_all(*before, run, next));
    before->settle();
    at_each_operation(
        *before, [](sys::Store& store) { check_marked_or_gone(mark(store, first_save)); },
        [](sys::Store& store) { CHECK(catalog::prune(store, run, stream, {.keep = 1})); },
        [&](SimStore& disk) {
            REQUIRE(commit::recover(disk, run, true));
            CHECK(catalog::snapshots(disk, run, stream).value().size() == 1);
            CHECK(test::is_whole(disk, run, next));
            for (const auto& path : disk.paths()) CHECK(path.find(".marks") == path.npos);
        });
}

TEST_CASE("retention counts no marked snapshot, and keeps as many of them as of good ones") {
    SimStore disk(run);
    const auto steps = [&] {
        std::vector<std::int64_t> all;
        for (const auto& snapshot : catalog::snapshots(disk, run, stream).value()) all.push_back(snapshot.step);
        return all;
    };
    using Steps = std::vector<std::int64_t>;
    const auto commit = [&](std::int64_t step, bool marked) {
        const SmallSnapshot snapshot{.id = static_cast<std::uint64_t>(step), .step = step};
        REQUIRE(test::commit_all(disk, run, snapshot));
        if (marked) REQUIRE(mark(disk, snapshot));
        REQUIRE(catalog::prune(disk, run, stream, {.keep = 2, .keep_also = step}));
    };
    for (const std::int64_t step : {10, 20, 30}) commit(step, false);
    CHECK(steps() == Steps{30, 20});
    for (const std::int64_t step : {40, 50, 60, 70}) commit(step, true);
    CHECK(steps() == Steps{70, 60, 30, 20});
    commit(80, false);
    CHECK(steps() == Steps{80, 70, 60, 30});
    commit(90, false);
    CHECK(steps() == Steps{90, 80});
    // Snapshots that an analysis may still mark do not count.
    const SmallSnapshot next{.id = 100, .step = 100};
    REQUIRE(test::commit_all(disk, run, next));
    REQUIRE(catalog::prune(disk, run, stream, {.keep = 1, .keep_also = 100, .unproved = 1}));
    CHECK(steps() == Steps{100, 90});
    REQUIRE(catalog::prune(disk, run, stream, {.keep = 1, .keep_also = 100, .in_analysis = {100}}));
    CHECK(steps() == Steps{100, 90});
    REQUIRE(mark(disk, next));
    REQUIRE(catalog::prune(disk, run, stream, {.keep = 1}));
    CHECK(steps() == Steps{100, 90});
}

TEST_CASE("saves that nodes have a part in are known by the names of the parts, the newest ones of all sessions") {
    SimStore disk(run);
    CHECK(catalog::saves_in_analysis(disk, run, stream).value().empty());
    std::set<std::uint64_t> newest;
    for (std::uint32_t i = 1; i <= 12; ++i) {
        const catalog::AnalysedSave save{{1 + i / 8, 0}, i % 8, 5, 100 + i};
        CHECK(catalog::analysed_of(catalog::analysed_name(save) + ".of-00001") == save);
        // The parts of a script lie beside the parts of built-in analyses.
        const auto of = i % 2 == 0 ? std::string(stream) : std::string(stream) + ".look";
        REQUIRE(disk.make_directories(catalog::analysed_path(run, of) + "/" + catalog::analysed_name(save)));
        if (i > 4) newest.insert(100 + i);
    }
    REQUIRE(disk.make_directories(catalog::analysed_path(run, std::string(stream) + "2") + "/" +
                                  catalog::analysed_name({{9, 0}, 1, 5, 300})));
    REQUIRE(disk.make_directories(catalog::analysed_path(run, stream) + "/others"));
    CHECK(catalog::saves_in_analysis(disk, run, stream).value() == newest);
}
