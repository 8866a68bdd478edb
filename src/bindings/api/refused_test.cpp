// Goal: errors of the caller are refused on every rank with the same text, and the session works afterwards.
// Method: threads as ranks; one rank is wrong, then it is corrected, and the same or another stream saves.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "bindings/api/state.hpp"
#include "path/catalog/catalog.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;

namespace {

constexpr int ranks = 3;

struct Rank {
    Session session;
    std::unique_ptr<comm::Group> world;
    int rank;
    std::uint64_t row() const { return static_cast<std::uint64_t>(rank); }
    bool is_wrong() const { return rank == 1; }
};

void with_ranks(const std::function<void(Rank&)>& body, int nodes = 1) {
    const test::TempDirectory folder;
    Options options{.run = folder / "run", .staging = folder.path()};
    options.virtual_nodes = nodes;
    options.agent.mode = AgentMode::thread;
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        const int rank = world->rank();
        auto own = world->split(0);
        Rank here{detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value(), std::move(own),
                  rank};
        body(here);
        here.session.close().value();
    });
}

std::string text_of_rank_0(comm::Group& world, const std::string& text) {
    auto common = text;
    world.broadcast_sized(common, 0).value();
    return common;
}

template <class T>
void check_refused(Rank& here, const Result<T>& answer, const std::string& says) {
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == ErrorKind::refused);
    CHECK_MESSAGE(answer.error().text().find(says) != std::string::npos, answer.error().text());
    CHECK(answer.error().what == text_of_rank_0(*here.world, answer.error().what));
}

void check_saves(Stream& stream, std::int64_t step) {
    const auto saved = stream.save(step);
    REQUIRE_MESSAGE(saved, (saved ? "" : saved.error().text()));
    CHECK(saved->kept);
    stream.wait_committed(std::chrono::seconds(60)).value();
    CHECK(stream.counters().newest_durable_step == step);
}

// A field with one row on each rank. The wrong rank first passes `wrong`, then its own row.
void check_boxes(const Box& wrong, const std::string& says) {
    for (const int nodes : {1, 2}) {
        with_ranks(
            [&](Rank& here) {
                std::vector<double> data(64, 1.0);
                auto stream = here.session.stream("restart").value();
                const Box right{{here.row(), 0}, {1, 4}};
                stream.array("u", f64, {ranks, 4}, {packed(here.is_wrong() ? wrong : right, data.data())}).value();
                check_refused(here, stream.save(1), says);
                check_refused(here, stream.prepare(), says);
                stream.rebind("u", {packed(right, data.data())}).value();
                check_saves(stream, 1);
            },
            nodes);
    }
}

// A box that does not fit its own variable is refused when it is described or bound again. Nothing has changed then.
void check_own_box(const Box& wrong, const std::string& says) {
    with_ranks([&](Rank& here) {
        std::vector<double> data(64, 1.0);
        auto stream = here.session.stream("restart").value();
        const Box right{{here.row(), 0}, {1, 4}};
        const auto refused = [&](const Result<>& answer) {
            REQUIRE_FALSE(answer);
            CHECK(answer.error().kind == ErrorKind::refused);
            CHECK_MESSAGE(answer.error().text().find(says) != std::string::npos, answer.error().text());
        };
        if (here.is_wrong()) refused(stream.array("u", f64, {ranks, 4}, {packed(wrong, data.data())}));
        stream.array("u", f64, {ranks, 4}, {packed(right, data.data())}).value();
        if (here.is_wrong()) refused(stream.rebind("u", {packed(wrong, data.data())}));
        check_saves(stream, 1);
    });
}

}  // namespace

TEST_CASE("a checksum kernel that the processor has not is refused when a session opens") {
    const test::TempDirectory folder;
    const Options options{.run = folder / "run", .staging = folder.path()};
    const char* before = std::getenv("FOREBAY_CRC");
    const std::string wish = before != nullptr ? before : "";
    ::setenv("FOREBAY_CRC", "abacus", 1);
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        const auto opened = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options);
        REQUIRE_FALSE(opened);
        CHECK(opened.error().kind == ErrorKind::refused);
        CHECK(opened.error().what.find("FOREBAY_CRC=abacus is not a checksum kernel") != std::string::npos);
    });
    CHECK_FALSE(std::filesystem::exists(options.run));
    ::setenv("FOREBAY_CRC", wish.c_str(), 1);  // an empty value counts as unset
}

