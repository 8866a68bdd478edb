// Goal: snapshots of a given up attempt are not mixed with the snapshots that the run goes on from, and hide none of
// them; snapshots beside the run and prunes by people stay. Method: small snapshots of several sessions on the
// simulated disk, as in a stream of output: each line knows only its own start.

#include "path/catalog/given_up.hpp"

#include <doctest/doctest.h>

#include "path/catalog/names.hpp"
#include "support/committed_run.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using Steps = std::vector<std::int64_t>;
using Lines = std::vector<format::Line>;
using Starts = std::vector<format::LineStart>;

namespace {

const std::string run = "run7", stream = "output", directory = run + "/" + stream;

struct Run {
    Run() : disk(directory) {
        disk.make_directories(run + "/" + catalog::own_directory).value();
        const std::string name = "/run-00000000000000f3.json";
        sys::write_text_durable(disk, run + "/" + catalog::own_directory + name, "{}").value();
    }
    void save(std::uint32_t session, std::int64_t first, std::int64_t last) {
        for (auto step = first; step <= last; ++step) {
            const test::SmallSnapshot snapshot{
                .id = session * 1'000u + static_cast<std::uint64_t>(step),
                .step = step,
                .stream = stream,
                .lineage = {0xf3, static_cast<std::uint64_t>(step - first + 1), {{{session, 0}, first - 1}}}};
            test::drain_all(disk, run, snapshot).value();
            test::commit(disk, run, snapshot).value();
        }
    }
    Lines drop(const catalog::WentOnByStream& from, std::uint32_t session) {
        return catalog::drop_given_up(disk, run, stream, from, session).value();
    }
    catalog::History history() { return catalog::history(disk, run, stream).value(); }

    test::SimStore disk;
};

const Starts first{{{1, 0}, -1}};

// Session 1 saved 1 to 6, and session 2 went back to 2 and saved 3 and 4.
struct GivenUp : Run {
    GivenUp() {
        save(1, 1, 6);
        save(2, 3, 4);
    }
};

std::vector<std::pair<std::int64_t, std::uint32_t>> living(const catalog::History& history) {
    std::vector<std::pair<std::int64_t, std::uint32_t>> all;
    for (const auto& version : history.living) all.emplace_back(version.head.step, version.head.lineage.line().session);
    return all;
}

}  // namespace

TEST_CASE("a session goes on from behind an attempt that saved no restart: its lines do not count") {
    GivenUp here;
    CHECK(here.drop({{"restart", {6, first}}}, 3) == Lines{{2, 0}});
    here.save(3, 7, 7);
    catalog::prune(here.disk, run, stream, {.keep = 5}).value();
    CHECK(living(here.history()) == decltype(living({})){{7, 3}, {6, 1}, {5, 1}, {4, 1}, {3, 1}});
    CHECK(here.disk.exists(directory + "/line-2.step-000003").value());
    CHECK(here.drop({{"restart", {6, first}}}, 3).empty());  // once is enough
    // The attempt's snapshots stay until `keep` newer snapshots exist.
    here.save(3, 8, 11);
    const auto before = here.history().abandoned.size();
    catalog::prune(here.disk, run, stream, {.keep = 5}).value();
    CHECK(before == 2);
    CHECK(here.history().abandoned.empty());
}

TEST_CASE("an attempt between two lines that the run goes on from does not count either") {
    GivenUp here;
    here.save(3, 7, 8);
    const catalog::WentOnByStream from{{"restart", {8, {{{1, 0}, -1}, {{3, 0}, 6}}}}};
    CHECK(here.drop(from, 4) == Lines{{2, 0}});
    CHECK(living(here.history()).size() == 8);
}

TEST_CASE("lines that count: of the run, beside it, of two minds, or as people have wanted it") {
    const catalog::WentOnByStream from{{"restart", {6, first}}};
    const Starts both{{{1, 0}, -1}, {{2, 0}, 2}};
    {
        GivenUp here;
        CHECK(here.drop({{"restart", {4, both}}}, 3).empty());
        CHECK(here.drop({{"restart", {2, first}}}, 3).empty());  // and abandoned by the start of this session
        CHECK(here.drop({{"particles", {4, both}}, {"restart", {6, first}}}, 3).empty());
        CHECK(here.drop(from, 2).empty());
        here.disk.open(directory + "/step-000001/" + catalog::manifest_name, sys::Access::create)
            .value()
            ->close()
            .value();
        CHECK(here.drop(from, 3).empty());  // nobody knows the content of this manifest
    }
    Run beside;  // session 2 computed 3 from session 1's saves, session 3 then 1
    beside.save(2, 3, 3);
    beside.save(3, 1, 1);
    CHECK(beside.drop(from, 4).empty());
    Run pruned;
    pruned.save(1, 1, 6);
    catalog::prune_above(pruned.disk, run, stream, 2, 2, false).value();
    const test::SmallSnapshot late{
        .id = 9, .step = 5, .stream = stream, .lineage = {0xf3, 9, first}};  // its copy was on another node
    test::drain_all(pruned.disk, run, late).value();
    test::commit(pruned.disk, run, late).value();
    CHECK(pruned.drop(from, 3).empty());
    CHECK(living(pruned.history()).size() == 2);
}

TEST_CASE("who has to look: a session after others from which it does not go on") {
    const Starts both{{{1, 0}, -1}, {{2, 0}, 2}};
    CHECK_FALSE(catalog::may_have_given_up({}, 3));
    CHECK_FALSE(catalog::may_have_given_up({{"restart", {6, first}}}, 2));
    CHECK_FALSE(catalog::may_have_given_up({{"restart", {6, both}}}, 3));
    CHECK_FALSE(catalog::may_have_given_up({{"restart", {6, {}}}}, 3));
    CHECK(catalog::may_have_given_up({{"restart", {6, first}}}, 3));
    CHECK(catalog::may_have_given_up({{"restart", {6, both}}}, 4));
    CHECK(catalog::may_have_given_up({{"restart", {8, {{{1, 0}, -1}, {{3, 0}, 6}}}}}, 3));  // its own saves
}
