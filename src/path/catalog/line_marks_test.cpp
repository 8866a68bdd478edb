// Goal: snapshots abandoned by a line stay abandoned when the line's snapshots are removed, and a save under two names
// blocks nothing. Method: small snapshots of two sessions on the simulated disk.

#include <doctest/doctest.h>

#include "path/catalog/history.hpp"
#include "path/catalog/removal.hpp"
#include "path/catalog/run.hpp"
#include "support/committed_run.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::SimStore;
using test::SmallSnapshot;
using Steps = std::vector<std::int64_t>;

namespace {

const std::string run = "run7", stream = "restart", directory = run + "/" + stream;
const std::vector<format::LineStart> first{{{1, 0}, -1}}, second{{{1, 0}, -1}, {{2, 0}, 300}};

SmallSnapshot of(const std::vector<format::LineStart>& lines, std::int64_t step) {
    const auto session = lines.back().line.session;
    return {.id = session * 1'000'000u + static_cast<std::uint64_t>(step), .step = step, .lineage = {0, 1, lines}};
}

// Line 1 has 300 and 500, and 500 is set aside. Line 2 has one step.
struct Run {
    explicit Run(std::int64_t last = 310) : disk(directory) {
        for (const std::int64_t step : {300, 500}) test::commit_all(disk, run, of(first, step)).value();
        test::commit_all(disk, run, of(second, last)).value();
        catalog::name_by_line(disk, run, history()).value();
    }
    catalog::History history() { return catalog::history(disk, run, stream).value(); }
    Steps living() {
        Steps steps;
        for (const auto& version : history().living) steps.push_back(version.head.step);
        return steps;
    }
    void remove(const std::string& name) {
        catalog::mark_before_removal(disk, run, stream, directory + "/" + name).value();
        disk.remove_tree(directory + "/" + name).value();
    }
    // Copies like a tool that does not know runs.
    void bring(const std::string& from, const std::string& to) {
        disk.make_directory(directory + "/" + to).value();
        for (const auto& entry : disk.list(directory + "/" + from).value()) {
            const auto bytes = sys::read_text(disk, directory + "/" + from + "/" + entry.name, 1 << 20).value();
            sys::write_text_durable(disk, directory + "/" + to + "/" + entry.name, bytes).value();
        }
    }

    SimStore disk;
};

}  // namespace

TEST_CASE("a line that loses its last snapshot to a removal by name still abandons, its manifest damaged or not") {
    for (const bool damaged : {false, true}) {
        CAPTURE(damaged);
        Run here;
        if (damaged) sys::write_text_durable(here.disk, directory + "/step-000310/manifest.json", "").value();
        CHECK(here.living() == Steps{310, 300});
        here.remove("step-000310");
        CHECK(here.living() == Steps{300});
        CHECK(here.history().abandoned.size() == 1);
        test::commit_all(here.disk, run, of({{{1, 0}, -1}, {{3, 0}, 300}}, 600)).value();
        CHECK(here.living() == Steps{600, 300});
    }
}

TEST_CASE("prune --above takes a damaged manifest away, and what its line had abandoned stays abandoned") {
    Run here(510);
    sys::write_text_durable(here.disk, directory + "/step-000510/manifest.json", "").value();
    CHECK(here.living() == Steps{510, 300});
    catalog::prune_above(here.disk, run, stream, 505, 4, false).value();
    CHECK(here.living() == Steps{300});
}

TEST_CASE("what a removal by name leaves known is not marked") {
    Run here;
    test::commit_all(here.disk, run, of(second, 320)).value();
    const auto names = here.disk.list(directory).value().size();
    here.remove("step-000310");
    CHECK(here.disk.list(directory).value().size() == names - 1);
    here.remove("line-1.step-000500");
    here.remove("step-000320");
    CHECK(here.disk.list(directory).value().size() == names - 3);
    CHECK(here.living() == Steps{300});
}

TEST_CASE("a save that is there under its step and its line is there once after the next save of the step") {
    const auto now = of(second, 500);
    int operations = 1;
    for (int at = 0; at < operations; ++at) {
        CAPTURE(at);
        Run here;
        here.bring("line-1.step-000500", "step-000500");
        test::drain_all(here.disk, run, now).value();
        test::InterruptedStore slow(here.disk, at, [&] { static_cast<void>(test::commit(here.disk, run, now)); });
        static_cast<void>(test::commit(slow, run, now));  // `refused` if the other agent overtook it
        operations = slow.operations();
        REQUIRE(test::commit(here.disk, run, now));
        CHECK(test::is_whole(here.disk, run, now));
        const auto history = here.history();
        REQUIRE(history.abandoned.size() == 1);
        CHECK(history.abandoned.front().readable);
        CHECK(history.abandoned.front().head.snapshot_id == of(first, 500).id);
        CHECK(catalog::leftovers(here.disk, run, stream).value().empty());
    }
    CHECK(operations > 10);
}

TEST_CASE("retention leaves one of two directories of a save that the run has left") {
    Run here;
    here.bring("line-1.step-000500", "step-000500");
    catalog::prune(here.disk, run, stream, {.keep = 9}).value();
    CHECK_FALSE(here.disk.exists(directory + "/step-000500").value());
    CHECK(catalog::load_manifest(here.disk, directory + "/line-1.step-000500"));
}
