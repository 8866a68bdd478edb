// Goal: the manifests, not the names, decide which snapshots are living or abandoned; the names show it; retention
// counts on the living line; snapshots put there from another run stay. Method: small snapshots of several sessions on
// the simulated disk.

#include "path/catalog/history.hpp"

#include <doctest/doctest.h>

#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::SimStore;
using test::SmallSnapshot;
using Steps = std::vector<std::int64_t>;

namespace {

const std::string run = "run7", stream = "restart", directory = run + "/" + stream;
constexpr std::uint64_t run_id = 0xf3;

SmallSnapshot of(const std::vector<format::LineStart>& lines, std::int64_t step, std::uint64_t save = 1) {
    const auto line = lines.back().line;
    return {.id = line.session * 1'000'000u + line.turn * 100'000u + static_cast<std::uint64_t>(step) * 10 + save,
            .step = step,
            .sealed_unix_ns = 1'000'000 - static_cast<std::int64_t>(line.session),  // clocks that run backwards
            .lineage = {run_id, save, lines}};
}

const std::vector<format::LineStart> first{{{1, 0}, -1}}, second{{{1, 0}, -1}, {{2, 0}, 300}};

// Line 1 from 100 to 500, then line 2 from 300.
struct Run {
    Run() : disk(directory) {
        disk.make_directories(run + "/" + catalog::own_directory).value();
        sys::write_text_durable(disk, run + "/" + name, "{}").value();
        for (const std::int64_t step : {100, 200, 300, 400, 500}) commit(of(first, step));
    }
    commit::Commit commit(const SmallSnapshot& snapshot) {
        test::drain_all(disk, run, snapshot).value();
        return test::commit(disk, run, snapshot).value();
    }
    catalog::History history() { return catalog::history(disk, run, stream).value(); }
    catalog::Pruned prune(const catalog::Retention& what) { return catalog::prune(disk, run, stream, what).value(); }

    const std::string name = std::string(catalog::own_directory) + "/run-00000000000000f3.json";
    SimStore disk;
};

Steps steps_of(const std::vector<catalog::Version>& versions) {
    Steps steps;
    for (const auto& version : versions) steps.push_back(version.head.step);
    return steps;
}

std::vector<std::string> names_in(SimStore& disk) {
    std::vector<std::string> names;
    for (const auto& entry : disk.list(directory).value()) names.push_back(entry.name);
    return names;
}

}  // namespace

TEST_CASE("a line abandons what earlier ones have above its start; one read of a manifest's head tells") {
    Run here;
    CHECK(steps_of(here.history().living) == Steps{500, 400, 300, 200, 100});
    here.commit(of(second, 310));
    const auto opens = here.disk.calls(test::Op::open);
    const auto history = here.history();
    CHECK(here.disk.calls(test::Op::open) - opens == 6);
    CHECK(steps_of(history.living) == Steps{310, 300, 200, 100});
    CHECK(steps_of(history.abandoned) == Steps{500, 400});
    CHECK(history.line() == format::Line{2, 0});
    CHECK(history.abandons({1, 0}, 301));
    CHECK_FALSE(history.abandons({1, 0}, 300));
    CHECK_FALSE(history.abandons({2, 0}, 999));
}

TEST_CASE("the same step on two lines: the later has the step's name, in whatever order they are committed") {
    for (const bool late : {false, true}) {
        CAPTURE(late);
        Run here;
        const auto old = of(first, 600), now = of(second, 600);
        CHECK(here.commit(late ? now : old) == commit::Commit::committed);
        CHECK(here.commit(late ? old : now) == (late ? commit::Commit::set_aside : commit::Commit::committed));
        CHECK(test::commit(here.disk, run, old).value() == commit::Commit::already);
        CHECK(test::commit(here.disk, run, now).value() == commit::Commit::already);
        CHECK(test::is_whole(here.disk, run, now));
        const auto aside = directory + "/line-1.step-000600";
        CHECK(catalog::load_manifest(here.disk, aside).value().snapshot_id == old.id);
        CHECK(steps_of(here.history().abandoned) == Steps{600, 500, 400});
        CHECK(catalog::leftovers(here.disk, run, stream).value().empty());
    }
}

