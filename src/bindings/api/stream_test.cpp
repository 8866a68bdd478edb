// Goal: changes between saves, and the other ways to save, keep the data right: rows beyond the table's capacity, other
// boxes, a step saved twice, prepare(), blocks written by the application, two runs at once, a slot larger than its
// snapshot.
// Method: threads as ranks save states that follow from the step; another number of ranks reads them back.

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>

#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "support/numbered_state.hpp"
#include "support/sessions.hpp"

using namespace forebay;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using test::options_in, test::with_session;

namespace {

// Rows that follow from rank, row and step.
struct Rows {
    void fill(int rank, std::uint64_t count, std::int64_t step) {
        id.resize(count);
        x.resize(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            id[i] = rank * 1'000'000 + static_cast<std::int64_t>(i);
            x[i] = static_cast<double>(id[i]) + 0.5 * static_cast<double>(step);
        }
    }
    bool right(std::int64_t step) const {
        for (std::size_t i = 0; i < id.size(); ++i)
            if (x[i] != static_cast<double>(id[i]) + 0.5 * static_cast<double>(step)) return false;
        return true;
    }
    std::vector<ColumnData> columns() { return {id.data(), x.data()}; }
    std::vector<std::int64_t> id;
    std::vector<double> x;
};

void check_rows(const Options& options, int ranks, std::int64_t step, std::int64_t rows, std::int64_t ids) {
    with_session(ranks, options, [&](Session& session, comm::Group& world) {
        auto stream = session.stream("restart").value();
        auto table = stream.particles("dm", {{"id", i64}, {"x", f64}}).value();
        auto restart = stream.newest().value();
        REQUIRE(restart);
        CHECK(restart->step() == step);
        Rows got;
        got.fill(0, restart->rows(table), 0);
        table.bind(got.id.size(), got.columns()).value();
        restart->read().value();
        CHECK(got.right(step));
        std::int64_t sums[] = {static_cast<std::int64_t>(got.id.size()), 0};
        for (const auto id : got.id) sums[1] += id;
        world.sum(sums);
        CHECK(sums[0] == rows);
        CHECK(sums[1] == ids);
    });
}

}  // namespace

TEST_CASE("rows grow far beyond the capacity of the first save, and shrink again") {
    for (const int nodes : {1, 2}) {
        for (const int slots : {1, 2}) {
            const test::TempDirectory folder;
            const auto options = options_in(folder, nodes);
            const std::vector<std::uint64_t> counts{10, 3000, 200'000, 7, 0, 250'000, 249'000};
            for (std::size_t last = 1; last <= counts.size(); last += 2) {
                with_session(3, options, [&](Session& session, comm::Group& world) {
                    auto stream = session.stream("restart", {.slots = slots}).value();
                    auto table = stream.particles("dm", {{"id", i64}, {"x", f64}}).value();
                    Rows rows;
                    for (std::size_t step = 0; step < last; ++step) {
                        // Rank 1 owns nothing, and rank 2 half as much: only some nodes outgrow their capacity.
                        const auto own_rows =
                            world.rank() == 1 ? 0 : counts[step] / static_cast<std::uint64_t>(1 + world.rank() / 2);
                        rows.fill(world.rank(), own_rows, static_cast<std::int64_t>(step));
                        table.bind(own_rows, rows.columns()).value();
                        CHECK(stream.save(static_cast<std::int64_t>(step)).value().kept);
                        rows.fill(world.rank(), own_rows, -1);  // save() has returned, so this memory may change
                    }
                });
                const auto a = static_cast<std::int64_t>(counts[last - 1]), b = a / 2;
                const auto ids = a * (a - 1) / 2 + b * (b - 1) / 2 + b * 2'000'000;
                check_rows(options, 2, static_cast<std::int64_t>(last) - 1, a + b, ids);
            }
        }
    }
}

TEST_CASE("a window of one snapshot: no agent waits for what another has committed and removed") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, 3);
    for (int life = 0; life < 2; ++life) {  // the second session begins below the steps of the first
        with_session(3, options, [&](Session& session, comm::Group&) {
            auto stream = session.stream("restart", {.slots = 2, .keep = 1}).value();
            double value = 0;
            stream.replicated("value", &value).value();
            for (std::int64_t step = 0; step < 30; ++step) {
                value = static_cast<double>(step);
                CHECK(stream.save(step).value().kept);
            }
            stream.wait_committed(60s).value();
        });
        const auto all = catalog::snapshots(sys::posix_store(), options.run, "restart").value();
        CHECK(all.front().step == 29);
        for (const auto& left : catalog::leftovers(sys::posix_store(), options.run, "restart").value())
            FAIL_CHECK(left.directory << " is left in life " << life);
    }
}

