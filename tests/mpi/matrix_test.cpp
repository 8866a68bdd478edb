// Goal: N ranks on b nodes restore bit for bit the data of M ranks on a nodes: arrays with halos and several boxes,
// ranks without data, particles (as sets by id; in order if M equals N), replicated values, every element type.
// Method: the first M ranks of the world save two steps and close; the first N restore with other boxes.
// ranks: 8

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "support/mpi_main.hpp"
#include "support/mpi_world.hpp"
#include "support/numbered_state.hpp"

using namespace forebay;

namespace {

constexpr int counts[] = {1, 2, 3, 4, 5, 7, 8};
constexpr std::int64_t last_step = 2;

Options options_in(const std::string& run, const std::string& staging, int nodes, AgentMode mode) {
    Options options{.run = run, .staging = staging};
    options.virtual_nodes = nodes;
    options.agent.mode = mode;
    options.restart_window_bytes = 4u << 20;
    return options;
}

void save_on(MPI_Comm comm, const Options& options, const TargetFile& file = {}) {
    auto session = open(comm, options).value();
    test::NumberedState state(test::rank_in(comm), test::size_of(comm), false);
    auto stream = session.stream("restart", {.view = false, .file = file}).value();
    state.describe(stream);
    for (std::int64_t step = 1; step <= last_step; ++step) {
        state.fill(step);
        const auto saved = stream.save(step, 0.25 * static_cast<double>(step)).value();
        CHECK(saved.kept);
    }
    session.close().value();
    CHECK(stream.counters().saves == static_cast<std::uint64_t>(last_step));
}

// Checks that the ranks together have each row of `saved_ranks` ranks exactly once.
void check_ids(MPI_Comm comm, test::Table& table, int saved_ranks) {
    std::vector<std::int64_t> own, expected;
    for (std::uint64_t row = 0; row < table.rows(); ++row) own.push_back(table.id(row));
    auto all = test::gathered(comm, own);
    if (saved_ranks == test::size_of(comm)) {
        const int rank = test::rank_in(comm);
        REQUIRE(own.size() == test::Table::rows_of(rank, last_step));
        for (std::uint64_t row = 0; row < own.size(); ++row) CHECK(own[row] == test::Table::id_of(rank, row));
    } else {
        const auto share = balanced_share(all.size(), static_cast<std::uint32_t>(test::rank_in(comm)),
                                          static_cast<std::uint32_t>(test::size_of(comm)));
        CHECK(own.size() == share.count);
    }
    for (int rank = 0; rank < saved_ranks; ++rank)
        for (std::uint64_t row = 0; row < test::Table::rows_of(rank, last_step); ++row)
            expected.push_back(test::Table::id_of(rank, row));
    std::ranges::sort(all);
    std::ranges::sort(expected);
    CHECK(all == expected);
}

void restore_on(MPI_Comm comm, int saved_ranks, const Options& options) {
    auto session = open(comm, options).value();
    test::NumberedState state(test::rank_in(comm), test::size_of(comm), true);
    auto stream = session.stream("restart", {.view = false}).value();
    state.describe(stream);
    auto restart = stream.newest().value();
    REQUIRE(restart);
    REQUIRE(restart->step() == last_step);
    CHECK(restart->time() == 0.25 * static_cast<double>(last_step));
    CHECK(restart->same_ranks() == (saved_ranks == test::size_of(comm)));
    state.expect(*restart);
    restart->read().value();
    for (auto& field : state.fields) CHECK_MESSAGE(field.wrong(last_step) == 0, field.spec().name);
    for (const auto& value : state.values) CHECK_MESSAGE(value.is_right(last_step), value.name());
    for (auto& table : state.tables) {
        CHECK_MESSAGE(table.wrong(last_step) == 0, table.name());
        check_ids(comm, table, saved_ranks);
    }
    session.close().value();
}

}  // namespace

TEST_CASE("every number of ranks restores what every other saved, over 1, 2 and 3 nodes") {
    test::together([] {
        const test::CommonDirectory folder("/dev/shm");
        for (const int m : counts) {
            for (int saved_nodes = 1; saved_nodes <= 3; ++saved_nodes) {
                const auto run = folder / ("run-" + std::to_string(m) + "-" + std::to_string(saved_nodes));
                test::on_first(m, [&](MPI_Comm comm) {
                    save_on(comm, options_in(run, folder / "", saved_nodes, AgentMode::thread));
                });
                for (std::size_t i = 0; i < std::size(counts); ++i) {
                    // Each pair of M and N uses one split at saving. Each split at saving meets each split at
                    // restoring.
                    if (static_cast<int>(i) % 3 + 1 != saved_nodes && counts[i] != m) continue;
                    const int nodes = (static_cast<int>(i) + m) % 3 + 1;
                    CAPTURE(m);
                    CAPTURE(counts[i]);
                    CAPTURE(saved_nodes);
                    CAPTURE(nodes);
                    test::on_first(counts[i], [&](MPI_Comm comm) {
                        restore_on(comm, m, options_in(run, folder / "", nodes, AgentMode::thread));
                    });
                }
            }
        }
    });
}

TEST_CASE("the same with agents as processes and the disk as target") {
    test::together([] {
        const test::CommonDirectory staging("/dev/shm");
        const test::CommonDirectory target(std::filesystem::temp_directory_path());
        const struct { int m, saved_nodes, n, nodes; } cases[] = {{4, 1, 3, 2}, {5, 2, 8, 1}, {8, 3, 8, 3}};
        for (const auto& example : cases) {
            const int m = example.m, saved_nodes = example.saved_nodes, n = example.n, nodes = example.nodes;
            CAPTURE(m);
            CAPTURE(n);
            const auto run = target / ("run-" + std::to_string(m));
            test::on_first(m, [&, m = m, at = saved_nodes](MPI_Comm comm) {
                save_on(comm, options_in(run, staging / "", at, AgentMode::process));
            });
            test::on_first(n, [&, m = m, at = nodes](MPI_Comm comm) {
                restore_on(comm, m, options_in(run, staging / "", at, AgentMode::process));
            });
        }
    });
}

TEST_CASE("the same from one shared file") {
    test::together([] {
        const test::CommonDirectory folder("/dev/shm");
        const struct {
            int m, saved_nodes, n, nodes;
        } cases[] = {{1, 1, 3, 1}, {2, 2, 5, 2}, {3, 3, 2, 1}, {5, 2, 5, 3}, {5, 3, 8, 1}, {8, 3, 3, 2}};
        for (const auto& example : cases) {
            const int m = example.m, saved_nodes = example.saved_nodes, n = example.n, nodes = example.nodes;
            CAPTURE(m);
            CAPTURE(saved_nodes);
            CAPTURE(n);
            const auto run = folder / ("run-" + std::to_string(m) + "-" + std::to_string(saved_nodes));
            test::on_first(m, [&, m = m, at = saved_nodes](MPI_Comm comm) {
                save_on(comm, options_in(run, folder / "", at, AgentMode::thread), TargetFile::shared());
                const auto last = run + "/restart/step-000002/";
                CHECK(std::filesystem::exists(last + "shared.h5"));
                CHECK_FALSE(std::filesystem::exists(last + "node-00000.h5"));
            });
            test::on_first(n, [&, m = m, at = nodes](MPI_Comm comm) {
                restore_on(comm, m, options_in(run, folder / "", at, AgentMode::thread));
            });
        }
    });
}