TEST_CASE(
    "two agents that commit one save at once, whenever one overtakes the other, lose nothing of the line before") {
    const auto now = of(second, 400);
    int operations = 1;
    for (int at = 0; at < operations; ++at) {
        CAPTURE(at);
        Run here;
        test::drain_all(here.disk, run, now).value();
        test::InterruptedStore slow(here.disk, at, [&] { test::commit(here.disk, run, now).value(); });
        REQUIRE(test::commit(slow, run, now));
        operations = slow.operations();
        const auto history = here.history();
        CHECK(steps_of(history.living) == Steps{400, 300, 200, 100});
        CHECK(steps_of(history.abandoned) == Steps{500, 400});
    }
    CHECK(operations > 10);
}

TEST_CASE("a step that is saved again on one line is replaced by the later save, whatever the clocks say") {
    Run here;
    auto again = of(first, 500, 2);
    again.sealed_unix_ns = 0;
    CHECK(here.commit(again) == commit::Commit::committed);
    CHECK(test::is_whole(here.disk, run, again));
    auto before = of(first, 500, 1);
    before.id = 1;
    before.sealed_unix_ns = INT64_MAX;
    CHECK(here.commit(before) == commit::Commit::superseded);
    CHECK(test::is_whole(here.disk, run, again));
    CHECK(steps_of(here.history().living) == Steps{500, 400, 300, 200, 100});
}

TEST_CASE("what a line has abandoned does not come back while the line's only snapshot is replaced") {
    Run here;
    const auto only = of(second, 310);
    REQUIRE(here.commit(only) == commit::Commit::committed);
    const auto aside = catalog::leftover_name({310, only.id, catalog::Leftover::Kind::old});
    REQUIRE(here.disk.rename(test::step_directory(run, only), directory + "/" + aside));
    CHECK(steps_of(here.history().living) == Steps{300, 200, 100});
    REQUIRE(catalog::mark_dropped(here.disk, directory, {2, 0}));
    CHECK(steps_of(here.history().living) == Steps{500, 400, 300, 200, 100});
}

TEST_CASE("retention counts living snapshots; what is abandoned stays until the line has as many of its own") {
    Run here;
    here.commit(of(second, 310));
    CHECK(here.prune({.keep = 3}).problems.empty());
    CHECK(names_in(here.disk) == std::vector<std::string>{"line-1.step-000400", "line-1.step-000500", "step-000200",
                                                          "step-000300", "step-000310"});
    here.commit(of(second, 320));
    here.prune({.keep = 3});
    CHECK(steps_of(here.history().living) == Steps{320, 310, 300});
    CHECK(steps_of(here.history().abandoned) == Steps{500, 400});
    here.commit(of(second, 330));
    const auto pruned = here.prune({.keep = 3});
    CHECK(pruned.removed.size() == 3);
    CHECK(names_in(here.disk) == std::vector<std::string>{"step-000310", "step-000320", "step-000330"});
}

TEST_CASE("what is abandoned is never more than asked for, and nothing of it is removed where all is kept") {
    Run here;
    here.commit(of(second, 310));
    here.prune({.keep = 0});
    CHECK(steps_of(here.history().abandoned) == Steps{500, 400});
    here.prune({.keep = 0, .keep_abandoned = 1});
    CHECK(steps_of(here.history().abandoned) == Steps{500});
    CHECK(steps_of(here.history().living) == Steps{310, 300, 200, 100});
    here.prune({.keep = 9, .keep_abandoned = 0});
    CHECK(here.history().abandoned.empty());
    Run other;
    other.commit(of(second, 310));
    other.prune({.keep = 1});  // one snapshot of the line itself is enough
    CHECK(names_in(other.disk) == std::vector<std::string>{"step-000310"});
}

