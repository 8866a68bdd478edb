// Goal: N ranks restore bit for bit the data that M ranks saved and agents compressed, from the target and over several
// nodes. Data compressed with an error bound stay within it.
// Method: M ranks save smooth fields of some MiB in uneven slabs along one dimension, and a table. N ranks restore them
// along another dimension. By then the staged copies are gone.
// ranks: 5

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cmath>

#include "core/describe/geometry.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/node_reader.hpp"
#include "support/mpi_main.hpp"
#include "support/mpi_world.hpp"

using namespace forebay;

namespace {

constexpr std::uint64_t nz = 61, ny = 47, nx = 83;
constexpr std::uint64_t rows_in_all = 400'009;
constexpr double bound = 1e-4;

double value_at(std::uint64_t z, std::uint64_t y, std::uint64_t x) {
    return std::sin(static_cast<double>(z) / 9) * std::cos(static_cast<double>(y * x) / 400) + static_cast<double>(x);
}

/// A rank's slab along one dimension, and its rows.
struct State {
    State(int rank, int ranks, int dim) {
        const Extents shape{nz, ny, nx};
        const auto share =
            balanced_share(shape[dim], static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks));
        box = {{0, 0, 0}, shape};
        box.lo[dim] = share.first;
        box.size[dim] = share.count;
        exact.resize(volume(box.size));
        rough.resize(exact.size());
    }
    void describe(Stream& stream) {
        const Extents shape{nz, ny, nx};
        stream.array("exact", f64, shape, {packed(box, exact.data())}).value();
        stream.array("rough", f32, shape, {packed(box, rough.data())}).value();
    }
    template <class Visit>
    void each(Visit&& visit) {
        std::size_t i = 0;
        for (auto z = box.lo[0]; z < box.lo[0] + box.size[0]; ++z)
            for (auto y = box.lo[1]; y < box.lo[1] + box.size[1]; ++y)
                for (auto x = box.lo[2]; x < box.lo[2] + box.size[2]; ++x, ++i) visit(i, value_at(z, y, x));
    }

    Box box;
    std::vector<double> exact;
    std::vector<float> rough;
};

Options options_in(const std::string& run, const std::string& staging, int nodes) {
    Options options{.run = run, .staging = staging};
    options.virtual_nodes = nodes;
    options.agent.mode = AgentMode::thread;
    options.restart_window_bytes = 5u << 20;
    return options;
}

StreamOptions compressed() {
    StreamOptions options{.view = false};
    options.compression = {.codec = Codec::zstd, .shuffle = Shuffle::bits};
    options.variable_compression = {{"rough", {.codec = Codec::zfp, .error = bound}}};
    return options;
}

void save_on(MPI_Comm comm, const Options& options) {
    auto session = open(comm, options).value();
    State state(test::rank_in(comm), test::size_of(comm), 0);
    auto stream = session.stream("restart", compressed()).value();
    state.describe(stream);
    const auto share = balanced_share(rows_in_all, static_cast<std::uint32_t>(test::rank_in(comm)),
                                      static_cast<std::uint32_t>(test::size_of(comm)));
    std::vector<std::int64_t> ids(share.count);
    for (std::uint64_t row = 0; row < ids.size(); ++row) ids[row] = static_cast<std::int64_t>(share.first + row);
    auto gas = stream.particles("gas", {{"id", i64}}).value();
    gas.bind(ids.size(), {ids.data()}).value();
    for (std::int64_t step = 1; step <= 2; ++step) {
        state.each([&](std::size_t i, double value) {
            state.exact[i] = value + static_cast<double>(step);
            state.rough[i] = static_cast<float>(state.exact[i]);
        });
        REQUIRE(stream.save(step).value().kept);
    }
    session.close().value();
    if (test::rank_in(comm) != 0) return;
    const auto counters = stream.counters();
    CHECK(counters.bytes_drained > 0);
    CHECK(counters.bytes_stored * 5 < counters.bytes_drained * 4);
}

void restore_on(MPI_Comm comm, const Options& options) {
    auto session = open(comm, options).value();
    State state(test::rank_in(comm), test::size_of(comm), 2);
    auto stream = session.stream("restart", compressed()).value();
    state.describe(stream);
    auto gas = stream.particles("gas", {{"id", i64}}).value();
    auto restart = stream.newest().value();
    REQUIRE(restart);
    REQUIRE(restart->step() == 2);
    std::vector<std::int64_t> ids(restart->rows(gas));
    gas.bind(ids.size(), {ids.data()}).value();
    restart->read().value();
    std::size_t wrong = 0;
    double worst = 0;
    state.each([&](std::size_t i, double value) {
        wrong += state.exact[i] != value + 2 ? 1 : 0;
        worst = std::max(
            worst, std::abs(static_cast<double>(state.rough[i]) - static_cast<double>(static_cast<float>(value + 2))));
    });
    CHECK(wrong == 0);
    CHECK(worst <= bound);
    const auto share = balanced_share(rows_in_all, static_cast<std::uint32_t>(test::rank_in(comm)),
                                      static_cast<std::uint32_t>(test::size_of(comm)));
    REQUIRE(ids.size() == share.count);
    for (std::uint64_t row = 0; row < ids.size(); ++row)
        wrong += ids[row] != static_cast<std::int64_t>(share.first + row) ? 1 : 0;
    CHECK(wrong == 0);
    session.close().value();
}

}  // namespace

TEST_CASE("compressed snapshots restart on any number of ranks, over 1 to 3 nodes") {
    test::together([] {
        const test::CommonDirectory folder("/dev/shm");
        for (const int m : {1, 3, 5}) {
            for (int saved_nodes = 1; saved_nodes <= std::min(m, 3); ++saved_nodes) {
                CAPTURE(m);
                CAPTURE(saved_nodes);
                const auto run = folder / ("run-" + std::to_string(m) + "-" + std::to_string(saved_nodes));
                test::on_first(m, [&](MPI_Comm comm) { save_on(comm, options_in(run, folder / "", saved_nodes)); });
                if (test::rank_in(MPI_COMM_WORLD) == 0) {
                    const catalog::Snapshot snapshot{"restart", 2, run + "/restart/step-000002"};
                    auto& store = sys::posix_store();
                    CHECK(catalog::verify(store, snapshot, {}).value().damage.empty());
                    CHECK(catalog::load_head(store, snapshot.directory + "/node-00000.h5").value().storage ==
                          format::Storage::compressed);
                }
                for (const int n : {1, 2, 4, 5}) {
                    CAPTURE(n);
                    const int nodes = (n + m) % std::min(n, 3) + 1;
                    test::on_first(n, [&](MPI_Comm comm) { restore_on(comm, options_in(run, folder / "", nodes)); });
                }
            }
        }
    });
}
