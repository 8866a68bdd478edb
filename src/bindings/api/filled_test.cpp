// Goal: if somebody has copied snapshots into the run since a session opened, its number may not be above theirs. Then
// it saves nothing on any rank, and its agent removes nothing. Method: a run is copied, continues in both places, and
// its snapshots are then copied into the other place; by 1 and 3 ranks.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "path/catalog/names.hpp"
#include "support/row_rank.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

struct Place {
    Options options(const std::string& run) const {
        Options options{.run = folder / run, .staging = folder.path()};
        options.agent.mode = AgentMode::thread;
        return options;
    }
    std::string stream(const std::string& run) const { return folder / run + "/restart"; }
    std::vector<std::int64_t> steps(const std::string& run) const { return test::committed_steps(folder / run); }

    test::TempDirectory folder;
};

using Body = std::function<void(test::RowRank&)>;

void session(const Place& place, const std::string& run, int ranks, const Body& body,
             const StreamOptions& stream = {.keep = 0}) {
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        test::RowRank here(std::move(world), place.options(run), stream);
        body(here);
        static_cast<void>(here.session.close());
    });
}

// Session 1 saves 100. Another session looks at a copy, and the source continues to session 4.
void make(const Place& place, int ranks) {
    session(place, "source", ranks, [](test::RowRank& here) { here.save(100).value(); });
    fs::copy(place.folder / "source", place.folder / "target", fs::copy_options::recursive);
    fs::remove_all(place.folder / "target/forebay/sessions");
    session(place, "target", ranks, [](test::RowRank& here) { CHECK(here.restore() == 100); });
    for (const std::int64_t step : {110, 120, 130})
        session(place, "source", ranks, [&](test::RowRank& here) {
            CHECK(here.restore() == step - 10);
            here.save(step).value();
        });
}

void fill(const Place& place) {
    for (const auto& entry : fs::directory_iterator(place.stream("source")))
        fs::copy(entry.path(), fs::path(place.stream("target")) / entry.path().filename(),
                 fs::copy_options::recursive | fs::copy_options::skip_existing);
}

using Steps = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a session that opens after snapshots came by a copy has a number above theirs, and its saves count") {
    for (const int ranks : {1, 3}) {
        const Place place;
        make(place, ranks);
        fill(place);
        session(place, "target", ranks,
                [](test::RowRank& here) {
                    CHECK(here.restore() == 130);
                    here.save(140).value();
                    here.save(150).value();
                },
                {.keep = 2});
        CHECK(place.steps("target") == Steps{150, 140});
        session(place, "target", ranks, [](test::RowRank& here) { CHECK(here.restore() == 150); });
    }
}

TEST_CASE("a first save is refused on all ranks where snapshots of later sessions came after the session opened") {
    for (const int ranks : {1, 3}) {
        const Place place;
        make(place, ranks);
        session(place, "target", ranks, [&](test::RowRank& here) {
            CHECK_FALSE(here.stream.newest(0).value());
            here.once([&] { fill(place); });
            for (const std::int64_t step : {5, 170}) {
                const auto saved = here.save(step);
                REQUIRE_FALSE(saved);
                CHECK(saved.error().kind == ErrorKind::retry);
                for (const auto* word : {"session 4", "session 3", "filled while this session opened"})
                    CHECK_MESSAGE(saved.error().what.find(word) != std::string::npos, saved.error().what);
            }
        });
        CHECK(place.steps("target") == Steps{130, 120, 110, 100});
    }
}

TEST_CASE("where they come after its first save, the agent removes nothing, and the next save is refused") {
    const Place place;
    make(place, 2);
    const StreamOptions stream{.keep = 1, .keep_abandoned = 0};
    session(
        place, "target", 2,
        [&](test::RowRank& here) {
            here.save(200).value();
            here.stream.wait_committed(std::chrono::seconds(60)).value();
            here.once([&] { fill(place); });
            auto saved = here.save(210);
            for (std::int64_t step = 220; saved && step < 2000; step += 10) {  // the agent looks after a commit
                static_cast<void>(here.stream.wait_committed(std::chrono::seconds(60)));
                saved = here.save(step);
            }
            REQUIRE_FALSE(saved);
            CHECK(saved.error().kind == ErrorKind::refused);
            CHECK_MESSAGE(saved.error().what.find("session 4") != std::string::npos, saved.error().what);
        },
        stream);
    const auto steps = place.steps("target");
    for (const std::int64_t step : {210, 200, 130}) CHECK_MESSAGE(std::ranges::count(steps, step) == 1, step);
}