TEST_CASE("what was abandoned stays so when all snapshots of the line that left it are gone") {
    Run here;
    here.commit(of(second, 310));
    here.prune({.keep = 0});
    auto third = second;
    third.push_back({{3, 0}, 450});
    here.commit(of(third, 460));
    REQUIRE(here.disk.remove_tree(directory + "/step-000310"));
    CHECK(steps_of(here.history().living) == Steps{460, 300, 200, 100});
    CHECK(steps_of(here.history().abandoned) == Steps{500, 400});
}

TEST_CASE("going back for good: also what comes late, from some node's memory, is abandoned") {
    Run here;
    CHECK(catalog::prune_above(here.disk, run, stream, 300, 2, true).value().removed.size() == 2);
    CHECK(here.history().living.size() == 5);  // a dry run
    const auto removed = catalog::prune_above(here.disk, run, stream, 300, 2, false).value();
    CHECK(removed.removed.size() == 2);
    CHECK(steps_of(here.history().living) == Steps{300, 200, 100});
    CHECK(here.commit(of(first, 510)) == commit::Commit::committed);
    CHECK(steps_of(here.history().living) == Steps{300, 200, 100});
    CHECK(steps_of(here.history().abandoned) == Steps{510});
    here.disk.reboot({.names = false, .bytes = false});
    CHECK(steps_of(here.history().living) == Steps{300, 200, 100});
}

TEST_CASE("a line that is dropped gives back what it had abandoned, names and all, and does not come back itself") {
    Run here;
    for (const std::int64_t step : {310, 400}) here.commit(of(second, step));
    here.prune({.keep = 0});
    CHECK(catalog::prune_line(here.disk, run, stream, {7, 0}, false).error().kind == ErrorKind::missing);
    CHECK(catalog::prune_line(here.disk, run, stream, {2, 0}, false).value().removed.size() == 2);
    CHECK(steps_of(here.history().living) == Steps{500, 400, 300, 200, 100});
    CHECK(here.history().abandoned.empty());
    CHECK(test::is_whole(here.disk, run, of(first, 400)));
    here.commit(of(second, 320));
    CHECK(steps_of(here.history().living) == Steps{500, 400, 300, 200, 100});
    CHECK(steps_of(here.history().abandoned) == Steps{320});
}

TEST_CASE("what `prune --line` leaves without anything living is no run that went back by `prune --above`") {
    Run here;
    here.commit(of(second, 310));
    auto third = second;
    third.push_back({{3, 0}, 310});
    here.commit(of(third, 320));
    here.prune({.keep = 1, .keep_abandoned = 1});
    CHECK(names_in(here.disk) == std::vector<std::string>{"line-1.step-000500", "step-000320"});
    const auto left = catalog::prune_line(here.disk, run, stream, {3, 0}, false).value().left_by;
    REQUIRE(left);
    CHECK(*left == format::Line{2, 0});
    here.disk.reboot({.names = false, .bytes = false});
    CHECK(steps_of(here.history().living).empty());
    CHECK(steps_of(here.history().abandoned) == Steps{500});
    CHECK(here.history().latest_line() == format::Line{2, 0});
    CHECK_FALSE(here.history().was_pruned_back());
    CHECK(here.history().last_session() == 3);
    // An old mark without a kind counts as a mark of `prune --above`.
    Run old;
    REQUIRE(old.disk.remove_tree(directory));
    old.commit(of(first, 500));
    REQUIRE(catalog::mark_start(old.disk, directory, {{2, 0}, 100}));
    CHECK(old.history().was_pruned_back());
    // You can also drop a line that has no snapshot any more.
    const auto own = catalog::prune_line(here.disk, run, stream, {2, 0}, false).value();
    CHECK(own.removed.empty());
    CHECK_FALSE(own.left_by);
    CHECK(steps_of(here.history().living) == Steps{500});
    CHECK(here.history().living.front().snapshot.directory == directory + "/step-000500");
}

