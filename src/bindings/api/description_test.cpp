// Goal: the description may change after a snapshot was chosen and between saves. Variables can be described late and
// read one by one; forgotten variables are no longer saved. An array may have no elements.
// Method: threads as ranks save; another number of ranks reads staged copies and the files of the target.

#include <doctest/doctest.h>

#include "path/catalog/catalog.hpp"
#include "support/sessions.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::options_in, test::with_session;

TEST_CASE("variables are described after newest() and read one by one, from the staged copy and from the target") {
    for (const int nodes : {1, 2}) {
        for (const bool staged : {true, false}) {
            const test::TempDirectory folder;
            const auto options = options_in(folder, nodes);
            double dt = 0.125;
            test::with_threads(3, [&](std::unique_ptr<comm::Group> world) {
                const auto row = static_cast<std::uint64_t>(world->rank());
                auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value();
                auto stream = session.stream("restart", {.slots = 2, .view = false}).value();
                std::vector<double> u(5, static_cast<double>(row)), v(4, static_cast<double>(10 + row));
                stream.replicated("dt", &dt).value();
                stream.array("u", f64, {3, 5}, {packed({{row, 0}, {1, 5}}, u.data())}).value();
                stream.array("v", f64, {3, 4}, {packed({{row, 0}, {1, 4}}, v.data())}).value();
                stream.save(4).value();
                stream.wait_committed(60s).value();
                if (!staged) session.close().value();  // else the staged copy stays
            });
            with_session(2, options, [&](Session& session, comm::Group& world) {
                auto stream = session.stream("restart", {.slots = 2, .view = false}).value();
                auto restart = stream.newest().value();
                REQUIRE(restart);
                CHECK((restart->source().find("staged copy") != std::string::npos) == (staged && nodes == 1));
                double read_dt = 0;
                stream.replicated("dt", &read_dt).value();
                restart->read({"dt"}).value();
                CHECK(read_dt == 0.125);
                CHECK(restart->read({"u"}).error().text().find("no variable 'u' is described") != std::string::npos);
                const auto own_box = world.rank() == 0 ? Box{{0, 0}, {1, 5}} : Box{{1, 0}, {2, 5}};
                std::vector<double> u(10, -1), v(4, -1);
                stream.array("u", f64, {3, 5}, {packed(own_box, u.data())}).value();
                stream.array("v", f64, {3, 4}, {packed({{2, 0}, {1, 4}}, v.data())}, {}, Coverage::partial).value();
                read_dt = 7;
                restart->read({"v"}).value();
                CHECK(v == std::vector<double>(4, 12));
                CHECK(u == std::vector<double>(10, -1));
                restart->read({"u", "v"}).value();
                CHECK(u[0] == world.rank());
                CHECK(u[5] == (world.rank() == 0 ? -1 : 2));
                CHECK(read_dt == 7);
                stream.particles("gas", {{"id", i64}}).value();
                CHECK(restart->read({"gas/id"}).error().kind == ErrorKind::refused);
            });
        }
    }
}

TEST_CASE("a variable that is forgotten is not saved any more; the others keep their places") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, 2);
    const auto body = [](bool first) {
        return [first](Session& session, comm::Group& world) {
            auto stream = session.stream("restart", {.slots = 2, .keep = 0, .view = false}).value();
            const auto row = static_cast<std::uint64_t>(world.rank());
            std::int64_t id = static_cast<std::int64_t>(row), gone = 3;
            double u = 10.0 + static_cast<double>(row);
            stream.array("gone", i64, {3}, {packed({{row}, {1}}, &gone)}, {}, Coverage::full).value();
            auto gas = stream.particles("gas", {{"id", i64}}).value();
            stream.array("u", f64, {3}, {packed({{row}, {1}}, &u)}).value();
            gas.bind(1, {&id}).value();
            if (first) stream.save(1).value();
            CHECK(stream.forget("other").error().kind == ErrorKind::missing);
            CHECK(stream.forget("gas/id").error().kind == ErrorKind::refused);
            auto begun = stream.begin(2);
            stream.forget("gone").value();
            CHECK(begun.value().seal().error().kind == ErrorKind::refused);
            CHECK(stream.forget("gone").error().kind == ErrorKind::missing);
            if (first) {
                stream.save(3).value();
                return;
            }
            auto restart = stream.newest().value();
            REQUIRE(restart);
            CHECK(restart->step() == 3);
            id = -1, u = -1;
            restart->read().value();
            CHECK(id == static_cast<std::int64_t>(row));
            CHECK(u == 10.0 + static_cast<double>(row));
        };
    };
    with_session(3, options, body(true));
    with_session(3, options, body(false));
    const auto manifest =
        catalog::load_manifest(sys::posix_store(), options.run + "/restart/" + catalog::step_name(3)).value();
    CHECK(manifest.schema.variables.size() == 2);
}

TEST_CASE("arrays with an extent of 0 are saved and restarted from on other ranks, beside others") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, 2);
    for (const int ranks : {3, 2, 5}) {
        with_session(ranks, options, [&](Session& session, comm::Group& world) {
            const auto rank = static_cast<std::uint64_t>(world.rank()), all = static_cast<std::uint64_t>(ranks);
            auto stream = session.stream("restart", {.view = false}).value();
            std::vector<double> u(30, -1);
            const std::uint64_t first = 30 * rank / all, rows = 30 * (rank + 1) / all - first;
            stream.array("none", f64, {0, 3}, {}).value();
            stream.array("nobody", f64, {4, 0}, {packed({{rank, 0}, {1, 0}}, u.data())}).value();
            stream.replicated("list", f64, {0}, nullptr).value();
            stream.array("u", f64, {30}, {packed({{first}, {rows}}, u.data())}).value();
            const auto restart = stream.restore().value();
            CHECK(restart.has_value() == (ranks != 3));
            if (restart)
                for (std::uint64_t row = 0; row < rows; ++row) CHECK(u[row] == static_cast<double>(first + row));
            for (std::uint64_t row = 0; row < rows; ++row) u[row] = static_cast<double>(first + row);
            CHECK(stream.save(ranks == 3 ? 1 : restart->step() + 1).value().kept);
            CHECK(stream.array("more", f64, {0}, {packed({{0}, {1}}, u.data())}).error().kind == ErrorKind::refused);
        });
    }
    CHECK(test::committed(options).size() == 3);
}
