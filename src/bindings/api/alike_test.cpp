// Goal: steps, times, streams and options that differ between ranks are refused on all ranks, with both values and
// their ranks. Nothing is staged, no rank waits, and the session continues.
// Method: threads as ranks on one node and on several; one rank differs, then it is corrected.

#include <doctest/doctest.h>

#include <limits>

#include "support/refused.hpp"
#include "support/sessions.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::check_refused, test::committed, test::options_in;

namespace {

constexpr int ranks = 4;
constexpr int odd_one = 2;

struct Rank {
    std::unique_ptr<comm::Group> world;
    Session session;
    bool is_odd() const { return world->rank() == odd_one; }
};

void with_ranks(const Options& options, const std::function<void(Rank&)>& body) {
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        auto own = world->split(0);
        Rank here{std::move(own), detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value()};
        body(here);
        here.session.close().value();
    });
}

}  // namespace

TEST_CASE("steps that differ are refused on every rank, and nothing of them is staged") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes);
        with_ranks(options, [&](Rank& here) {
            double value = 1;
            auto stream = here.session.stream("restart", {.slots = 2, .keep = 0}).value();
            stream.replicated("value", &value).value();
            const std::vector<std::string> says{"step 7, time 0 of stream 'restart' on rank 0",
                                                "step 8, time 0 of stream 'restart' on rank 2", "Nothing", "Next: "};
            check_refused(stream.save(here.is_odd() ? 8 : 7), says);
            check_refused(stream.begin(here.is_odd() ? 8 : 7), says);
            check_refused(stream.save(here.is_odd() ? std::numeric_limits<std::int64_t>::max() : 7), {"rank 2"});
            CHECK(stream.counters().saves == 0);
            CHECK(stream.save(9).value().kept);
            check_refused(stream.save(here.is_odd() ? 8 : 7), says);
            CHECK(stream.save(10).value().kept);
            stream.wait_committed(60s).value();
        });
        CHECK(committed(options) == std::vector<std::int64_t>{10, 9});
    }
}

TEST_CASE("times that differ are refused on every rank") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes);
        with_ranks(options, [&](Rank& here) {
            double value = 1;
            auto stream = here.session.stream("restart").value();
            stream.replicated("value", &value).value();
            check_refused(stream.save(7, here.is_odd() ? 0.25 : 0.5),
                          {"time 0.5 of stream 'restart' on rank 0", "time 0.25 of stream 'restart' on rank 2"});
            CHECK(stream.save(7, std::numeric_limits<double>::quiet_NaN()).value().kept);
        });
        CHECK(committed(options) == std::vector<std::int64_t>{7});
    }
}

TEST_CASE("one rank saves another stream than the others") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        with_ranks(options_in(folder, nodes), [&](Rank& here) {
            double value = 1;
            auto first = here.session.stream("first").value();
            auto second = here.session.stream("second").value();
            first.replicated("value", &value).value();
            second.replicated("value", &value).value();
            auto& own_stream = here.is_odd() ? second : first;
            check_refused(own_stream.save(3), {"'first' on rank 0", "'second' on rank 2"});
            const std::vector<std::string> says{"step 3, time 0 of stream 'first' on rank 0",
                                                "prepare() of stream 'first' on rank 2"};
            if (here.is_odd()) check_refused(first.prepare(), says);
            else check_refused(first.save(3), says);
            CHECK(first.save(3).value().kept);
            CHECK(second.save(3).value().kept);
        });
    }
}

TEST_CASE("one rank opens another stream than the others, or one that it has still open") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, nodes);
        with_ranks(options, [&](Rank& here) {
            check_refused(here.session.stream(here.is_odd() ? "b" : "a"), {"'a' on rank 0", "'b' on rank 2"});
            std::optional<Stream> kept = here.session.stream("a").value();
            if (!here.is_odd()) kept.reset();
            check_refused(here.session.stream("a"), {"'a'", "open already", "rank 0", "rank 2"});
            kept.reset();
            double value = 1;
            auto stream = here.session.stream("a").value();
            stream.replicated("value", &value).value();
            CHECK(stream.save(1).value().kept);
        });
        CHECK(committed(options, "a") == std::vector<std::int64_t>{1});
    }
}