TEST_CASE("an abandoned line can be removed by name") {
    Run here;
    here.commit(of(second, 310));
    here.prune({.keep = 0});
    auto third = first;  // begins anew beside it
    third.front() = {{3, 0}, -1};
    here.commit(of(third, 10));
    CHECK(catalog::prune_line(here.disk, run, stream, {2, 0}, false).value().removed.size() == 1);
    CHECK(steps_of(here.history().abandoned) == Steps{500, 400, 300, 200, 100});
}

TEST_CASE("of a line that was left only what lies above goes, also where the line after it never knew it") {
    for (const bool knows : {true, false}) {
        CAPTURE(knows);
        Run here;
        auto later = knows ? second : first;
        if (!knows) later.front() = {{2, 0}, 300};  // begun without a look
        here.commit(of(later, 310));
        here.prune({.keep = 0});
        const auto removed = catalog::prune_line(here.disk, run, stream, {1, 0}, false).value();
        CHECK(removed.removed.size() == 2);
        CHECK(steps_of(here.history().living) == Steps{310, 300, 200, 100});
        CHECK(here.history().abandoned.empty());
        CHECK(catalog::prune_line(here.disk, run, stream, {1, 0}, false).error().kind == ErrorKind::missing);
        here.commit(of(first, 450));  // late, from some node's memory
        CHECK(steps_of(here.history().living) == Steps{310, 300, 200, 100});
    }
}

TEST_CASE("another run's snapshot is neither living nor removed, until it is taken in") {
    Run here;
    auto theirs = of(first, 600);
    theirs.lineage.run_id = 0;
    here.commit(theirs);
    auto manifest = catalog::load_manifest(here.disk, directory + "/step-000600").value();
    manifest.lineage.run_id = 0xaa;
    sys::write_text_durable(here.disk, directory + "/step-000600/manifest.json", format::encode_manifest(manifest))
        .value();
    CHECK(steps_of(here.history().foreign) == Steps{600});
    CHECK(here.history().living.front().head.step == 500);
    here.prune({.keep = 1});
    CHECK(names_in(here.disk) == std::vector<std::string>{"step-000500", "step-000600"});
    // It is not replaced either.
    const auto ours = of(second, 600);
    test::drain_all(here.disk, run, ours).value();
    CHECK(test::commit(here.disk, run, ours).error().kind == ErrorKind::refused);
    REQUIRE(catalog::adopt(here.disk, run, here.history().foreign.front().snapshot));
    CHECK(here.history().foreign.empty());
    CHECK(here.history().living.front().head.step == 600);
    CHECK(test::commit(here.disk, run, ours).value() == commit::Commit::committed);
}

TEST_CASE("a node file of another run is committed nowhere") {
    Run here;
    auto theirs = of(first, 600);
    theirs.lineage.run_id = 0xaa;
    test::drain_all(here.disk, run, theirs).value();
    const auto key = test::key_of(run, theirs);
    const auto refused = commit::commit_if_complete(here.disk, key, run_id);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(refused.error().text().find("00000000000000aa") != std::string::npos);
}