TEST_CASE("one that is meant for the agent is refused then too, and the advice is about it") {
    const test::TempDirectory folder;
    Options options{.run = folder / "run", .staging = folder.path()};
    options.agent.environment = {{"FOREBAY_CRC", "abacus"}};
    const auto opened = Session::open(options);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().kind == ErrorKind::refused);
    CHECK(opened.error().what.find("agent.environment: FOREBAY_CRC=abacus is not a checksum kernel") == 0);
    CHECK(opened.error().next == "remove FOREBAY_CRC from agent.environment, and the fastest kernel is used");
    CHECK_FALSE(std::filesystem::exists(options.run));
    options.agent.environment = {{"FOREBAY_CRC", "portable"}};
    Session::open(options).value().close().value();
}

TEST_CASE("boxes that overlap are refused") { check_boxes({{0, 2}, {2, 2}}, "overlap"); }
TEST_CASE("boxes outside the global shape are refused") { check_own_box({{1, 1}, {1, 4}}, "outside the global shape"); }
TEST_CASE("a far box whose end wraps around is outside too") {
    check_own_box({{1, ~0ull - 1}, {1, 4}}, "outside the global shape");
}
TEST_CASE("boxes of other dimensions are refused") { check_own_box({{1}, {1}}, "dimensions"); }
TEST_CASE("holes are refused where full coverage was declared") {
    check_boxes({{1, 0}, {1, 3}}, "hold 11 of 12 elements");
}

TEST_CASE("holes are accepted where partial coverage was declared, overlaps are not") {
    with_ranks([](Rank& here) {
        std::vector<double> data(8, 1.0);
        auto stream = here.session.stream("restart").value();
        const Box right{{here.row(), 0}, {1, 2}};
        stream.array("u", f64, {ranks, 4}, {packed(right, data.data())}, {}, Coverage::partial).value();
        check_saves(stream, 1);
        if (here.is_wrong()) stream.rebind("u", {packed({{0, 1}, {2, 1}}, data.data())}).value();
        check_refused(here, stream.save(2), "overlap");
        stream.rebind("u", {packed(right, data.data())}).value();
        check_saves(stream, 2);
    });
}

TEST_CASE("a name described twice is refused where it is described, and the description stays as it was") {
    with_ranks([](Rank& here) {
        double time = 0;
        std::int64_t id = 7;
        auto stream = here.session.stream("restart").value();
        stream.replicated("time", &time).value();
        check_refused(here, stream.replicated("time", &id), "'time'");
        auto table = stream.particles("dm", {{"id", i64}}).value();
        check_refused(here, stream.particles("dm", {{"x", f64}}), "'dm'");
        check_refused(here, stream.replicated("dm/id", &id), "'dm/id'");
        check_refused(here, stream.particles("gas", {}), "no columns");
        table.bind(1, {&id}).value();
        check_saves(stream, 1);
    });
}

TEST_CASE("a name that could command a terminal is refused, and is spelled out in the text") {
    with_ranks([](Rank& here) {
        double time = 0;
        auto stream = here.session.stream("restart").value();
        const std::string name =
            "time\xc2\x9b"
            "31m";
        check_refused(here, stream.replicated(name, &time), "variable 'time\\xc2\\x9b31m' is refused");
        stream.replicated("time", &time).value();
        check_saves(stream, 1);
    });
}

TEST_CASE("ranks that describe a stream differently are refused; another stream works") {
    with_ranks([](Rank& here) {
        double time = 0;
        float brief = 0;
        std::vector<double> row(4);
        const auto mistakes = {0, 1, 2, 3};
        for (const int mistake : mistakes) {
            CAPTURE(mistake);
            auto stream = here.session.stream("wrong" + std::to_string(mistake)).value();
            const bool wrong = here.is_wrong();
            if (wrong && mistake == 0) stream.replicated("time", &brief).value();
            else stream.replicated("time", &time).value();
            if (!(wrong && mistake == 1)) {
                const std::uint64_t width = wrong && mistake == 2 ? 5 : 4;
                stream.array("u", f64, {ranks, width}, {packed({{here.row(), 0}, {1, 4}}, row.data())}).value();
            }
            auto table = stream.particles("dm", {{wrong && mistake == 3 ? "number" : "id", i64}}).value();
            check_refused(here, stream.save(1), "rank 0");
        }
        auto stream = here.session.stream("right").value();
        stream.replicated("time", &time).value();
        check_saves(stream, 1);
    });
}

