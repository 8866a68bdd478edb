// Goal: an empty answer of a restart means that no snapshot exists. If snapshots exist but cannot be used, all ranks
// get an error about them. If a snapshot cannot be read now, the restart ends, even if an older snapshot is whole.
// Method: a run with three steps and one fault, by 1, 2, 3 and 5 ranks; permissions of an ordinary user.

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "path/catalog/marks.hpp"
#include "path/catalog/names.hpp"
#include "support/ordinary_user.hpp"
#include "support/row_rank.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

constexpr auto all_ranks = {1, 2, 3, 5};

struct Place {
    Place() { fs::permissions(folder.path(), fs::perms::all); }
    Options options() const {
        Options options{.run = run(), .staging = folder.path()};
        options.agent.mode = AgentMode::thread;
        return options;
    }
    std::string run() const { return folder / "run"; }
    std::string stream() const { return run() + "/restart"; }
    std::string step(std::int64_t step) const { return stream() + "/" + catalog::step_name(step); }
    std::string node_file(std::int64_t step) const { return this->step(step) + "/node-00000.h5"; }

    test::TempDirectory folder;
};

using Body = std::function<void(test::RowRank&)>;

void session(const Place& place, int ranks, const Body& body, const StreamOptions& stream = {.keep = 0}) {
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        test::RowRank here(std::move(world), place.options(), stream);
        body(here);
        here.session.close().value();
    });
}

void save(const Place& place, int ranks, const std::vector<std::int64_t>& steps = {1, 2, 3}) {
    session(place, ranks, [&](test::RowRank& here) {
        for (const auto step : steps) here.save(step).value();
    });
}

/// "3", "none", or the kind and the text of rank 0's error. All ranks have the same.
std::string restored(const Place& place, int ranks, const StreamOptions& stream = {.keep = 0}) {
    std::string answer;
    session(
        place, ranks,
        [&](test::RowRank& here) {
            const auto restart = here.stream.restore();
            const auto text = !restart    ? std::string(name_of(restart.error().kind)) + ": " + restart.error().text()
                              : !*restart ? std::string("none")
                                          : std::to_string((*restart)->step());
            auto first = text;
            here.world->broadcast_sized(first, 0).value();
            CHECK(text == first);
            const auto newest = here.stream.newest();
            // newest() reads no data, so it gives the same answer, unless only the data are damaged.
            if (!restart && restart.error().kind != ErrorKind::corrupt)
                CHECK(newest.error().text() == restart.error().text());
            if (restart && *restart) {
                const auto right = [&](double value) { return value == static_cast<double>((*restart)->step()); };
                CHECK(std::ranges::all_of(here.data, right));
            }
            if (here.world->rank() == 0) answer = text;
        },
        stream);
    return answer;
}

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void damage(const std::string& node_file) {
    std::fstream file(node_file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-5000, std::ios::end);
    file << "XXXX";
    REQUIRE(file.good());
}

// The environment of one start.
struct EnvironmentOfStart {
    explicit EnvironmentOfStart(const std::string& value) { ::setenv("FOREBAY_RESTART", value.c_str(), 1); }
    EnvironmentOfStart(const EnvironmentOfStart&) = delete;
    EnvironmentOfStart& operator=(const EnvironmentOfStart&) = delete;
    ~EnvironmentOfStart() { ::unsetenv("FOREBAY_RESTART"); }
};

void mark(const Place& place, std::int64_t step) {
    auto& store = sys::posix_store();
    const auto id = catalog::load_manifest(store, place.step(step)).value().snapshot_id;
    const std::vector<format::Mark> marks{{"numbers", "u/nan > 0", "u/nan", 3}};
    catalog::mark(store, {place.run(), "restart", step, id}, marks).value();
}

}  // namespace

TEST_CASE("a run without snapshots has none; what a stream without any other says does not count") {
    for (const int ranks : all_ranks) {
        const Place place;
        CHECK(restored(place, ranks) == "none");
        fs::create_directories(place.stream());
        CHECK(restored(place, ranks) == "none");
    }
}