TEST_CASE("boxes change between saves: each snapshot has its own") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes);
        const test::FieldSpec fine{"u", f64, {17, 6}, {1, 6}, {1, 1}}, coarse{"u", f64, {17, 6}, {5, 2}, {0, 2}};
        with_session(4, options, [&](Session& session, comm::Group& world) {
            auto stream = session.stream("restart", {.slots = 2, .keep = 0}).value();
            test::Field even(fine, 1, world.rank(), 4), odd(coarse, 1, world.rank(), 4);
            stream.array("u", f64, {17, 6}, even.pieces()).value();
            for (std::int64_t step = 0; step < 6; ++step) {
                auto& field = step % 2 == 0 ? even : odd;
                field.fill(step);
                stream.rebind("u", field.pieces()).value();
                CHECK(stream.save(step).value().kept);
            }
        });
        with_session(3, options, [&](Session& session, comm::Group& world) {
            auto stream = session.stream("restart").value();
            test::Field field(coarse, 1, world.rank(), 3);
            stream.array("u", f64, {17, 6}, field.pieces()).value();
            auto restart = stream.newest().value();
            for (std::int64_t step = 5; step >= 0; --step) {
                REQUIRE(restart);
                CHECK(restart->step() == step);
                field.clear();
                restart->read().value();
                CHECK(field.wrong(step) == 0);
                restart = stream.older().value();
            }
            CHECK_FALSE(restart);
        });
    }
}

TEST_CASE("a step that is saved twice: the later save replaces the committed one") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes);
        for (int life = 0; life < 2; ++life) {
            with_session(3, options, [&](Session& session, comm::Group&) {
                auto stream = session.stream("restart").value();
                double value = 0;
                stream.replicated("value", &value).value();
                for (int again = 0; again < 2; ++again) {
                    value = 10 * life + again;
                    CHECK(stream.save(4).value().kept);
                    stream.wait_committed(60s).value();
                }
            });
            with_session(2, options, [&](Session& session, comm::Group&) {
                auto stream = session.stream("restart").value();
                double value = -1;
                stream.replicated("value", &value).value();
                auto restart = stream.newest().value();
                REQUIRE(restart);
                restart->read().value();
                CHECK(value == 10 * life + 1);
                CHECK_FALSE(stream.older().value());
            });
        }
        const auto all = catalog::snapshots(sys::posix_store(), options.run, "restart").value();
        CHECK(all.size() == 1);
        CHECK(catalog::leftovers(sys::posix_store(), options.run, "restart").value().empty());
    }
}