TEST_CASE("columns without an address on one rank are refused, also in a direct save") {
    with_ranks([](Rank& here) {
        std::vector<std::int64_t> id(5, here.rank);
        auto stream = here.session.stream("restart").value();
        auto table = stream.particles("dm", {{"id", i64}}).value();
        const auto bind = [&](bool bound) {
            table.bind(id.size(), bound ? std::vector<ColumnData>{id.data()} : std::vector<ColumnData>{}).value();
        };
        bind(!here.is_wrong());
        check_refused(here, stream.save(1), "'dm/id' has 5 rows but no address");
        auto direct = stream.begin(1).value();
        check_refused(here, direct.seal(), "'dm/id' has 5 rows but no address");
        bind(true);
        check_saves(stream, 1);
    });
}

TEST_CASE("a step below 0, of one rank alone below 0, or with no number above it, is refused") {
    with_ranks([](Rank& here) {
        double time = 0;
        auto stream = here.session.stream("restart").value();
        stream.replicated("time", &time).value();
        check_refused(here, stream.save(-1), "step -1");
        check_refused(here, stream.save(here.is_wrong() ? -5 : 3), "step -5");
        constexpr auto last = std::numeric_limits<std::int64_t>::max();
        check_refused(here, stream.save(last), "steps are 0 to 9223372036854775806");
        check_saves(stream, 3);
        check_saves(stream, last - 1);
        CHECK(stream.newest().value().value().step() == last - 1);
    });
}

TEST_CASE("wrong options are refused on every rank, as is a run below a file") {
    const test::TempDirectory folder;
    std::ofstream(folder / "file") << "not a directory";
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        const bool wrong = world->rank() == 1;
        auto own = world->split(0);
        const auto refused = [&](Options options, const std::string& says) {
            options.agent.mode = AgentMode::thread;
            options.staging = folder.path();
            const auto session = detail::open_over(std::make_unique<GroupHolder>(own->split(0)), options);
            REQUIRE_FALSE(session);
            CHECK(session.error().kind == ErrorKind::refused);
            CHECK_MESSAGE(session.error().text().find(says) != std::string::npos, session.error().text());
        };
        refused({.run = wrong ? "" : folder / "run"}, "the run has no name");
        refused({.run = folder / "run", .virtual_nodes = wrong ? 0 : 1}, "virtual_nodes");
        refused({.run = folder / "file/run"}, "run directory " + (folder / "file/run") + " cannot be written to: ");
        refused({.run = folder / "file/run"}, "Next: ");
    });
}

TEST_CASE("a second session of the same run on the same node is refused; after the first is closed it is not") {
    const test::TempDirectory folder;
    Options options{.run = folder / "run", .staging = folder.path()};
    options.agent.mode = AgentMode::thread;
    auto first = Session::open(options).value();
    const auto second = Session::open(options);
    REQUIRE_FALSE(second);
    CHECK(second.error().kind == ErrorKind::refused);
    CHECK_MESSAGE(second.error().text().find("another session (process ") != std::string::npos, second.error().text());
    double time = 1;
    auto stream = first.stream("restart").value();
    stream.replicated("time", &time).value();
    check_saves(stream, 1);
    first.close().value();
    CHECK_FALSE(stream.save(2));
    Session::open(options).value().close().value();
}

TEST_CASE("a dedicated agent that nobody split off is refused, with the way out") {
    const test::TempDirectory folder;
    Options options{.run = folder / "run", .staging = folder.path()};
    options.agent.mode = AgentMode::dedicated;
    const auto session = Session::open(options);
    REQUIRE_FALSE(session);
    CHECK(session.error().kind == ErrorKind::refused);
    CHECK(session.error().text().find("Next: call it after MPI_Init, or set agent.mode") != std::string::npos);
}