TEST_CASE("a crash at any operation while a line takes over leaves each snapshot whole under one name or the other") {
    Run here;
    const auto now = of(second, 400);
    test::drain_all(here.disk, run, now).value();
    here.disk.settle();
    const auto play = [&](SimStore& disk) {
        static_cast<void>(test::commit(disk, run, now));
        static_cast<void>(catalog::prune(disk, run, stream, {.keep = 0}));
    };
    test::crash_at_each(here.disk, test::reboots(20), play, [&](SimStore& disk) {
        const auto count_of = [&](const SmallSnapshot& snapshot) {
            int count = 0;
            for (const auto& version : catalog::heads_of(disk, run, stream).value()) {
                REQUIRE(version.readable);
                if (version.head.snapshot_id != snapshot.id) continue;
                ++count;
                CHECK(catalog::verify(disk, version.snapshot, {}).value().damage.empty());
            }
            return count;
        };
        for (const std::int64_t step : {100, 200, 300, 400, 500}) CHECK(count_of(of(first, step)) == 1);
        REQUIRE(test::recover_all(disk, run));
        REQUIRE(catalog::prune(disk, run, stream, {.keep = 0}));
        for (const std::int64_t step : {100, 200, 300, 400, 500}) CHECK(count_of(of(first, step)) == 1);
        CHECK(count_of(now) == 1);
        const auto history = catalog::history(disk, run, stream).value();
        CHECK(steps_of(history.living) == Steps{400, 300, 200, 100});
        CHECK(history.living.front().head.snapshot_id == now.id);
        for (const auto& version : history.abandoned) CHECK(version.set_aside);
    });
}

TEST_CASE("packed files are on no line: nothing goes back in their streams") {
    SimStore disk(run + "/packed-files");
    CHECK(catalog::prune_above(disk, run, "packed-files", 5, 2, false).error().kind == ErrorKind::refused);
    CHECK(catalog::prune_line(disk, run, "packed-files", {2, 0}, false).error().kind == ErrorKind::refused);
    CHECK(disk.list(run + "/packed-files").value().empty());
}

TEST_CASE("while a manifest cannot be read, a name that is set aside counts: that one may be all that says so") {
    Run here;
    here.commit(of(second, 310));
    REQUIRE(here.disk.exists(directory + "/step-000500").value());
    here.prune({.keep = 9});
    REQUIRE(here.disk.exists(directory + "/line-1.step-000500").value());
    const auto manifest = directory + "/step-000310/manifest.json";
    const auto text = sys::read_text(here.disk, manifest, 1 << 20).value();
    sys::write_text_durable(here.disk, manifest, "").value();
    const auto history = here.history();
    CHECK(steps_of(history.living) == Steps{310, 300, 200, 100});
    CHECK(steps_of(history.abandoned) == Steps{500, 400});
    CHECK_FALSE(history.living.front().readable);
    sys::write_text_durable(here.disk, manifest, text).value();
    CHECK(steps_of(here.history().living) == Steps{310, 300, 200, 100});
    here.disk.remove_tree(directory + "/step-000310").value();  // a person removes it to get line 1 back
    CHECK(steps_of(here.history().living) == Steps{500, 400, 300, 200, 100});
}

TEST_CASE("a copy of a directory under another step's name, or of a line, is corrupt and is named") {
    Run here;
    const auto copy = [&](const std::string& from, const std::string& to) {
        here.disk.make_directory(directory + "/" + to).value();
        const auto text = sys::read_text(here.disk, directory + "/" + from + "/manifest.json", 1 << 20).value();
        sys::write_text_durable(here.disk, directory + "/" + to + "/manifest.json", text).value();
    };
    copy("step-000200", "step-000900");
    copy("step-000200", "line-7.step-000200");
    const auto history = here.history();
    CHECK(steps_of(history.living) == Steps{900, 500, 400, 300, 200, 100});
    const auto& misplaced = history.living.front().readable;
    REQUIRE_FALSE(misplaced);
    CHECK(misplaced.error().kind == ErrorKind::corrupt);
    CHECK(misplaced.error().what.find(directory + "/step-000900 is misplaced") == 0);
    REQUIRE(steps_of(history.abandoned) == Steps{200});
    const auto& second_copy = history.abandoned.front().readable;
    REQUIRE_FALSE(second_copy);
    CHECK(second_copy.error().kind == ErrorKind::corrupt);
    CHECK(second_copy.error().what.find(directory + "/step-000200") != std::string::npos);
    CHECK(history.living[4].readable);
}
