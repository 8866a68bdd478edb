// Goal: with file = "combined:N" the nodes of a save share files, for any number of nodes. Exactly that many files
// appear, they verify, and they restart on any number of ranks and nodes. This also holds if tables outgrow their
// layout on one node only, and if everything is killed and the agents come back.
// Method: virtual nodes, each with its own agent, over the real file system.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "path/catalog/catalog.hpp"
#include "path/catalog/node_reader.hpp"
#include "support/mid_drain.hpp"
#include "support/sessions.hpp"
#include "support/stored_step.hpp"

using namespace forebay;
using namespace std::chrono_literals;

using test::StoredStep;
using Names = std::set<std::string>;
using Rank = test::RowRank;

namespace {

// Each rank's share of eleven rows, several megabytes in all, and the step that they hold after a read.
struct Rows {
    static constexpr std::uint64_t all = 11, row_elements = 40'000;

    Rows(Session& session, comm::Group& world, int nodes_per_file)
        : stream(session
                     .stream("restart",
                             {.keep = 0,
                              .file = nodes_per_file > 1 ? TargetFile::combined(nodes_per_file) : TargetFile::own()})
                     .value()) {
        const auto rank = static_cast<std::uint64_t>(world.rank()), ranks = static_cast<std::uint64_t>(world.size());
        first = all * rank / ranks;
        data.resize((all * (rank + 1) / ranks - first) * row_elements);
        std::vector<Piece> pieces;
        if (!data.empty()) pieces = {packed({{first, 0}, {data.size() / row_elements, row_elements}}, data.data())};
        stream.array("u", f64, {all, row_elements}, pieces).value();
    }
    double value(std::size_t i, std::int64_t step) const {
        return static_cast<double>(first * row_elements + i) + 1e-3 * static_cast<double>(step);
    }
    void save(std::int64_t step) {
        for (std::size_t i = 0; i < data.size(); ++i) data[i] = value(i, step);
        CHECK(stream.save(step).value().kept);
    }
    std::int64_t restore() {
        auto restart = stream.newest().value();
        if (!restart) return -1;
        std::ranges::fill(data, -1.0);
        restart->read().value();
        for (std::size_t i = 0; i < data.size(); ++i)
            if (data[i] != value(i, restart->step())) return -2;
        return restart->step();
    }

    Stream stream;
    std::uint64_t first = 0;
    std::vector<double> data;
};

void save(const Options& options, int ranks, std::int64_t step, int nodes_per_file) {
    test::with_session(ranks, options,
                       [&](Session& session, comm::Group& world) { Rows(session, world, nodes_per_file).save(step); });
}

}  // namespace

TEST_CASE("five nodes: as many files as asked for, and restarts on other ranks and nodes") {
    const test::TempDirectory folder;
    struct Case {
        int nodes_per_file;
        Names files;
    };
    std::int64_t step = 0;
    for (const auto& example :
         {Case{1, {"node-00000.h5", "node-00001.h5", "node-00002.h5", "node-00003.h5", "node-00004.h5"}},
          Case{2, {"node-00004.h5", "nodes-00000-00001.h5", "nodes-00002-00003.h5"}},
          Case{3, {"nodes-00000-00002.h5", "nodes-00003-00004.h5"}}, Case{5, {"nodes-00000-00004.h5"}},
          Case{256, {"nodes-00000-00004.h5"}}}) {
        CAPTURE(example.nodes_per_file);
        const auto options = test::options_in(folder, 5);
        save(options, 5, ++step, example.nodes_per_file);
        const StoredStep stored{options.run, step};
        CHECK(stored.files() == example.files);
        const auto manifest = stored.whole();
        REQUIRE(manifest.nodes.size() == 5);
        for (const auto& line : manifest.nodes)
            CHECK((line.path.starts_with("nodes-") ? line.offset_bytes >= limits::region_alignment_bytes &&
                                                         line.offset_bytes % limits::region_alignment_bytes == 0
                                                   : line.offset_bytes == 0));
        for (const int readers : {1, 3, 7})
            test::with_session(
                readers, test::options_in(folder, readers == 7 ? 2 : 1),
                [&](Session& session, comm::Group& world) { CHECK(Rows(session, world, 1).restore() == step); });
    }
}

TEST_CASE("two streams' worth of saves: a node that lays out anew moves the others' regions") {
    const test::TempDirectory folder;
    const auto options = test::options_in(folder, 3);
    test::with_session(3, options, [&](Session& session, comm::Group& world) {
        auto stream = session.stream("restart", {.slots = 2, .keep = 0, .file = TargetFile::combined(3)}).value();
        auto gas = stream.particles("gas", {{"x", f64}}).value();
        std::vector<double> x;
        for (std::int64_t step = 1; step <= 4; ++step) {
            // Only the second node outgrows its place, by megabytes.
            x.assign(world.rank() == 1 ? static_cast<std::size_t>(step) * 400'000 : 10,
                     static_cast<double>(step * 10 + world.rank()));
            gas.bind(x.size(), {x.data()}).value();
            stream.save(step).value();
        }
    });
    std::set<std::uint64_t> places;
    for (std::int64_t step = 1; step <= 4; ++step) {
        const StoredStep stored{options.run, step};
        const auto manifest = stored.whole();
        CHECK(stored.files() == Names{"nodes-00000-00002.h5"});
        places.insert(manifest.nodes.at(2).offset_bytes);
    }
    CHECK(places.size() == 4);
}

TEST_CASE("damage in a region, in the page and in the shown head is found and told with its place") {
    const test::TempDirectory folder;
    const auto options = test::options_in(folder, 2);
    save(options, 2, 7, 2);
    const StoredStep stored{options.run, 7};
    const auto manifest = stored.whole();
    const auto path = stored.directory() + "/" + manifest.nodes[1].path;
    const auto head = catalog::load_head(sys::posix_store(), path + "/node-00001").value();
    const auto in_data = manifest.nodes[1].offset_bytes + head.blocks.front().offset_bytes;
    for (const std::uint64_t at : {std::uint64_t{40}, std::uint64_t{4200}, std::uint64_t{8200}, in_data})
        stored.check_flip(path, at, at == in_data ? "u" : "");
    CHECK(catalog::load_head(sys::posix_store(), path).error().text().find("/node-00000") != std::string::npos);
    CHECK(catalog::load_head(sys::posix_store(), path + "/node-00002").error().kind == ErrorKind::missing);
}

TEST_CASE("agents killed while they write one file: the next ones write what is missing, and commit") {
    const test::TempDirectory folder;
    auto options = test::options_in(folder, 3);
    options.agent.mode = AgentMode::process;
    options.agent.rate_bytes_per_second = 1'000'000;
    options.agent.block_bytes = 1u << 16;
    options.close_wait = 60s;
    test::kill_mid_drain(options, 3, [&](std::unique_ptr<comm::Group> world, const auto& stay) {
        Rank here(std::move(world), options, {.file = TargetFile::combined(3)});
        here.save(test::MidDrain::step).value();
        stay(here.session);
    });
    const StoredStep stored{options.run, test::MidDrain::step};
    test::drain_one_node_then_all(options, 3, stored.directory());
    CHECK(stored.files() == Names{"nodes-00000-00002.h5"});
    CHECK(stored.whole().nodes.size() == 3);
}