TEST_CASE("direct saves and prepare(): what the application writes into the slot is what a restart reads") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes);
        const test::FieldSpec spec{"u", i32, {12, 5}, {2, 5}, {0, 0}};
        with_session(3, options, [&](Session& session, comm::Group& world) {
            auto stream = session.stream("restart", {.slots = 2}).value();
            test::Field field(spec, 1, world.rank(), 3);
            double copied = 0, written = 0;
            stream.array("u", i32, spec.shape, field.pieces()).value();
            stream.replicated("copied", &copied).value();
            stream.replicated("written", &written).value();
            auto table = stream.particles("dm", {{"id", i64}, {"x", f64}}).value();
            table.bind(100).value();
            stream.prepare().value();
            Rows rows;
            for (std::int64_t step = 0; step < 5; ++step) {
                const auto count = static_cast<std::uint64_t>(10 * world.rank() + step);
                rows.fill(world.rank(), count, step);
                field.fill(step);
                copied = static_cast<double>(step);
                table.bind(count, {ColumnData(), ColumnData(rows.x.data())}).value();
                auto save = stream.begin(step).value();
                REQUIRE(save.kept());
                const auto pieces = field.pieces();
                // Writes every second box directly, and leaves the rest to seal(): a variable is written as a whole or
                // copied.
                for (std::size_t i = 0; i < pieces.size(); ++i)
                    std::memcpy(save.block("u", i).value(), pieces[i].data,
                                volume(pieces[i].box.size) * sizeof(std::int32_t));
                if (void* place = save.block("written").value()) *static_cast<double*>(place) = copied + 0.25;
                if (count > 0) std::memcpy(save.column(table, 0).value(), rows.id.data(), count * sizeof(std::int64_t));
                else static_cast<void>(save.column(table, 0).value());
                CHECK_FALSE(save.block("u", pieces.size()));
                CHECK_FALSE(save.block("unknown"));
                CHECK(save.seal().value().kept);
            }
        });
        with_session(2, options, [&](Session& session, comm::Group& world) {
            auto stream = session.stream("restart").value();
            test::Field field(spec, 1, world.rank(), 2);
            double copied = 0, written = 0;
            stream.array("u", i32, spec.shape, field.pieces()).value();
            stream.replicated("copied", &copied).value();
            stream.replicated("written", &written).value();
            auto restart = stream.newest().value();
            REQUIRE(restart);
            restart->read().value();
            CHECK(field.wrong(4) == 0);
            CHECK(copied == 4);
            CHECK(written == 4.25);
        });
        check_rows(options, 2, 4, 42, 0 + 6 + 91 + 14 * 1'000'000 + 276 + 24 * 2'000'000);
    }
}

TEST_CASE("a slot that keeps the room of an earlier layout is restarted from as it lies on the node") {
    const test::TempDirectory folder;
    auto options = options_in(folder, 1);
    std::string staged;
    {
        auto session = Session::open(options).value();
        auto stream = session.stream("restart").value();
        auto table = stream.particles("dm", {{"id", i64}, {"x", f64}}).value();
        std::vector<double> u(8);
        stream.array("u", f64, {8}, {packed({{0}, {8}}, u.data())}).value();
        Rows rows;
        rows.fill(0, 200'000, 1);
        table.bind(rows.id.size(), rows.columns()).value();
        stream.save(1).value();
        // Other boxes make a new layout, now with few rows.
        rows.fill(0, 10, 2);
        table.bind(rows.id.size(), rows.columns()).value();
        stream.rebind("u", {packed({{0}, {4}}, u.data()), packed({{4}, {4}}, u.data() + 4)}).value();
        stream.save(2).value();
        stream.wait_committed(60s).value();
        const auto run_id = catalog::identity_of(sys::posix_store(), options.run).value();
        staged = node::staging_directory(options.staging, options.run, run_id, 0).value();
        REQUIRE(fs::file_size(staged + "/restart.0.h5") > 3'200'000);
        REQUIRE(fs::file_size(options.run + "/restart/step-000002/node-00000.h5") < 100'000);
    }                                         // not closed, as after a crash
    options.agent.rate_bytes_per_second = 1;  // snapshots that are not at the target stay staged
    for (const bool committed : {true, false}) {
        CAPTURE(committed);
        // The page also held the session's knowledge of commits. Both are gone.
        if (!committed) fs::remove_all(options.run + "/restart/step-000002"), fs::remove(staged + "/control");
        auto session = Session::open(options).value();
        auto stream = session.stream("restart").value();
        auto table = stream.particles("dm", {{"id", i64}, {"x", f64}}).value();
        auto restart = stream.newest().value();
        REQUIRE(restart);
        CHECK(restart->step() == 2);
        CHECK_MESSAGE(restart->source().starts_with("staged copy"), restart->source());
        Rows got;
        got.fill(0, restart->rows(table), 0);
        table.bind(got.id.size(), got.columns()).value();
        restart->read().value();
        CHECK(got.id.size() == 10);
        CHECK(got.right(2));
    }
}

TEST_CASE("a rank without rows needs no addresses, neither to save nor to read") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, 1);
    for (const bool bound : {false, true}) {
        CAPTURE(bound);
        with_session(3, options, [&](Session& session, comm::Group& world) {
            auto stream = session.stream("restart").value();
            auto table = stream.particles("dm", {{"id", i64}, {"x", f64}}).value();
            Rows rows;
            rows.fill(world.rank(), world.rank() == 1 ? 20 : 0, 1);
            if (world.rank() == 1) table.bind(20, rows.columns()).value();
            else if (bound) table.bind(0).value();
            CHECK(stream.save(1).value().kept);
            stream.wait_committed(60s).value();
            auto restart = stream.newest().value();
            REQUIRE(restart);
            rows.fill(world.rank(), rows.id.size(), 9);
            restart->read().value();
            CHECK(rows.right(1));
        });
        check_rows(options, 2, 1, 20, 190 + 20 * 1'000'000);
    }
}

