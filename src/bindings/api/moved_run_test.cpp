// Goal: a restart answers for the run that the session opened. If the run's directory is gone, empty or another run's
// when the application asks, all ranks get an error, and nothing begins anew. When the run is back, the restart
// continues. If the run is gone when the agent drains, the error reports it, and the next program at its path prints
// the staged snapshots. Method: the test renames directories between two calls, and the receiver of the log renames
// them within a call.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "path/catalog/names.hpp"
#include "support/printed_by.hpp"
#include "support/row_rank.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

enum class Instead { nothing, empty, another };

struct Place {
    Options options(const std::string& run) const {
        Options options{.run = folder / run, .staging = folder.path()};
        options.agent.mode = AgentMode::thread;
        return options;
    }
    void take_away(Instead instead) const {
        fs::rename(folder / "run", folder / "away");
        if (instead == Instead::empty) fs::create_directory(folder / "run");
        if (instead == Instead::another) fs::rename(folder / "other", folder / "run");
    }
    void bring_back(Instead instead) const {
        if (instead == Instead::empty) fs::remove(folder / "run");
        if (instead == Instead::another) fs::rename(folder / "run", folder / "other");
        fs::rename(folder / "away", folder / "run");
    }

    test::TempDirectory folder;
};

void session(const Options& options, int ranks, const std::function<void(test::RowRank&)>& body) {
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        test::RowRank here(std::move(world), options);
        body(here);
        here.session.close().value();
    });
}

// The other run has the same steps and one more.
void save_both(const Place& place, int ranks) {
    for (const auto* run : {"run", "other"})
        session(place.options(run), ranks, [&](test::RowRank& here) {
            for (const auto step : {1, 2, 3}) here.save(step).value();
            if (run == std::string("other")) here.save(4).value();
        });
}

template <class T>
void check_error(const Result<T>& answer, ErrorKind kind) {
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == kind);
    for (const char* words : {"/run", "move the run back"})
        CHECK_MESSAGE(answer.error().text().find(words) != std::string::npos, answer.error().text());
}

}  // namespace

TEST_CASE("a run that is gone, or another one's place, when the application asks: an error, and no beginning") {
    for (const int ranks : {1, 2, 3})
        for (const auto instead : {Instead::nothing, Instead::empty, Instead::another}) {
            CAPTURE(ranks);
            CAPTURE(static_cast<int>(instead));
            const auto kind = instead == Instead::another ? ErrorKind::refused : ErrorKind::retry;
            const Place place;
            save_both(place, ranks);
            session(place.options("run"), ranks, [&](test::RowRank& here) {
                here.once([&] { place.take_away(instead); });
                check_error(here.stream.restore(), kind);
                check_error(here.stream.newest(), kind);
                check_error(here.stream.older(), kind);
                CHECK_FALSE(here.save(1));
                here.once([&] { place.bring_back(instead); });
                auto restart = here.stream.newest().value();
                REQUIRE(restart);
                CHECK(restart->step() == 3);
                // To a reader the chosen snapshot looks damaged, since it finds the files of another run. It is not.
                here.once([&] { place.take_away(instead); });
                if (const auto read = restart->read(); !read) CHECK(read.error().kind != ErrorKind::corrupt);
                here.once([&] { place.bring_back(instead); });
                CHECK(here.restore() == 3);
            });
        }
}

TEST_CASE("another run that comes while a restart chooses: none of its snapshots is taken") {
    for (const int ranks : {1, 2}) {
        const Place place;
        save_both(place, ranks);
        std::ofstream(place.folder / ("run/restart/" + catalog::step_name(3) + "/" + catalog::manifest_name)).put('x');
        auto options = place.options("run");
        bool is_to_move = true;
        options.log = [&](const std::string& line) {
            if (line.find("step 3 is skipped") != std::string::npos && std::exchange(is_to_move, false))
                place.take_away(Instead::another);
        };
        session(options, ranks, [&](test::RowRank& here) {
            const auto restart = here.stream.restore();
            check_error(restart, ErrorKind::refused);
            CHECK(restart.error().text().find("is of another run") != std::string::npos);
            here.once([&] { place.bring_back(Instead::another); });
            CHECK(here.restore() == 2);
        });
    }
}

TEST_CASE("a run that is moved while it is drained: the error says what happened, and a start at its path as well") {
    for (const auto instead : {Instead::nothing, Instead::empty}) {
        CAPTURE(static_cast<int>(instead));
        const Place place;
        test::with_threads(1, [&](std::unique_ptr<comm::Group> world) {
            test::RowRank here(std::move(world), place.options("run"));
            here.save(1).value();
            here.stream.wait_committed(std::chrono::minutes(5)).value();
            place.take_away(instead);
            here.save(2).value();
            const auto closed = here.session.close();
            REQUIRE_FALSE(closed);
            const auto text = closed.error().text();
            for (const std::string& words :
                 {std::string("moved or removed"), "move it back to " + (place.folder / "run"),
                  std::string("the staged copy"), std::string("--into NEW-RUN")})
                CHECK_MESSAGE(text.find(words) != std::string::npos, text);
        });
        ::unsetenv("FOREBAY_LOG");  // without a log the line is printed all the same
        const auto printed =
            test::printed_by([&] { session(place.options("run"), 1, [](test::RowRank&) {}); }, place.folder / "stderr");
        CHECK_MESSAGE(std::ranges::count(printed, '\n') == 1, printed);
        CHECK(printed.starts_with("forebay: "));
        for (const std::string words : {"holds staged snapshots", "--into ANOTHER-RUN"})
            CHECK_MESSAGE(printed.find(words) != std::string::npos, printed);
    }
}