TEST_CASE("a wrong option or a wrong name of a stream on one rank is refused on all") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        with_ranks(options_in(folder, nodes), [&](Rank& here) {
            check_refused(here.session.stream("a", {.slots = here.is_odd() ? 3 : 2}), {"slots is 3", "rank 2"});
            check_refused(here.session.stream(here.is_odd() ? "a/" : "a"), {"rank 2"});
            here.session.stream("a", {.slots = 2}).value();
        });
    }
}

TEST_CASE("each option of a stream that one rank has otherwise is named, with both values") {
    struct Change {
        std::string says;
        std::function<void(StreamOptions&)> by;
        Codec codec = Codec::none;  // equal on all ranks
    };
    const std::vector<Change> changes{
        {"slots is 1 on rank 0 and 2 on rank 2", [](auto& options) { options.slots = 2; }},
        {"policy is wait on rank 0 and skip on rank 2", [](auto& options) { options.policy = Policy::skip; }},
        {"wait_max_seconds is 10 on rank 0 and 0.25 on rank 2", [](auto& options) { options.wait_max = 250ms; }},
        {"keep is 3 on rank 0 and 4 on rank 2", [](auto& options) { options.keep = 4; }},
        {"view is true on rank 0 and false on rank 2", [](auto& options) { options.view = false; }},
        {"compression.codec is none on rank 0 and zstd on rank 2",
         [](auto& options) { options.compression.codec = Codec::zstd; }},
        {"compression.level is 0 on rank 0 and 3 on rank 2", [](auto& options) { options.compression.level = 3; },
         Codec::zstd},
        {"compression.shuffle is bytes on rank 0 and bits on rank 2",
         [](auto& options) { options.compression.shuffle = Shuffle::bits; }},
        {"compression.error is 0 on rank 0 and 0.001 on rank 2",
         [](auto& options) { options.compression.error = 1e-3; }, Codec::zfp},
        {"compression.variables 'u'",
         [](auto& options) {
             options.variable_compression = {{"u", {.codec = Codec::lz4}}};
         }},
        {"priority is 0 on rank 0 and -1 on rank 2", [](auto& options) { options.priority = -1; }},
        {"deadline_seconds is 0 on rank 0 and 60 on rank 2", [](auto& options) { options.deadline = 60s; }},
        {"rate_bytes_per_second is 0 on rank 0 and 5 on rank 2",
         [](auto& options) { options.rate_bytes_per_second = 5; }},
        {"file is own on rank 0 and combined:2 on rank 2",
         [](auto& options) { options.file = TargetFile::combined(2); }},
        {"conventions is plain on rank 0 and plain, netcdf on rank 2",
         [](auto& options) {
             options.conventions = {Convention::plain, Convention::netcdf};
         }},
        {"file is own on rank 0 and shared on rank 2", [](auto& options) { options.file = TargetFile::shared(); }},
        {"insitu.mean.kind is not set on rank 0 and statistics on rank 2",
         [](auto& options) { options.insitu = {{.name = "mean", .variables = {"u"}}}; }},
    };
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        with_ranks(options_in(folder, nodes), [&](Rank& here) {
            for (const auto& [says, change, codec] : changes) {
                StreamOptions options{.compression = {.codec = codec}};
                if (here.is_odd()) change(options);
                check_refused(here.session.stream("restart", options), {"'restart'", says});
            }
            double value = 1;
            auto stream = here.session.stream("restart").value();
            stream.replicated("value", &value).value();
            CHECK(stream.save(1).value().kept);
        });
    }
}

