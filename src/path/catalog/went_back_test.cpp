// Goal: restart_from counts again unless the run goes on from a session that obeyed it, or has gone back further.
// Method: the record of session 2, and small snapshots of several sessions on the simulated disk.

#include "path/catalog/went_back.hpp"

#include <doctest/doctest.h>

#include "path/catalog/run.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using Lines = std::vector<format::LineStart>;

namespace {

const std::string run = "run7", stream = "restart";

struct Run {
    Run() : disk(run + "/" + stream) {
        commit({{{1, 0}, -1}}, 300);
        commit({{{1, 0}, -1}}, 500);
        catalog::note_going_back(disk, run, stream, 300, 2).value();
    }
    void commit(const Lines& lines, std::int64_t step) {
        const auto id = lines.back().line.session * 1000u + static_cast<std::uint64_t>(step);
        test::commit_all(disk, run, {.id = id, .step = step, .lineage = {0, 1, lines}}).value();
    }
    bool counts() { return !catalog::has_gone_back(disk, run, stream, 300).value(); }

    test::SimStore disk;
};

}  // namespace

TEST_CASE("restart_from counts again after a session that obeyed it and saved nothing, whatever goes on since") {
    Run here;
    CHECK(here.counts());
    here.commit({{{1, 0}, -1}, {{3, 0}, 500}}, 510);
    CHECK(here.counts());
    here.commit({{{1, 0}, -1}, {{3, 0}, 500}, {{4, 0}, 510}}, 520);
    CHECK(here.counts());
    here.commit({{{1, 0}, -1}, {{5, 0}, 300}}, 310);  // by the environment
    CHECK_FALSE(here.counts());
}

TEST_CASE("restart_from counts once, also when the run has gone back further, until its line is given up") {
    Run here;
    here.commit({{{1, 0}, -1}, {{2, 0}, 300}}, 310);
    CHECK_FALSE(here.counts());
    here.commit({{{1, 0}, -1}, {{2, 0}, 300}, {{3, 0}, 310}}, 320);
    CHECK_FALSE(here.counts());
    catalog::prune(here.disk, run, stream, {.keep = 1, .proof = [](const auto&) { return Result<>(); }}).value();
    CHECK_FALSE(here.counts());
    catalog::prune_line(here.disk, run, stream, {3, 0}, false).value();
    CHECK(here.counts());
}

TEST_CASE("restart_from stays obeyed in a chain longer than a snapshot remembers") {
    Run here;
    Lines lines;
    for (std::uint32_t i = 0; i < format::line_starts_max; ++i) lines.push_back({{10 + i, 0}, 600 + i});
    here.commit(lines, 700);
    CHECK_FALSE(here.counts());
}

TEST_CASE("a crash while the next record replaces the last one leaves one of them") {
    Run here;
    here.commit({{{1, 0}, -1}, {{2, 0}, 300}}, 310);
    here.commit({{{1, 0}, -1}, {{2, 0}, 300}, {{3, 0}, 310}}, 320);
    test::crash_at_each(
        here.disk, test::reboots(9),
        [](test::SimStore& disk) { return catalog::note_going_back(disk, run, stream, 310, 3); },
        [](test::SimStore& disk, const Result<>&) {
            const auto knows = [&](std::int64_t step) {
                return catalog::has_gone_back(disk, run, stream, step).value();
            };
            CHECK((knows(300) || knows(310)));
        });
}