TEST_CASE("two runs at once in one process, with agents of both kinds, keep apart") {
    const test::TempDirectory folder;
    for (const auto mode : {AgentMode::thread, AgentMode::process}) {
        auto first_options = options_in(folder, 1, "one"), second_options = options_in(folder, 1, "two");
        first_options.agent.mode = second_options.agent.mode = mode;
        {
            auto first = Session::open(first_options).value(), second = Session::open(second_options).value();
            double a = 0, b = 0;
            auto stream_a = first.stream("restart", {.view = false}).value(),
                 stream_b = second.stream("restart", {.view = false}).value();
            stream_a.replicated("value", &a).value();
            stream_b.replicated("value", &b).value();
            for (int step = 0; step < 3; ++step) {
                a = step;
                b = -step;
                CHECK(stream_a.save(step).value().kept);
                CHECK(stream_b.save(step).value().kept);
            }
            first.close().value();
            CHECK(stream_b.save(3).value().kept);
            second.close().value();
        }
        for (const auto* options : {&first_options, &second_options}) {
            auto session = Session::open(*options).value();
            double value = 0;
            auto stream = session.stream("restart").value();
            stream.replicated("value", &value).value();
            auto restart = stream.newest().value();
            REQUIRE(restart);
            restart->read().value();
            CHECK(value == (options == &first_options ? 2 : -2));
            CHECK(restart->step() == (options == &first_options ? 2 : 3));
            session.close().value();
        }
    }
}

TEST_CASE("saves of two streams that have the same number are told apart, by the session and by the next one") {
    const test::TempDirectory folder;
    auto options = options_in(folder, 1);
    options.agent.mode = AgentMode::thread;
    {
        auto session = Session::open(options).value();
        double value = 1;
        auto fast = session.stream("fast").value();
        fast.replicated("value", &value).value();
        fast.save(7).value();
        fast.wait_committed(60s).value();
        const StreamOptions never{.rate_bytes_per_second = 1};
        auto slow = session.stream("slow", never).value();
        slow.replicated("value", &value).value();
        slow.save(9).value();
        CHECK(slow.newest().value().value().step() == 9);
    }
    auto session = Session::open(options).value();
    double value = 0;
    auto slow = session.stream("slow").value();
    slow.replicated("value", &value).value();
    CHECK(slow.newest().value().value().step() == 9);
    session.close().value();
    CHECK(catalog::snapshots(sys::posix_store(), options.run, "slow").value().size() == 1);
}

TEST_CASE("a step whose replacement was cut between its two renames is found by a restart") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, 1);
    double value = 1;
    const auto stream_of = [&](Session& session) {
        auto stream = session.stream("restart", {.view = false}).value();
        stream.replicated("value", &value).value();
        return stream;
    };
    {
        auto session = Session::open(options).value();
        stream_of(session).save(7).value();
        session.close().value();
    }
    const auto there = catalog::snapshots(sys::posix_store(), options.run, "restart").value().front().directory;
    const auto id = catalog::load_manifest(sys::posix_store(), there).value().snapshot_id;
    fs::rename(there, fs::path(there).parent_path() / catalog::leftover_name({7, id, catalog::Leftover::Kind::old}));
    auto session = Session::open(options).value();
    auto stream = stream_of(session);
    CHECK(stream.newest().value().value().step() == 7);
    session.close().value();
}
