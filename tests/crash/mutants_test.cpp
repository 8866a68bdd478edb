// Goal: the enumeration is no rubber stamp: a program that leaves out or swaps any one step of durability is caught.
// Method: the real programs over a store that makes the mistake.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "crash/enumerate.hpp"
#include "crash/mutant_store.hpp"

using namespace forebay;
using namespace forebay::crash;

namespace {

Tally tally_of(const Programs& programs) {
    Tally tally;
    for (const auto& script : scripts(1))
        if (tally.violations == 0 && !script.faults) enumerate(script, programs, 1, 4, tally);
    return tally;
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
        const auto tally = tally_of({.make_store = [&](sys::Store& store) {
            return std::make_unique<MutantStore>(store, mutant.mistake, mutant.where, run);
        }});
        CHECK(tally.violations > 0);
    }
}

TEST_CASE("a seal before the data is caught") {
    const auto tally = tally_of({.seal_first = true});
    CHECK(tally.violations > 0);
    for (const auto& text : tally.first) CHECK(text.find("committed and damaged") == std::string::npos);
}
