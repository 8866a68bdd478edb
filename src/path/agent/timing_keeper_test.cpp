// Goal: a session leaves in the run one batch per snapshot and node, with the timings of its ranks, its agent and its
// targets. The file's layout identifies slow targets. A failure of timings costs no snapshot. Method: sessions with
// agents of all kinds, and a store that is slow at chosen targets.

#include "path/agent/timing_keeper.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include "path/node/staging.hpp"
#include "path/telemetry/chronicle.hpp"
#include "path/telemetry/summary.hpp"
#include "support/lustre_layout.hpp"
#include "support/passing_store.hpp"
#include "support/sessions.hpp"
#include "support/soon.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using format::TimingKind;

namespace {

double seconds_of(const format::TimingBatch& batch, TimingKind kind) {
    double sum = 0;
    for (const auto& timing : batch.timings)
        if (timing.kind == static_cast<std::uint16_t>(kind)) sum += timing.seconds();
    return sum;
}

std::uint64_t count_of(const format::TimingBatch& batch, TimingKind kind) {
    return static_cast<std::uint64_t>(
        std::ranges::count(batch.timings, static_cast<std::uint16_t>(kind), &format::Timing::kind));
}

struct Run {
    explicit Run(AgentMode mode, bool timings = true) : options(test::options_in(folder, 1)) {
        options.agent.mode = mode;
        options.agent.linger = 0ms;
        options.agent.timings = timings;
    }
    void save(int saves, const StreamOptions& stream_options = {}) {
        auto session = Session::open(options).value();
        auto stream = session.stream("restart", stream_options).value();
        stream.array("u", f64, {data.size()}, {packed({{0}, {data.size()}}, data.data())}).value();
        for (int step = 1; step <= saves; ++step) {
            CHECK(stream.save(step).value().kept);
            stream.wait_committed(60s).value();
        }
        session.close().value();
        // An agent process may write its last lines after that.
        CHECK(test::soon([&] { return node::staging_directories(folder.path()).value().empty(); }));
    }
    telemetry::Chronicle chronicle() const {
        return telemetry::read_chronicle(sys::posix_store(), options.run).value();
    }
    test::TempDirectory folder;
    Options options;
    std::vector<double> data = std::vector<double>(1u << 18, 1.0);
};

}  // namespace

TEST_CASE("a session leaves a batch a snapshot, whoever its agent is") {
    for (const auto mode : {AgentMode::process, AgentMode::thread}) {
        CAPTURE(static_cast<int>(mode));
        Run run(mode);
        run.save(3);
        const auto chronicle = run.chronicle();
        CHECK(chronicle.problems.empty());
        REQUIRE(chronicle.batches.size() == 3);
        std::int64_t step = 0;
        for (const auto& batch : chronicle.batches) {
            CHECK(batch.step == ++step);
            CHECK(batch.agent == (mode == AgentMode::process ? "process" : "thread"));
            CHECK(batch.outcome == "committed");
            CHECK(batch.session == 1);
            CHECK(batch.nodes == 1);
            CHECK(batch.ranks == 1);
            CHECK(batch.bytes >= run.data.size() * 8);
            CHECK(batch.stored_bytes == batch.bytes);
            CHECK(batch.agent_began_unix_ns > 0);
            CHECK(batch.agent_began_unix_ns <= batch.drain_unix_ns);
            CHECK(batch.agent_began_unix_ns == chronicle.batches.front().agent_began_unix_ns);
            CHECK(batch.saved_unix_ns <= batch.sealed_unix_ns);
            CHECK(batch.drain_unix_ns <= batch.drained_unix_ns);
            CHECK(batch.drained_unix_ns <= batch.ended_unix_ns);
            CHECK(batch.blocked_seconds >= batch.copy_seconds);
            CHECK(count_of(batch, TimingKind::save) == 1);
            CHECK(count_of(batch, TimingKind::copy) == 1);
            CHECK(count_of(batch, TimingKind::drain) == 1);
            CHECK(count_of(batch, TimingKind::commit) == 1);
            CHECK(count_of(batch, TimingKind::sync) >= 1);
            CHECK(count_of(batch, TimingKind::write) >= 1);
            CHECK(seconds_of(batch, TimingKind::drain) == doctest::Approx(batch.drain_seconds).epsilon(0.01));
            REQUIRE(batch.targets.size() == 1);
            CHECK(batch.targets[0].name.empty());
            CHECK(batch.targets[0].bytes >= batch.bytes);
            CHECK(batch.dropped == 0);
            CHECK((batch.interval_seconds > 0) == (step > 1));
        }
    }
}

