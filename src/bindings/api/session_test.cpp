// Goal: the whole path in one process: describe, save, drain, commit, restart. Method: threads as ranks; the agent is a
// thread too, so the test needs only this program.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <numeric>

#include "bindings/api/state.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/catalog.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

struct Folder {
    Folder() : path(fs::temp_directory_path() / ("forebay-test-" + std::to_string(sys::random_u64()))) {
        fs::create_directories(path / "node");
    }
    ~Folder() { fs::remove_all(path); }
    std::string run() const { return path / "run"; }
    fs::path path;
};

Options options_in(const Folder& folder) {
    Options options{.run = folder.run(), .staging = folder.path / "node"};
    options.agent.mode = AgentMode::thread;
    options.agent.retry_pause = std::chrono::milliseconds(1);
    return options;
}

Session open_on(std::unique_ptr<comm::Group> world, const Options& options) {
    return detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value();
}

constexpr std::uint64_t height = 12, width = 7;

// A small simulation state. Every number follows from its place.
struct State {
    State(int rank, int ranks) {
        const auto share = balanced_share(height, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks));
        lo = share.first;
        rows = share.count;
        u.assign((rows + 2) * (width + 2), -1.0);
    }
    std::vector<Piece> pieces() { return {with_halo({{lo, 0}, {rows, width}}, {1, 1}, u.data())}; }
    double& at(std::uint64_t y, std::uint64_t x) { return u[(y - lo + 1) * (width + 2) + x + 1]; }
    void fill(double step) {
        for (std::uint64_t y = lo; y < lo + rows; ++y)
            for (std::uint64_t x = 0; x < width; ++x) at(y, x) = step * 1000 + static_cast<double>(y * width + x);
    }
    std::uint64_t lo = 0, rows = 0;
    std::vector<double> u;
};

struct Table {
    std::vector<std::int64_t> id;
    std::vector<float> x;
    void fill(int rank, std::uint64_t count, float step) {
        id.resize(count);
        x.resize(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            id[i] = rank * 1000 + static_cast<std::int64_t>(i);
            x[i] = step + static_cast<float>(id[i]);
        }
    }
};

struct Described {
    Stream stream;
    Particles particles;
};

Described describe_state(Session& session, double& time, State& state) {
    auto stream = session.stream("restart").value();
    stream.replicated("time", &time, {.unit = "s"}).value();
    stream.array("fields/u", f64, {height, width}, state.pieces(), {.dimensions = {"y", "x"}}).value();
    auto particles = stream.particles("dm", {{"id", i64}, {"x", f32}}).value();
    return {stream, particles};
}

void save_step(Described& d, State& state, Table& table, double& time, int rank, std::int64_t step) {
    time = static_cast<double>(step) / 2;
    state.fill(static_cast<double>(step));
    table.fill(rank, static_cast<std::uint64_t>((rank * 7 + step) % 11), static_cast<float>(step));
    d.particles.bind(table.id.size(), {table.id.data(), table.x.data()}).value();
    const auto saved = d.stream.save(step, time).value();
    CHECK(saved.kept);
    CHECK(saved.step == step);
}

void save_on(int ranks, const Options& options, std::int64_t steps) {
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        const int rank = world->rank();
        auto session = open_on(std::move(world), options);
        double time = 0;
        State state(rank, ranks);
        Table table;
        auto d = describe_state(session, time, state);
        for (std::int64_t step = 1; step <= steps; ++step) save_step(d, state, table, time, rank, step);
        session.close().value();
        const auto counters = d.stream.counters();
        CHECK(counters.saves == static_cast<std::uint64_t>(steps));
        CHECK(counters.commits == static_cast<std::uint64_t>(steps));
        CHECK(counters.newest_durable_step == steps);
    });
}

std::int64_t all_ids(int ranks, std::int64_t step) {
    std::int64_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank)
        for (int i = 0; i < (rank * 7 + step) % 11; ++i) sum += rank * 1000 + i;
    return sum;
}

