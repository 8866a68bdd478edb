// Goal: a direct save that is skipped, dropped or sealed twice never writes into another save, and makes no rank wait.
// (stream_test reads its data back.)

#include <doctest/doctest.h>

#include "path/catalog/catalog.hpp"
#include "support/sessions.hpp"

using namespace forebay;
using test::options_in, test::with_session;

TEST_CASE("a direct save that the policy skips has no slot to write to, and sealing it saves nothing") {
    const test::TempDirectory folder;
    auto options = options_in(folder, 1);
    options.agent.rate_bytes_per_second = 1;  // the first step drains as long as the session lives
    auto session = Session::open(options).value();
    auto stream = session.stream("restart", {.policy = Policy::skip}).value();
    double value = 1;
    stream.replicated("value", &value).value();
    auto table = stream.particles("dm", {{"id", i64}}).value();
    auto first = stream.begin(1).value();
    REQUIRE(first.kept());
    CHECK(first.seal().value().kept);
    auto second = stream.begin(2).value();
    CHECK_FALSE(second.kept());
    CHECK(second.block("value").error().text().find("so it has no slot") != std::string::npos);
    CHECK(second.column(table, 0).error().text().find("so it has no slot") != std::string::npos);
    CHECK_FALSE(second.seal().value().kept);
    CHECK(stream.counters().saves == 1);
    CHECK(stream.counters().skipped == 1);
}

TEST_CASE("a direct save that is never sealed is given up; one handle cannot seal twice, nor another's save") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes);
        with_session(3, options, [&](Session& session, comm::Group&) {
            auto stream = session.stream("restart").value();
            double value = 0;
            stream.replicated("value", &value).value();
            auto table = stream.particles("dm", {{"id", i64}}).value();
            auto lost = stream.begin(1).value();
            CHECK(stream.begin(2).value().kept());
            CHECK(lost.block("value").error().kind == ErrorKind::refused);
            CHECK(lost.column(table, 0).error().kind == ErrorKind::refused);
            CHECK(lost.seal().error().kind == ErrorKind::refused);
            value = 3;
            CHECK(stream.save(3).value().kept);
            auto sealed = stream.begin(4).value();
            value = 4;
            CHECK(sealed.seal().value().kept);
            CHECK(sealed.block("value").error().text().find("step 4 is over") != std::string::npos);
            CHECK(sealed.seal().error().kind == ErrorKind::refused);
            CHECK(stream.counters().saves == 2);
            CHECK(stream.begin(5).value().kept());  // close() does not wait for it
        });
        std::vector<std::int64_t> steps;
        for (const auto& snapshot : catalog::snapshots(sys::posix_store(), options.run, "restart").value())
            steps.push_back(snapshot.step);
        CHECK(steps == std::vector<std::int64_t>{4, 3});
    }
}
