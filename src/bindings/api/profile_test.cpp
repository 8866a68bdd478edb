// Goal: a session takes options from a profile if the user has not set them, the same on all ranks, and logs them. It
// logs that a profile is stale. An invalid profile, or a profile that conflicts with the options, never goes
// unreported.
// Method: profiles made by hand in a directory; sessions over threads as ranks; made-up rates.

#include "bindings/api/profile.hpp"

#include <doctest/doctest.h>

#include <mutex>

#include "bindings/api/alike.hpp"
#include "bindings/api/session_opening.hpp"
#include "core/sys/machine.hpp"
#include "path/telemetry/profile.hpp"
#include "support/refused.hpp"
#include "support/sessions.hpp"

using namespace forebay;
using test::options_in;

namespace {

const format::AdviceSetting chosen{{"agent.block_bytes", "8388608"},
                                   {"agent.in_flight", "2"},
                                   {"copy_threads", "2"},
                                   {"stream.file", "combined:2"},
                                   {"stream.compression.codec", "none"},
                                   {"stripe_count", "144"}};

std::string write_profile(const test::TempDirectory& folder, const format::AdviceSetting& setting,
                          const telemetry::RunKind& kind) {
    const auto path = folder / "profile.json";
    const format::Advice advice{
        .kind = "profile", .made_by = "a test", .key = telemetry::key_of(kind), .chosen = setting};
    sys::write_text_durable(sys::posix_store(), path, format::encode(advice)).value();
    return path;
}

struct Lines {
    std::vector<std::string> all;
    bool have(const std::string& part) const {
        return std::ranges::any_of(all, [&](const auto& line) { return line.find(part) != std::string::npos; });
    }
};

}  // namespace

TEST_CASE("what a setting names is set, all else stays; a value that is none is refused") {
    Options options{.run = "r"};
    options.agent.retries = 9;
    apply_setting(chosen, options).value();
    CHECK(options.agent.block_bytes == 8388608);
    CHECK(options.agent.in_flight == 2);
    CHECK(options.copy_threads == 2);
    CHECK(options.agent.retries == 9);
    CHECK(options.run == "r");
    StreamOptions stream{.keep = 7};
    apply_setting(chosen, stream).value();
    CHECK(stream.file == TargetFile::combined(2));
    CHECK(stream.keep == 7);
    for (const auto* value : {"", "1\nrun = \"x\"", "\"", "12 13"})
        test::check_refused(apply_setting({{"agent.in_flight", value}}, options), {"agent.in_flight"});
    CHECK_FALSE(apply_setting({{"agent.in_flight", "many"}}, options).has_value());
    CHECK(options.run == "r");
    apply_setting({{"run", "x"}, {"agent.program", "x"}}, options).value();  // these options are never tuned
    CHECK(options.run == "r");
    CHECK(options.agent.program.empty());
}

TEST_CASE("set is what is not the default, or stands in the file") {
    Options options;
    CHECK(not_set(chosen, options).size() == 3);
    options.agent.in_flight = 3;
    CHECK(not_set(chosen, options).size() == 2);
    const auto in_file = decode_options(
                             "copy_threads = \"auto\"\n[agent]\nblock_bytes = 16777216\n"
                             "[streams.a]\nfile = \"own\"\n[streams.b]\ncompression = \"none\"\n",
                             "f")
                             .value();
    CHECK(not_set(chosen, in_file) == format::AdviceSetting{{"agent.in_flight", "2"}});
    CHECK(not_set(chosen, StreamOptions{}, "a", in_file.in_file) ==
          format::AdviceSetting{{"stream.compression.codec", "none"}});
    CHECK(not_set(chosen, StreamOptions{}, "b", in_file.in_file) ==
          format::AdviceSetting{{"stream.file", "combined:2"}});
    CHECK(not_set(chosen, StreamOptions{.file = TargetFile::shared()}, "c", {}).size() == 1);
}

TEST_CASE("all ranks take the same of a profile, and one line tells what") {
    const test::TempDirectory folder;
    auto options = options_in(folder, 2);
    options.agent.in_flight = 3;
    options.profile = write_profile(folder, chosen, {.nodes = 2, .ranks_per_node = 4});
    Lines lines;
    options.log = [&](const std::string& line) { lines.all.push_back(line); };
    std::mutex mutex;
    std::vector<Settings> settings;
    test::with_threads(4, [&](std::unique_ptr<comm::Group> world) {
        GroupHolder holder(std::move(world));
        const auto session = std::make_shared<detail::SessionState>();
        SessionOpening opening(*session, holder);
        opening.prepare(options).value();
        opening.open().value();
        const auto stream = session->stream(session, "restart", {}).value();
        CHECK(stream->stager.options().file == TargetFile::combined(2));
        {
            const std::lock_guard lock(mutex);
            settings.push_back(settings_of(session->options));
            CHECK(session->options.agent.block_bytes == 8388608);
            CHECK(session->options.agent.in_flight == 3);
            CHECK(session->options.copy_threads == 2);
        }
        session->close().value();
    });
    REQUIRE(settings.size() == 4);
    for (const auto& setting : settings) CHECK(setting == settings[0]);
    CHECK(lines.have("profile.json (distance 1.0: nodes 2 for 1): agent.block_bytes = 8388608, copy_threads = 2"));
    CHECK(lines.have("stream 'restart', profile"));
}