void restore_on(int ranks, int saved_ranks, const Options& options, std::int64_t step) {
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        const int rank = world->rank();
        auto sums = world->split(0);
        auto session = open_on(std::move(world), options);
        double time = 0;
        State state(rank, ranks);
        auto d = describe_state(session, time, state);
        auto restart = d.stream.newest().value();
        REQUIRE(restart);
        CHECK(restart->step() == step);
        const auto rows = restart->rows(d.particles);
        std::vector<std::int64_t> id(rows);
        std::vector<float> x(rows);
        d.particles.bind(rows, {id.data(), x.data()}).value();
        restart->read().value();
        CHECK(time == static_cast<double>(step) / 2);
        // The halo inside the shape is filled. Elements outside are left alone.
        for (std::uint64_t y = state.lo == 0 ? 0 : state.lo - 1;
             y < std::min(height, state.lo + state.rows + 1) && state.rows > 0; ++y)
            for (std::uint64_t at = 0; at < width; ++at)
                CHECK(state.at(y, at) == static_cast<double>(step) * 1000 + static_cast<double>(y * width + at));
        for (std::size_t i = 0; i < rows; ++i) CHECK(x[i] == static_cast<float>(step) + static_cast<float>(id[i]));
        CHECK(sums->sum(std::accumulate(id.begin(), id.end(), std::int64_t{0})) == all_ids(saved_ranks, step));
        if (ranks == saved_ranks) {
            REQUIRE(rows == static_cast<std::uint64_t>((rank * 7 + step) % 11));
            for (std::size_t i = 0; i < rows; ++i) CHECK(id[i] == rank * 1000 + static_cast<std::int64_t>(i));
        }
        session.close().value();
    });
}

// Flips one bit of the byte at `at`.
void flip(const std::string& path, std::uint64_t at) {
    std::FILE* raw = std::fopen(path.c_str(), "r+b");
    std::fseek(raw, static_cast<long>(at), SEEK_SET);
    const int byte = std::fgetc(raw);
    std::fseek(raw, static_cast<long>(at), SEEK_SET);
    std::fputc(byte ^ 1, raw);
    std::fclose(raw);
}

// In the block table, which is not in the record's page.
constexpr std::uint64_t place_in_head = 8192 + 100;

}  // namespace

TEST_CASE("save, drain, commit; restart on any number of ranks and nodes") {
    for (const int ranks : {1, 2, 3, 5}) {
        for (const int nodes : {1, 2}) {
            Folder folder;
            auto options = options_in(folder);
            options.virtual_nodes = nodes;
            save_on(ranks, options, 5);
            const auto kept = catalog::snapshots(sys::posix_store(), folder.run(), "restart").value();
            REQUIRE(kept.size() == 3);
            CHECK(kept.front().step == 5);
            for (const auto& snapshot : kept)
                CHECK(catalog::verify(sys::posix_store(), snapshot, {}).value().damage.empty());
            CHECK(fs::is_empty(folder.path / "node" / ("forebay-" + std::to_string(sys::user_id()))));
            for (const int others : {1, 2, 3, 7}) restore_on(others, ranks, options, 5);
            restore_on(ranks, ranks, options, 5);
        }
    }
}