TEST_CASE("data that fail their checksum in the only snapshots: corrupt, whatever was read into memory") {
    for (const int ranks : all_ranks) {
        const Place place;
        save(place, ranks);
        damage(place.node_file(3));
        CHECK(restored(place, ranks) == "2");
        for (const auto step : {1, 2}) damage(place.node_file(step));
        const auto text = restored(place, ranks);
        CHECK_MESSAGE(begins(text, "corrupt: "), text);
        for (const auto* step : {"step 3: ", "step 2: ", "step 1: "}) CHECK_MESSAGE(has(text, step), text);
        CHECK_MESSAGE(has(text, place.node_file(1)), text);
        CHECK_MESSAGE(has(text, "forebay verify"), text);
        CHECK_MESSAGE(has(text, "FOREBAY_RESTART=none"), text);
    }
}

TEST_CASE("after a read that failed older() and newest(below) have an error instead of nothing, until a save") {
    const Place place;
    save(place, 3, {5});
    damage(place.node_file(5));
    session(place, 3, [&](test::RowRank& here) {
        auto restart = here.stream.newest().value();
        REQUIRE(restart);
        CHECK_FALSE(here.stream.older().value());  // nothing is below, and nothing is wrong yet
        CHECK(restart->read().error().kind == ErrorKind::corrupt);
        CHECK(here.stream.older().error().kind == ErrorKind::corrupt);
        CHECK(here.stream.newest(5).error().kind == ErrorKind::corrupt);
        CHECK(here.stream.restore().error().kind == ErrorKind::corrupt);
        // An application that ignores the error begins nothing anew.
        const auto overlooked = here.save(6).error();
        CHECK(overlooked.kind == ErrorKind::refused);
        CHECK(overlooked.next.find("FOREBAY_RESTART=") == overlooked.next.rfind("FOREBAY_RESTART="));
        CHECK_FALSE(here.stream.newest(0).value());
        here.save(6).value();
        here.stream.wait_committed(std::chrono::seconds(60)).value();
        CHECK(here.stream.newest().value()->step() == 6);
        CHECK_FALSE(here.stream.newest(5).value());
    });
}

TEST_CASE("what an ordinary user may not read is refused with its path, and nothing older is taken") {
    struct Closed {
        int ranks;
        const char* what;
        std::function<std::string(const Place&)> path;
    };
    const Closed cases[] = {{1, "node file", [](const Place& place) { return place.node_file(3); }},
                            {2, "manifest", [](const Place& place) { return place.step(3) + "/manifest.json"; }},
                            {3, "step directory", [](const Place& place) { return place.step(3); }},
                            {5, "stream", [](const Place& place) { return place.stream(); }}};
    for (const auto& fault : cases) {
        CAPTURE(fault.what);
        const Place place;
        const auto output = test::told_by_ordinary_user([&]() -> std::string {
            save(place, fault.ranks);
            const auto path = fault.path(place);
            const auto before = fs::status(path).permissions();
            fs::permissions(path, fs::perms::none);
            const auto text = restored(place, fault.ranks);
            fs::permissions(path, before);
            if (restored(place, fault.ranks) != "3") return "it does not come back: " + text;
            return text;
        });
        CHECK_MESSAGE(begins(output, "refused: "), output);
        CHECK_MESSAGE(has(output, fault.path(place)), output);
        CHECK_MESSAGE(has(output, "Permission denied"), output);
    }
}

TEST_CASE(
    "what a manifest names and is not there, and links to what is not mounted, end the restart: they may come back") {
    struct Gone {
        const char* what;
        std::function<std::string(const Place&)> path;
        bool leaves_link;
    };
    const Gone cases[] = {{"node file", [](const Place& place) { return place.node_file(3); }, false},
                          {"node file is a link", [](const Place& place) { return place.node_file(3); }, true},
                          {"manifest", [](const Place& place) { return place.step(3) + "/manifest.json"; }, false},
                          {"step is a link", [](const Place& place) { return place.step(3); }, true},
                          {"stream is a link", [](const Place& place) { return place.stream(); }, true}};
    for (const int ranks : {2})
        for (const auto& fault : cases) {
            CAPTURE(fault.what);
            const Place place;
            save(place, ranks);
            const auto path = fault.path(place), away = place.folder / "away", nowhere = place.folder / "not-mounted/x";
            fs::rename(path, away);
            if (fault.leaves_link) fs::create_symlink(nowhere, path);
            const auto text = restored(place, ranks);
            CHECK_MESSAGE(begins(text, "retry: "), text);
            CHECK_MESSAGE(has(text, path), text);
            fs::remove(path);
            fs::rename(away, path);
            CHECK(restored(place, ranks) == "3");
        }
}

