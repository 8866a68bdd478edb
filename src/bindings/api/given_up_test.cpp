// Goal: a session goes back, saves output, and ends before it saves a restart. It then leaves nothing among the output
// of the run, and removes nothing from it. Method: three sessions with a restarted stream and an output stream, by
// several ranks and nodes; the bytes are compared.

#include <doctest/doctest.h>

#include "path/catalog/history.hpp"
#include "support/row_rank.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;

namespace {

struct Rank : test::RowRank {
    Rank(std::unique_ptr<comm::Group> given, const Options& options)
        : RowRank(std::move(given), options), output(session.stream("output", {.keep = 0}).value()) {
        const auto size = static_cast<std::uint64_t>(world->size()), row = static_cast<std::uint64_t>(world->rank());
        output.array("v", f64, {size, 2}, {packed({{row, 0}, {1, 2}}, value)}).value();
    }
    void put_out(std::int64_t first, std::int64_t last, double offset = 0) {
        for (auto step = first; step <= last; ++step) {
            value[0] = value[1] = static_cast<double>(step) + offset;
            output.save(step).value();
            if (step % 3 == 0 && offset == 0) save(step).value();
        }
    }

    double value[2] = {};
    Stream output;
};

}  // namespace

TEST_CASE("a going back that ends before its first restart save leaves the output of the run as it was") {
    for (const auto& [ranks, nodes] : {std::pair(1, 1), std::pair(2, 1), std::pair(3, 3)}) {
        CAPTURE(ranks);
        const test::TempDirectory folder;
        Options options{.run = folder / "run", .staging = folder.path(), .virtual_nodes = nodes};
        options.agent.mode = AgentMode::thread;
        const auto session = [&](const std::function<void(Rank&)>& body) {
            test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
                Rank here(std::move(world), options);
                body(here);
                here.session.close().value();
            });
        };
        session([](Rank& here) { here.put_out(1, 6); });
        session([](Rank& here) {
            CHECK(here.restore(4) == 3);
            here.put_out(4, 5, 100);
        });
        session([](Rank& here) {
            CHECK(here.restore() == 6);
            here.put_out(7, 7);
        });
        session([](Rank& here) {
            CHECK(here.restore() == 6);
            for (std::int64_t step = 7; step > 0; --step) {
                auto restart = here.output.newest(step + 1).value();
                REQUIRE(restart);
                CHECK(restart->step() == step);
                restart->read().value();
                CHECK(here.value[1] == static_cast<double>(step));
            }
        });
        const auto history = catalog::history(sys::posix_store(), options.run, "output").value();
        CHECK(history.living.size() == 7);
        CHECK(history.abandoned.size() == 2);
    }
}