TEST_CASE("a damaged newest snapshot is passed over, aloud") {
    Folder folder;
    auto options = options_in(folder);
    save_on(2, options, 3);
    fs::resize_file(folder.run() + "/restart/step-000003/node-00000.h5", 100'000 / 4096 * 4096 - 4096);
    std::vector<std::string> lines;
    std::mutex mutex;
    options.log = [&](const std::string& line) {
        const std::scoped_lock lock(mutex);
        lines.push_back(line);
    };
    restore_on(3, 2, options, 2);
    CHECK(std::ranges::any_of(lines,
                              [](const auto& line) { return line.find("step 3 is skipped") != std::string::npos; }));
}

TEST_CASE("a flipped bit in the data is found by read(), and older() gives the one before") {
    Folder folder;
    const auto options = options_in(folder);
    save_on(2, options, 2);
    const auto path = folder.run() + "/restart/step-000002/node-00000.h5";
    auto head = catalog::load_head(sys::posix_store(), path).value();
    const auto at = head.blocks[head.first_block[1]].offset_bytes + 3;
    flip(path, at);
    test::with_threads(3, [&](std::unique_ptr<comm::Group> world) {
        const int rank = world->rank();
        auto session = open_on(std::move(world), options);
        double time = 0;
        State state(rank, 3);
        auto d = describe_state(session, time, state);
        auto restart = d.stream.newest().value();
        REQUIRE(restart);
        const auto bind = [&](Table& table) {
            table.id.resize(restart->rows(d.particles));
            table.x.resize(restart->rows(d.particles));
            d.particles.bind(table.id.size(), {table.id.data(), table.x.data()}).value();
        };
        Table table;
        bind(table);
        const auto read = restart->read();
        REQUIRE(!read);
        CHECK(read.error().kind == ErrorKind::corrupt);
        CHECK(read.error().text().find("fields/u") != std::string::npos);
        restart = d.stream.older().value();
        REQUIRE(restart);
        CHECK(restart->step() == 1);
        bind(table);
        restart->read().value();
        CHECK(time == 0.5);
        session.close().value();
    });
}

TEST_CASE("where several ranks take from a segment one verifies it, and all hear of damage") {
    constexpr std::uint64_t rows = 6, columns = 60'000;  // a rank's rows are several segments of 1 MiB
    for (const bool staged : {true, false}) {
        Folder folder;
        const auto options = options_in(folder);
        const auto with = [&](int ranks, bool closes, const std::function<void(Stream&, std::vector<double>&)>& body) {
            test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
                const auto rank = static_cast<std::uint64_t>(world->rank());
                const auto size = static_cast<std::uint64_t>(world->size());
                auto session = open_on(std::move(world), options);
                auto stream = session.stream("restart").value();
                const auto count = rows * 3 / size;
                std::vector<double> data((count + 2) * (columns + 2), static_cast<double>(rank) + 1);
                // A halo in both dimensions: every rank takes some rows of its neighbours.
                const auto piece = with_halo({{count * rank, 0}, {count, columns}}, {1, 1}, data.data());
                stream.array("u", f64, {rows * 3, columns}, {piece}).value();
                body(stream, data);
                if (closes) session.close().value();
            });
        };
        with(3, !staged, [](Stream& stream, std::vector<double>&) {
            stream.save(1).value();
            stream.wait_committed(std::chrono::seconds(60)).value();
        });
        std::string path = folder.run() + "/restart/step-000001/node-00000.h5";
        if (staged) {
            for (const auto& entry : fs::recursive_directory_iterator(folder.path / "node"))
                if (entry.path().extension() == ".h5") path = entry.path();
        }
        auto head = catalog::load_head(sys::posix_store(), folder.run() + "/restart/step-000001/node-00000.h5").value();
        const auto blocks = head.blocks;
        for (const int ranks : {3, 2, 1}) {
            for (const auto& block : blocks) {
                const auto last = rows * columns * sizeof(double) - 1;
                for (const auto at : {std::uint64_t{5}, last / 2, last}) {
                    flip(path, block.offset_bytes + at);
                    with(ranks, false, [&](Stream& stream, std::vector<double>&) {
                        auto restart = stream.newest().value();
                        REQUIRE(restart);
                        CHECK((restart->source().find("staged") == 0) == staged);
                        const auto read = restart->read();
                        // Data damaged on the node are read from the target.
                        CHECK(read.has_value() == staged);
                        if (!read) CHECK(read.error().kind == ErrorKind::corrupt);
                        CHECK(restart->source().find("staged") != 0);
                    });
                    flip(path, block.offset_bytes + at);  // flips the bit back
                }
            }
            with(ranks, false, [&](Stream& stream, std::vector<double>& data) {
                auto restart = stream.newest().value();
                restart->read().value();
                // The first owned row was the first row of three ranks, or of a part of them.
                CHECK(data[columns + 2 + 1] == std::floor(data[columns + 2 + 1]));
                CHECK(data[columns + 2 + 1] >= 1);
            });
        }
    }
}

