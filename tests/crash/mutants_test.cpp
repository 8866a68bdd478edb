// Goal: the enumeration catches real mistakes. It catches a program that skips or swaps any step of durability, or
// breaks a rule of order. Method: the real programs run over a store that makes the mistake, or with wrong records,
// names or choices.

#include <doctest/doctest.h>

#include <algorithm>
#include <span>

#include "crash/enumerate.hpp"
#include "crash/mutant_store.hpp"
#include "path/catalog/views.hpp"

using namespace forebay;
using namespace forebay::crash;

namespace {

/// Plays scripts until one reports a violation, or only the script `name`.
Tally tally_of(const Programs& programs, const std::string& name = {}) {
    Tally tally{.enough = 5};
    for (const auto& script : scripts(1))
        if (tally.violations == 0 && !script.faults && (name.empty() || script.name == name))
            enumerate(script, programs, 1, 4, tally);
    return tally;
}

bool tells(const Tally& tally, const std::string& words) {
    return std::ranges::any_of(tally.first, [&](const auto& text) { return text.find(words) != text.npos; });
}

Programs over(Mistake mistake, const std::string& where) {
    return {.make_store = [=](sys::Store& store) { return std::make_unique<MutantStore>(store, mistake, where, run); }};
}

}  // namespace

TEST_CASE("each mistake in the order of durability is caught") {
    struct Mutant {
        const char* what;
        Mistake mistake;
        const char* where;
    };
    for (const auto& mutant :
         {Mutant{"node files are not synced", Mistake::sync_left_out, "/node-"},
          Mutant{"the manifest is not synced", Mistake::sync_left_out, "manifest.json"},
          Mutant{"the snapshot's directory is not synced", Mistake::directory_sync_left_out, ".part"},
          Mutant{"the stream's directory is not synced", Mistake::directory_sync_left_out, "/restart"},
          Mutant{"the run's directory is not synced", Mistake::directory_sync_left_out, "run7"},
          Mutant{"node files get their names before they are synced", Mistake::rename_before_sync, "/node-"},
          Mutant{"the snapshot gets its name before its data are synced", Mistake::manifest_before_data, "/node-"},
          Mutant{"and before its manifest is", Mistake::manifest_before_data, "manifest.json"},
          Mutant{"combined files are not synced", Mistake::sync_left_out, "/nodes-"},
          Mutant{"regions arrive before they are synced", Mistake::arrival_before_sync, "/nodes-"},
          Mutant{"regions arrive before their data", Mistake::arrival_before_data, "/nodes-"},
          Mutant{"shared files are not synced", Mistake::sync_left_out, "/shared"},
          Mutant{"what of a shared file goes through the page cache is not synced", Mistake::sync_of_ends_left_out,
                 "/shared"},
          Mutant{"nodes of a shared file arrive before they are synced", Mistake::arrival_before_sync, "/shared"},
          Mutant{"nodes of a shared file arrive before their data", Mistake::arrival_before_data, "/shared"},
          Mutant{"node files get their record and name before their data", Mistake::record_before_data, "/node-"}}) {
        CAPTURE(mutant.what);
        const auto tally = tally_of(over(mutant.mistake, mutant.where));
        CHECK(tally.violations > 0);
    }
}

TEST_CASE("a seal before the data is caught") {
    const auto tally = tally_of({.seal_first = true});
    CHECK(tally.violations > 0);
    for (const auto& text : tally.first) CHECK(text.find("committed and damaged") == std::string::npos);
}

TEST_CASE("a claim whose number can be taken twice is caught") {
    for (const auto& [mistake, where] :
         {std::pair{Mistake::rename_replaces, "/sessions/"}, std::pair{Mistake::directory_sync_left_out, "/sessions"}})
        CHECK(tells(tally_of(over(mistake, where), "claims"), "two sessions have the number"));
    // The first claim of a run makes the directory of all sessions.
    const auto unsynced = over(Mistake::directory_sync_left_out, "/forebay");
    CHECK(tells(tally_of(unsynced, "another run"), "two sessions have the number"));
}

TEST_CASE("a commit that does not look whose run it is is caught") {
    CHECK(tells(tally_of(over(Mistake::always_there, "/forebay/run-"), "another run"), "is of another run"));
}

TEST_CASE("an order by clocks is caught: of what a restart takes, and of saves that say nothing of their lines") {
    const auto newest_by_clock = [](const std::vector<catalog::Version>& living) {
        const auto time = [](const auto& version) { return version.head.sealed_unix_ns; };
        const auto newest = std::ranges::max_element(living, {}, time);
        return newest == living.end() ? nullptr : &*newest;
    };
    for (const auto* script : {"retention", "going back", "beginning anew"}) {
        CAPTURE(script);
        CHECK(tells(tally_of({.choose = newest_by_clock}, script), "a restart takes"));
    }
    const auto without_lines = [](test::SmallSnapshot save) {
        save.lineage = {.run_id = save.lineage.run_id};
        return save;
    };
    CHECK(tells(tally_of({.recorded = without_lines}, "going back"), "was committed and is lost"));
    CHECK(tells(tally_of({.recorded = without_lines}, "anything"), "is living, and was abandoned"));
}

TEST_CASE("a retention that removes what nobody chose to leave is caught") {
    const auto removes_left = [](sys::Store& store, catalog::Retention what) {
        what.keep_abandoned = 0;
        return catalog::prune(store, run, stream, what);
    };
    CHECK(tells(tally_of({.prune = removes_left}, "marks on everything"), "too little that is good stays"));
    // This retention counts everything with a manifest.
    const auto counts_all = [](sys::Store& store, const catalog::Retention& what) -> Result<catalog::Pruned> {
        auto all = catalog::history(store, run, stream);
        if (!all) return all.error();
        catalog::Pruned pruned;
        for (const auto& version :
             std::span(all->living).subspan(std::min(all->living.size(), static_cast<std::size_t>(what.keep)))) {
            const auto& [stream_name, step, directory] = version.snapshot;
            const auto views = catalog::remove_views(store, stream_directory, step, catalog::ViewsOf::step_and_series);
            if (views && catalog::discard(store, directory, step, 1)) pruned.removed.push_back(version.snapshot);
        }
        return pruned;
    };
    CHECK(tells(tally_of({.prune = counts_all}, "marks"), "too little that is good stays"));
}

TEST_CASE("a batch that takes the place of another is caught") {
    CHECK(tells(tally_of({.batches = "batches"}, "packers"), "was committed and is lost"));
}