TEST_CASE("each rank tells where the whole of its save went, to the microsecond") {
    test::TempDirectory folder;
    const auto options = test::options_in(folder, 2);
    constexpr int ranks = 5;
    std::array<std::array<double, 5>, ranks> blocked{};  // for each rank and step
    test::with_session(ranks, options, [&](Session& session, comm::Group& world) {
        std::vector<double> data(1u << 14, world.rank());
        const auto cells = data.size(), own = static_cast<std::size_t>(world.rank());
        auto stream = session.stream("restart", {.slots = 2}).value();
        stream.array("u", f64, {cells * ranks}, {packed({{cells * own}, {cells}}, data.data())}).value();
        for (std::size_t step = 0; step < 5; ++step)
            blocked[own][step] = stream.save(static_cast<std::int64_t>(step)).value().blocked_seconds;
    });
    const auto chronicle = telemetry::read_chronicle(sys::posix_store(), options.run).value();
    REQUIRE(chronicle.batches.size() == 2 * 5);
    for (const auto& batch : chronicle.batches) {
        CHECK(batch.missing_ranks == 0);
        CHECK(batch.unkept_saves == 0);
        CHECK(batch.file == "own");
        std::map<std::uint32_t, std::uint64_t> whole, parts;
        for (const auto& timing : batch.timings) {
            const auto rank = timing.flags & format::timing_source_mask;
            if (timing.kind == static_cast<std::uint16_t>(TimingKind::save)) whole[rank] = timing.duration_us;
            else if (timing.kind <= static_cast<std::uint16_t>(TimingKind::agree)) parts[rank] += timing.duration_us;
        }
        CHECK(whole.size() == batch.node_ranks);
        CHECK(whole == parts);
        CHECK(batch.blocked_parts.sum() == doctest::Approx(batch.blocked_seconds));
        double longest = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const bool is_here = batch.node == 0 ? rank < batch.node_ranks : rank >= ranks - batch.node_ranks;
            if (is_here) longest = std::max(longest, blocked[rank][static_cast<std::size_t>(batch.step)]);
        }
        CHECK(batch.blocked_seconds == doctest::Approx(longest));
    }
}

TEST_CASE("a session that keeps no timings leaves none") {
    Run run(AgentMode::process, false);
    run.save(2);
    CHECK(run.chronicle().batches.empty());
    for (const auto& entry : std::filesystem::directory_iterator(run.options.run + "/forebay"))
        CHECK(entry.path().filename().string().find("timings") == std::string::npos);
}

TEST_CASE("a drain that has failed is tried again as the same save") {
    Run run(AgentMode::thread);
    run.options.agent.retries = 0;
    auto session = Session::open(run.options).value();
    auto stream = session.stream("restart", {.slots = 2}).value();
    stream.array("u", f64, {run.data.size()}, {packed({{0}, {run.data.size()}}, run.data.data())}).value();
    const auto in_the_way = run.options.run + "/restart";
    std::ofstream(in_the_way) << "no directory";
    CHECK(stream.save(1).value().kept);
    CHECK_FALSE(stream.wait_committed(60s).has_value());
    std::filesystem::remove(in_the_way);
    CHECK(stream.save(2).value().kept);
    stream.wait_committed(60s).value();
    session.close().value();
    const auto chronicle = run.chronicle();
    std::vector<const format::TimingBatch*> of_first;
    for (const auto& batch : chronicle.batches)
        if (batch.step == 1) of_first.push_back(&batch);
    REQUIRE(of_first.size() >= 2);
    CHECK(of_first.front()->outcome == "failed");
    CHECK(of_first.back()->outcome == "committed");
    // The agent may have failed before the rank returned from its save.
    if (of_first.front()->saved_unix_ns > 0) CHECK(of_first.back()->saved_unix_ns == of_first.front()->saved_unix_ns);
    CHECK(of_first.back()->saved_unix_ns > 0);
    CHECK(of_first.back()->blocked_seconds > 0);
    CHECK(of_first.back()->copy_seconds > 0);
}