TEST_CASE("each option of a session that must not differ is named when it does, with both values") {
    using Change = std::pair<std::string, std::function<void(Options&)>>;
    const std::vector<Change> changes{
        {"run is ", [](auto& options) { options.run += "-other"; }},
        {"virtual_nodes is 1 on rank 0 and 2 on rank 2", [](auto& options) { options.virtual_nodes = 2; }},
        {"huge_pages is true on rank 0 and false on rank 2", [](auto& options) { options.huge_pages = false; }},
        {"agent.mode is thread on rank 0 and process on rank 2",
         [](auto& options) { options.agent.mode = AgentMode::process; }},
        {"agent.cores is 1 on rank 0 and 2 on rank 2", [](auto& options) { options.agent.cores = 2; }},
        {"agent.block_bytes is 16777216 on rank 0 and 4096 on rank 2",
         [](auto& options) { options.agent.block_bytes = 4096; }},
        {"agent.in_flight is 4 on rank 0 and 3 on rank 2", [](auto& options) { options.agent.in_flight = 3; }},
        {"agent.rate_bytes_per_second is 0 on rank 0 and 9 on rank 2",
         [](auto& options) { options.agent.rate_bytes_per_second = 9; }},
        {"agent.slowdown_percent_max is 0 on rank 0 and 2.5 on rank 2",
         [](auto& options) { options.agent.slowdown_percent_max = 2.5; }},
        {"agent.direct is true on rank 0 and false on rank 2",
         [](auto& options) { options.agent.direct = Direct::no; }},
        {"agent.retries is 5 on rank 0 and 6 on rank 2", [](auto& options) { options.agent.retries = 6; }},
        {"agent.retry_pause_seconds is 0.2 on rank 0 and 3 on rank 2",
         [](auto& options) { options.agent.retry_pause = 3s; }},
        {"agent.storage_targets is \"\" on rank 0 and 0-3 on rank 2",
         [](auto& options) { options.agent.storage_targets = "0-3"; }},
        {"agent.exclude_targets is \"\" on rank 0 and 7 on rank 2",
         [](auto& options) { options.agent.exclude_targets = "7"; }},
        {"agent.avoid_slow_targets is true on rank 0 and false on rank 2",
         [](auto& options) { options.agent.avoid_slow_targets = false; }},
        {"agent.exclude_nodes is \"\" on rank 0 and n7 on rank 2",
         [](auto& options) { options.agent.exclude_nodes = "n7"; }},
        {"agent.neighbours is 0 on rank 0 and 3 on rank 2", [](auto& options) { options.agent.neighbours = 3; }},
        {"agent.avoid_slow_nodes is true on rank 0 and false on rank 2",
         [](auto& options) { options.agent.avoid_slow_nodes = false; }},
        {"agent.forwarders is 0 on rank 0 and 1 on rank 2", [](auto& options) { options.agent.forwarders = 1; }},
        {"agent.forward_to is \"\" on rank 0 and a:1, b:2 on rank 2",
         [](auto& options) {
             options.agent.forward_to = {"a:1", "b:2"};
             options.agent.forward_token_file = "token";
         }},
        {"job.wall_time_seconds is 0 on rank 0 and 9 on rank 2", [](auto& options) { options.job.wall_time = 9s; }},
        {"job.reserve_seconds is 0 on rank 0 and 9 on rank 2", [](auto& options) { options.job.reserve = 9s; }},
        {"open_wait_seconds is 60 on rank 0 and 9 on rank 2", [](auto& options) { options.open_wait = 9s; }},
        {"close_wait_seconds is 600 on rank 0 and 9 on rank 2", [](auto& options) { options.close_wait = 9s; }},
        {"stall_wait_seconds is 600 on rank 0 and 9 on rank 2", [](auto& options) { options.stall_wait = 9s; }},
        {"restart_window_bytes is 4194304 on rank 0 and 5 on rank 2",
         [](auto& options) { options.restart_window_bytes = 5; }},
        {"copy_threads is auto on rank 0 and 3 on rank 2", [](auto& options) { options.copy_threads = 3; }},
        {"profile is \"\" on rank 0 and auto on rank 2", [](auto& options) { options.profile = "auto"; }},
        {"streams.fields.slots is not set on rank 0 and 1 on rank 2",
         [](auto& options) {
             options.streams = {{"fields", {.keep = 9}}};
         }},
    };
    const test::TempDirectory folder;
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        for (const auto& [says, change] : changes) {
            auto options = options_in(folder, 1);
            if (world->rank() == odd_one) change(options);
            check_refused(detail::open_over(std::make_unique<GroupHolder>(world->split(0)), options),
                          {says, "on rank 0", "on rank 2", "Nothing was opened"});
        }
        detail::open_over(std::make_unique<GroupHolder>(world->split(0)), options_in(folder, 1))
            .value()
            .close()
            .value();
    });
}

TEST_CASE("what belongs to a node may differ between ranks") {
    const test::TempDirectory folder, other;
    test::with_machines(ranks, 2, [&](std::unique_ptr<comm::Group> world) {
        auto options = options_in(folder, 1);
        if (world->rank() >= 2) {
            options.staging = other.path();
            options.agent.program = "other";
            options.agent.environment = {{"A", "b"}};
            options.agent.forward_address = "ib1";
        }
        options.log = world->rank() == 0 ? [](const std::string&) {} : std::function<void(const std::string&)>();
        detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value().close().value();
    });
}