TEST_CASE("files in the place of step directories are named: damage, and never nothing") {
    const Place place;
    save(place, 2);
    for (const auto step : {3, 2, 1}) {
        fs::remove_all(place.step(step));
        std::ofstream(place.step(step)) << "file";
        if (step == 3) CHECK(restored(place, 2) == "2");
    }
    const auto text = restored(place, 2);
    CHECK_MESSAGE(begins(text, "corrupt: "), text);
    for (const auto step : {1, 2, 3}) CHECK_MESSAGE(has(text, place.step(step)), text);
}

TEST_CASE("a manifest of no bytes is damage: passed over; with nothing else it is corrupt") {
    const Place place;
    save(place, 2);
    std::ofstream(place.step(3) + "/manifest.json", std::ios::trunc);
    CHECK(restored(place, 2) == "2");
    for (const auto step : {1, 2}) std::ofstream(place.step(step) + "/manifest.json", std::ios::trunc);
    CHECK(begins(restored(place, 2), "corrupt: "));
}

TEST_CASE("marked ones alone are refused with the way out, and taken where the stream says so") {
    for (const int ranks : {1, 3}) {
        const Place place;
        save(place, ranks, {1, 2});
        mark(place, 2);
        CHECK(restored(place, ranks) == "1");
        mark(place, 1);
        const auto text = restored(place, ranks);
        CHECK_MESSAGE(begins(text, "refused: "), text);
        CHECK_MESSAGE(has(text, "forebay unmark " + place.run() + "/restart@2"), text);
        CHECK_MESSAGE(has(text, "marked = \"take\""), text);
        CHECK(restored(place, ranks, {.keep = 0, .marked = Marked::take}) == "2");
    }
}

TEST_CASE("a directory under another step's name, or another stream's, is never taken") {
    const Place place;
    save(place, 2, {1, 2});
    fs::copy(place.step(1), place.step(9), fs::copy_options::recursive);
    CHECK(restored(place, 2) == "2");
    fs::rename(place.stream(), place.run() + "/other");
    const auto text = restored(place, 2);
    CHECK_MESSAGE(text == "none", text);  // a stream of another name is another stream
    fs::rename(place.run() + "/other", place.stream());
    fs::create_directory(place.run() + "/copied");
    fs::copy(place.step(2), place.run() + "/copied/step-000002", fs::copy_options::recursive);
    session(place, 2, [&](test::RowRank& here) {
        double value = 0;
        auto copied = here.session.stream("copied").value();
        copied.replicated("v", &value).value();
        const auto restart = copied.newest();
        REQUIRE_FALSE(restart);
        CHECK(restart.error().kind == ErrorKind::corrupt);
        CHECK_MESSAGE(has(restart.error().what, "stream 'restart'"), restart.error().what);
    });
}

TEST_CASE("only what `prune --above` has left behind counts as nothing") {
    const Place place;
    save(place, 2, {100, 200});
    session(place, 2, [](test::RowRank& here) {
        CHECK(here.restore(101) == 100);
        here.save(110).value();
    });
    REQUIRE(fs::exists(place.stream() + "/line-1.step-000200"));
    catalog::prune_above(sys::posix_store(), place.run(), "restart", 0, 9, false).value();
    CHECK(restored(place, 2) == "none");
}