TEST_CASE("saves that were skipped or replaced are counted with the next batch, and their time") {
    for (const auto policy : {Policy::skip, Policy::newest_only}) {
        CAPTURE(static_cast<int>(policy));
        Run run(AgentMode::thread);
        run.options.agent.retries = 0;
        auto session = Session::open(run.options).value();
        auto stream = session.stream("restart", {.slots = 1, .policy = policy}).value();
        stream.array("u", f64, {run.data.size()}, {packed({{0}, {run.data.size()}}, run.data.data())}).value();
        // The slot stays taken until its drain succeeds.
        const auto in_the_way = run.options.run + "/restart";
        std::ofstream(in_the_way) << "no directory";
        CHECK(stream.save(1).value().kept);
        CHECK_FALSE(stream.wait_committed(60s).has_value());
        constexpr std::int64_t saves = 40;
        // A call may return the error of the last try: that save is skipped too.
        for (std::int64_t step = 2; step <= saves; ++step) static_cast<void>(stream.save(step));
        std::filesystem::remove(in_the_way);
        // The first answer may be the error of the last try.
        auto committed = stream.wait_committed(60s);
        for (int i = 0; i < 20 && !committed; ++i) committed = stream.wait_committed(60s);
        committed.value();
        session.close().value();
        std::uint64_t unkept = 0, kept = 0;
        double seconds = 0;
        for (const auto& batch : run.chronicle().batches) {
            unkept += batch.unkept_saves;
            seconds += batch.unkept_seconds;
            kept += batch.outcome == "committed" ? 1 : 0;
            CHECK(batch.dropped == 0);
        }
        CHECK(kept >= 1);
        CHECK(unkept + kept == saves);
        CHECK(seconds > 0);
        const auto summary = telemetry::summarize(run.chronicle());
        CHECK(summary.unkept_saves == unkept);
        CHECK(summary.visible_ratio > summary.blocked.sum / summary.time_seconds);
    }
}

TEST_CASE("timings that cannot be written cost no snapshot, and are told once") {
    Run run(AgentMode::process);
    {
        auto session = Session::open(run.options).value();
        session.close().value();
    }
    std::filesystem::create_directory(run.options.run + "/forebay/timings-" + sys::host_name() + "-0.bin");
    run.save(2);
    CHECK(run.chronicle().batches.empty());
}

namespace {

/// Files of a file system that stripes over four targets. OST2 takes five times as long.
class StripedStore final : public test::PassingStore {
public:
    using PassingStore::PassingStore;
    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        return std::unique_ptr<sys::File>(std::make_unique<Striped>(PassingStore::open(path, access).value()));
    }

private:
    class Striped final : public test::PassingFile {
    public:
        using PassingFile::PassingFile;
        Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
            std::this_thread::sleep_for(stripes().target_of(offset, bytes.size()) == 2u ? 20ms : 4ms);
            return PassingFile::write(offset, bytes);
        }
        sys::StripeMap stripes() override {
            return sys::StripeMap::of_lustre(test::plain_layout(1u << 16, {0, 1, 2, 3}, false));
        }
    };
};

struct Heard final : agent::TimingSink {
    void wrote(const std::vector<Write>& more, const sys::StripeMap& map) override {
        for (const auto& write : more) {
            writes.push_back(write);
            targets.push_back(map.target_of(write.offset, write.bytes));
        }
    }
    void synced(sys::Clock::time_point, sys::Clock::duration, bool failed) override { syncs.push_back(failed); }
    std::vector<Write> writes;
    std::vector<std::optional<std::uint32_t>> targets;
    std::vector<bool> syncs;
};

}  // namespace

TEST_CASE("a timed store tells each write with its target, and passes on all else unchanged") {
    test::TempDirectory folder;
    StripedStore striped(sys::posix_store());
    Heard heard;
    const auto store = agent::timed(striped, heard);
    auto file = store->open(folder / "file", sys::Access::create).value();
    const std::vector<std::byte> block(1u << 16, std::byte{7});
    for (std::uint64_t i = 0; i < 8; ++i) file->write(i << 16, block).value();
    file->write(8u << 16, std::span(block).first(100)).value();  // too small to be timed
    CHECK(heard.writes.empty());
    file->sync().value();
    REQUIRE(heard.writes.size() == 8);
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(heard.targets[i] == i % 4);
        CHECK((heard.writes[i].took >= 20ms) == (i % 4 == 2));
        CHECK(heard.writes[i].bytes == 1u << 16);
        CHECK_FALSE(heard.writes[i].failed);
    }
    CHECK(heard.syncs == std::vector<bool>{false});
    file->close().value();
    CHECK(store->exists(folder / "file").value());
    CHECK(std::filesystem::file_size(folder / "file") == (8u << 16) + 100);
    auto reading = store->open(folder / "file", sys::Access::read).value();
    std::vector<std::byte> back(1u << 16);
    reading->read(7u << 16, back).value();
    CHECK(back == block);
}