TEST_CASE("a damaged head behind a good record is passed over too, by newest() and by older()") {
    for (const int readers : {1, 2, 3}) {  // with two, each finds its own rows in the heads
        Folder folder;
        const auto options = options_in(folder);
        save_on(2, options, 4);
        for (const int step : {4, 2})
            flip(folder.run() + "/restart/" + catalog::step_name(step) + "/node-00000.h5", place_in_head);
        test::with_threads(readers, [&](std::unique_ptr<comm::Group> world) {
            const int rank = world->rank();
            auto session = open_on(std::move(world), options);
            double time = 0;
            State state(rank, readers);
            auto d = describe_state(session, time, state);
            const auto restart = d.stream.newest().value();
            REQUIRE(restart);
            CHECK(restart->step() == 3);
            REQUIRE(d.stream.notes().size() == 1);
            CHECK(d.stream.notes()[0].find("step 4 is skipped: ") == 0);
            CHECK(d.stream.older().error().kind == ErrorKind::corrupt);  // of the steps 2, 3 and 4, which are kept
            REQUIRE(d.stream.notes().size() == 1);
            CHECK(d.stream.notes()[0].find("step 2 is skipped: ") == 0);
            session.close().value();
        });
    }
}

TEST_CASE("a staged copy with a damaged head is passed over for the target's") {
    for (const int nodes : {1, 2}) {
        Folder folder;
        auto options = options_in(folder);
        options.virtual_nodes = nodes;
        const auto with = [&](const std::function<void(Session&, Described&, State&, double&, int)>& body) {
            test::with_threads(2, [&](std::unique_ptr<comm::Group> world) {
                const int rank = world->rank();
                auto session = open_on(std::move(world), options);
                double time = 0;
                State state(rank, 2);
                auto d = describe_state(session, time, state);
                body(session, d, state, time, rank);
            });
        };
        with([](Session&, Described& d, State& state, double& time, int rank) {
            Table table;
            save_step(d, state, table, time, rank, 1);
            d.stream.wait_committed(std::chrono::seconds(60)).value();
        });  // left without close(): the staged copies stay
        int staged = 0;
        for (const auto& entry : fs::recursive_directory_iterator(folder.path / "node"))
            if (entry.path().extension() == ".h5" && ++staged == 1) flip(entry.path(), place_in_head);
        REQUIRE(staged == nodes);
        with([&](Session& session, Described& d, State&, double& time, int) {
            auto restart = d.stream.newest().value();
            REQUIRE(restart);
            CHECK(restart->step() == 1);
            CHECK(restart->source() == folder.run() + "/restart/step-000001");
            Table table;
            table.id.resize(restart->rows(d.particles));
            table.x.resize(restart->rows(d.particles));
            d.particles.bind(table.id.size(), {table.id.data(), table.x.data()}).value();
            restart->read().value();
            CHECK(time == 0.5);
            session.close().value();
        });
    }
}

TEST_CASE("what a dead session has committed is not drained again, and counters outlive close()") {
    Folder folder;
    const auto options = options_in(folder);
    const auto run_one = [&](std::int64_t step, bool closes) {
        test::with_threads(1, [&](std::unique_ptr<comm::Group> world) {
            auto session = open_on(std::move(world), options);
            double time = 0;
            State state(0, 1);
            Table table;
            auto d = describe_state(session, time, state);
            save_step(d, state, table, time, 0, step);
            d.stream.wait_committed(std::chrono::seconds(60)).value();
            if (!closes) return;
            session.close().value();
            const auto counters = d.stream.counters();
            CHECK(counters.saves == 1);
            CHECK(counters.commits == 1);
            CHECK(counters.bytes_drained > 0);
            CHECK(counters.newest_durable_step == step);
        });
    };
    run_one(1, false);
    run_one(2, true);
    CHECK(catalog::leftovers(sys::posix_store(), folder.run(), "restart").value().empty());
    CHECK(catalog::snapshots(sys::posix_store(), folder.run(), "restart").value().size() == 2);
}