TEST_CASE("a profile that is missing or damaged ends the opening; one that is not possible is told and left out") {
    const test::TempDirectory folder;
    auto options = options_in(folder, 1);
    Lines lines;
    options.log = [&](const std::string& line) { lines.all.push_back(line); };
    const auto opened = [&] {
        ErrorKind kind{};
        bool good = false;
        test::with_threads(3, [&](std::unique_ptr<comm::Group> world) {
            const auto rank = world->rank();
            auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options);
            if (session) session->close().value();
            if (rank != 2) return;
            good = session.has_value();
            if (!good) kind = session.error().kind;
        });
        return std::pair(good, kind);
    };
    options.profile = folder / "none.json";
    CHECK(opened() == std::pair(false, ErrorKind::missing));
    sys::write_text_durable(sys::posix_store(), folder / "torn.json", "{").value();
    options.profile = folder / "torn.json";
    CHECK(opened() == std::pair(false, ErrorKind::corrupt));
    options.profile = write_profile(folder, {{"copy_threads", "99999"}}, {});
    CHECK(opened().first);
    CHECK(lines.have("is ignored: "));
}

TEST_CASE("auto takes what fits, and tells where nothing does") {
    const test::TempDirectory folder;
    auto options = options_in(folder, 1);
    options.profile = "auto";
    ::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
    Lines lines;
    options.log = [&](const std::string& line) { lines.all.push_back(line); };
    const auto here = sys::file_system_kind(folder.path()).value();
    test::with_session(2, options, [](Session&, comm::Group&) {});
    CHECK(lines.have("no profile fits this run"));
    sys::posix_store().make_directories(folder / "forebay").value();
    const format::Advice advice{.kind = "profile",
                                .made_by = "a test",
                                .key = telemetry::key_of({.file_system = here, .nodes = 1, .ranks_per_node = 2}),
                                .chosen = {{"agent.in_flight", "2"}}};
    sys::write_text_durable(sys::posix_store(), folder / "forebay/here.json", format::encode(advice)).value();
    test::with_session(2, options, [](Session&, comm::Group&) {});
    CHECK(lines.have("forebay/here.json (exact): agent.in_flight = 2"));
    ::unsetenv("XDG_CONFIG_HOME");
}

TEST_CASE("a profile is stale when the last five in the median are below 0.8 of it, and told once") {
    ProfileWatch watch(100, 50);
    for (int i = 0; i < 9; ++i) CHECK_FALSE(watch.saved(100, 1.2).has_value());  // 0.83 of the profile's rate
    CHECK_FALSE(watch.saved(100, 1.3).has_value());
    CHECK_FALSE(watch.saved(100, 1.3).has_value());
    const auto warning = watch.saved(100, 1.3);
    REQUIRE(warning.has_value());
    CHECK(warning->find("the last 5 saves") != std::string::npos);
    CHECK(warning->find("0.77 of its rate") != std::string::npos);
    CHECK_FALSE(watch.saved(100, 9).has_value());
    for (int i = 1; i <= 4; ++i) CHECK_FALSE(watch.drained(10.0 * i, 1.0 * i).has_value());
    CHECK_FALSE(watch.drained(40, 4).has_value());  // nothing new
    CHECK(watch.drained(50, 5)->find("the last 5 drains") != std::string::npos);
    ProfileWatch none(0, 0);
    for (int i = 0; i < 9; ++i) CHECK_FALSE(none.saved(1, 1000).has_value());
}

TEST_CASE("a session compares its saves with the profile") {
    const test::TempDirectory folder;
    auto options = options_in(folder, 1);
    const format::Advice advice{.kind = "profile",
                                .made_by = "a test",
                                .measures = {{.name = "save_rate_bytes_per_second", .value = 1e18, .samples = 1}}};
    sys::write_text_durable(sys::posix_store(), folder / "fast.json", format::encode(advice)).value();
    options.profile = folder / "fast.json";
    Lines lines;
    options.log = [&](const std::string& line) { lines.all.push_back(line); };
    test::with_session(2, options, [](Session& session, comm::Group&) {
        std::vector<double> values(1000, 1);
        auto stream = session.stream("restart").value();
        stream.replicated("values", f64, {1000}, values.data()).value();
        for (int step = 0; step < 6; ++step) stream.save(step).value();
    });
    CHECK(lines.have("fast.json: the profile is stale: the last 5 saves"));
}
