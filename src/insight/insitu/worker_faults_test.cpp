// Goal: results are whole or absent after a cut of a node's worker, a failing call of the target, or two nodes joining
// parts at once. A retry completes them with the same bits and leaves no parts. Method: the simulated disk as the
// target of two nodes; a cut before each operation; a fault of each call; one worker running to its end before each
// operation of the other.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "core/describe/analysis_list.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/catalog/catalog.hpp"
#include "path/commit/commit.hpp"
#include "support/crashes.hpp"
#include "support/leased_node.hpp"
#include "support/passing_store.hpp"

using namespace forebay;
using test::CutFields;
using test::LeasedNode;
using test::SimStore;

namespace {

std::vector<Analysis> analyses() {
    auto means = test::means_of("t");
    auto cut = test::means_of("u");
    cut.name = "cut";
    cut.kind = Analysis::Kind::slice;
    Analysis groups;
    groups.name = "groups";
    groups.kind = Analysis::Kind::halos;
    groups.variables = {"gas/x", "gas/y", "gas/z"};
    groups.length = {CutFields::length};
    return {means, cut, groups};
}

// By analysis and name.
using Results = std::map<std::string, std::vector<std::byte>>;

/// A run with a step seen by one node or two.
class World {
public:
    explicit World(std::uint32_t nodes) {
        for (std::uint32_t node = 0; node < nodes; ++node)
            nodes_.emplace_back(folder_, CutFields{4, nodes, 1, 1}, node, analyses(), before);
        before.settle();
        const auto clean = before.clone();
        see_all(*clean);
        expected = results(*clean);
        CHECK(expected.size() == 8 + 1 + 4);
        check_tidy(*clean);
    }

    std::string see(std::uint32_t node, sys::Store& target) const {
        return nodes_[node].answers(nodes_[node].see(), target);
    }
    bool see_all(sys::Store& target) const {
        bool good = true;
        for (std::uint32_t node = 0; node < nodes_.size(); ++node)
            good = see(node, target).find("failed") == std::string::npos && good;
        return good;
    }
    /// All results that are committed and read whole.
    Results results(SimStore& disk) const {
        Results all;
        for (const auto& analysis : analyses()) {
            const auto directory = run() + "/" + describe::result_stream("fields", analysis) + "/step-000120";
            const auto manifest = catalog::load_manifest(disk, directory);
            if (!manifest) {
                CHECK(manifest.error().kind == ErrorKind::missing);
                continue;
            }
            const auto node = catalog::BlockReader::open(disk, directory, manifest->nodes.front()).value();
            for (std::size_t v = 0; v < manifest->schema.variables.size(); ++v)
                all[analysis.name + " " + manifest->schema.variables[v].name] = node.value(v).value();
        }
        return all;
    }
    void check_whole_or_absent(SimStore& disk) const {
        const auto stored = results(disk);
        for (const auto& [name, bytes] : stored) CHECK_MESSAGE(expected.at(name) == bytes, name);
        for (const auto& analysis : analyses()) {
            const auto of = [&](const Results& some) {
                return std::ranges::count_if(
                    some, [&](const auto& entry) { return entry.first.starts_with(analysis.name + " "); });
            };
            CHECK((of(stored) == 0 || of(stored) == of(expected)));
        }
    }
    /// Does the work of agents started after the old agents ended.
    void check_completed(SimStore& disk) const {
        CHECK(see_all(disk));
        CHECK(results(disk) == expected);
        check_tidy(disk);
    }
    void check_tidy(SimStore& disk) const {
        for (const auto& path : disk.paths()) CHECK_MESSAGE(path.find("/insitu/fields/line-") == path.npos, path);
        for (const auto& done : commit::recover(disk, run(), true).value())
            CHECK_MESSAGE(done.outcome != commit::Recovered::Outcome::incomplete, done.text);
        for (const auto& path : disk.paths()) CHECK_MESSAGE(path.find(".part") == path.npos, path);
    }
    const std::string& run() const { return nodes_.front().run; }

    SimStore before;
    Results expected;

private:
    test::TempDirectory folder_;
    std::vector<LeasedNode> nodes_;
};

}  // namespace

TEST_CASE("results are whole or absent after any cut, and made again they are complete, with the same bits") {
    for (const std::uint32_t nodes : {1U, 2U}) {
        CAPTURE(nodes);
        const World world(nodes);
        auto ways = test::reboots(4);
        ways.push_back(test::programs_killed);
        const auto operations = test::crash_at_each(
            world.before, ways, [&](SimStore& disk) { world.see_all(disk); },
            [&](SimStore& disk) {
                world.check_whole_or_absent(disk);
                world.check_completed(disk);
            });
        CHECK(operations > 60);
    }
}

TEST_CASE("a call of the target that fails costs the step at most, and made again it is complete") {
    for (const std::uint32_t nodes : {1U, 2U}) {
        CAPTURE(nodes);
        const World world(nodes);
        int failures = 0;
        test::fault_at_each(
            world.before,
            {test::Op::open, test::Op::write, test::Op::read, test::Op::sync, test::Op::rename, test::Op::list,
             test::Op::exists, test::Op::make_directory, test::Op::remove_tree, test::Op::sync_directory},
            [&](SimStore& disk) {
                return world.see_all(disk) ? Result<>() : Result<>(Error{ErrorKind::retry, "failed"});
            },
            [&](SimStore& disk, const Result<>& seen) {
                failures += seen ? 0 : 1;
                world.check_whole_or_absent(disk);
                if (seen) CHECK(world.results(disk) == world.expected);
                world.check_completed(disk);
            });
        CHECK(failures > 20);
    }
}

TEST_CASE("parts of a step that the other node never sees go with `forebay recover --stale`") {
    const World world(2);
    const auto disk = world.before.clone();
    CHECK(world.see(0, *disk) == "seen\nmade 0\n");
    const auto parts = [&] {
        return std::ranges::count_if(disk->paths(), [](const auto& path) { return path.ends_with("/node-00000"); });
    };
    CHECK(commit::recover(*disk, world.run(), false));
    CHECK(parts() == 1);
    CHECK(commit::recover(*disk, world.run(), true));
    CHECK(parts() == 0);
}

TEST_CASE("an analysis whose results cannot be written costs the others nothing") {
    const World world(1);
    // The first directory created belongs to the first analysis.
    const auto disk = world.before.clone();
    disk->fail(test::Op::make_directory, 0, {ErrorKind::full, "No space left on device"});
    const auto answer = world.see(0, *disk);
    CHECK(answer.find("failed") != std::string::npos);
    CHECK(answer.find("No space left on device") != std::string::npos);
    CHECK(world.results(*disk).size() == 1 + 4);
    world.check_completed(*disk);
}

TEST_CASE("two nodes whose parts come at once make the results once, and neither has failed") {
    const World world(2);
    for (int at = 0;; ++at) {
        CAPTURE(at);
        const auto disk = world.before.clone();
        std::string other;
        test::InterruptedStore interrupted(*disk, at, [&] { other = world.see(1, *disk); });
        const auto own = world.see(0, interrupted);
        if (interrupted.operations() <= at) break;
        CHECK_MESSAGE(own.starts_with("seen\nmade "), own);
        CHECK_MESSAGE(other.starts_with("seen\nmade "), other);
        CHECK(world.results(*disk) == world.expected);
        world.check_tidy(*disk);
    }
}