TEST_CASE("FOREBAY_RESTART, as rank 0 has it: none, or the newest at or below a step, until the first save") {
    for (const int ranks : {1, 3}) {
        const Place place;
        save(place, ranks, {100, 200, 300});
        mark(place, 200);
        {
            const EnvironmentOfStart wish("none");
            session(place, ranks, [](test::RowRank& here) {
                CHECK_FALSE(here.stream.restore().value());
                CHECK_FALSE(here.stream.newest().value());
            });
        }
        {
            const EnvironmentOfStart wish("200");
            CHECK(restored(place, ranks) == "200");  // its step is in the request, so its mark does not count
            session(place, ranks, [](test::RowRank& here) {
                CHECK(here.stream.newest().value()->step() == 200);
                CHECK(here.stream.older().value()->step() == 100);
                CHECK(here.stream.newest(200).value()->step() == 100);
                here.save(210).value();
                here.stream.wait_committed(std::chrono::seconds(60)).value();
                CHECK(here.stream.newest().value()->step() == 210);
            });
            CHECK(restored(place, ranks) == "100");  // at each start; the run left 200 when it saved 210
        }
        {
            const EnvironmentOfStart wish("99");
            const auto text = restored(place, ranks);
            CHECK_MESSAGE(begins(text, "refused: "), text);
            CHECK_MESSAGE(has(text, "FOREBAY_RESTART=99"), text);
        }
        CHECK(restored(place, ranks) == "210");
    }
}

TEST_CASE("a value of FOREBAY_RESTART that is none opens nothing, and is told") {
    for (const auto* value : {"abacus", "-1", "3.5", "300 ", "9223372036854775807", "NONE"}) {
        const Place place;
        const EnvironmentOfStart wish(value);
        test::with_threads(2, [&](std::unique_ptr<comm::Group> world) {
            const auto opened = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), place.options());
            REQUIRE_FALSE(opened);
            CHECK(opened.error().kind == ErrorKind::refused);
            CHECK_MESSAGE(has(opened.error().what, std::string("\"") + value + "\""), opened.error().what);
        });
        CHECK_FALSE(fs::exists(place.run()));
    }
}

TEST_CASE("restart_from goes back once: a chain with it in its configuration gets ahead") {
    const Place place;
    save(place, 2, {100, 200, 300});
    const StreamOptions stream{.keep = 0, .restart_from = 150};
    CHECK(restored(place, 2, stream) == "100");
    CHECK(restored(place, 2, stream) == "100");  // the run saved nothing after it
    const auto job = [&](std::int64_t from, std::int64_t step, const StreamOptions& options) {
        session(
            place, 2,
            [&](test::RowRank& here) {
                CHECK(here.stream.restore().value()->step() == from);
                here.save(step).value();
            },
            options);
    };
    job(100, 110, stream);
    job(110, 120, stream);
    job(110, 125, {.keep = 0, .restart_from = 115});  // another request
    job(125, 130, {.keep = 0, .restart_from = 115});
    const EnvironmentOfStart wish("110");
    CHECK(restored(place, 2, stream) == "110");  // the environment belongs to one start
}

TEST_CASE("restart_from goes back no second time while the newest snapshot cannot be read") {
    const Place place;
    save(place, 2, {100, 200});
    const StreamOptions stream{.keep = 0, .restart_from = 150};
    session(
        place, 2,
        [](test::RowRank& here) {
            CHECK(here.stream.restore().value()->step() == 100);
            here.save(110).value();
        },
        stream);
    const auto manifest = place.stream() + "/step-000110/manifest.json", away = place.run() + "/manifest.away";
    fs::rename(manifest, away);
    const auto text = restored(place, 2, stream);
    CHECK_MESSAGE((begins(text, "retry: ") && has(text, "forebay recover " + place.run())), text);
    fs::rename(away, manifest);
    CHECK(restored(place, 2, stream) == "110");
}

TEST_CASE("a run is made in a directory that is there, unless all above it are to be made") {
    const test::TempDirectory folder;
    for (const int ranks : {1, 3})
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
            Options options{.run = folder / "typo/below/run", .staging = folder.path()};
            options.agent.mode = AgentMode::thread;
            auto own = world->split(0);
            const auto open = [&] { return detail::open_over(std::make_unique<GroupHolder>(own->split(0)), options); };
            const auto refused = open();
            REQUIRE_FALSE(refused);
            CHECK(refused.error().kind == ErrorKind::missing);
            CHECK_MESSAGE(has(refused.error().what, "no directory " + (folder / "typo") + "."), refused.error().what);
            own->barrier();
            CHECK_FALSE(fs::exists(folder / "typo"));
            own->barrier();
            options.create_parents = true;
            open().value().close().value();
            if (own->rank() == 0) fs::remove_all(folder / "typo");
            own->barrier();
        });
}
