// Goal: each policy keeps, skips and replaces what it says, counts it, and tells every rank the same, also over two
// nodes whose agents are not equally fast; what was kept and not replaced is committed, and nothing else.
// Method: threads as ranks; an agent slowed by its rate limit to a second or so a snapshot.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "bindings/api/state.hpp"
#include "path/catalog/catalog.hpp"
#include "support/sessions.hpp"
#include "support/staging_of.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::with_session;

namespace {

constexpr std::uint64_t elements = 40'000;
constexpr std::uint64_t slow = 600'000;  // bytes a second: a snapshot of one rank takes half a second

Options options_in(const test::TempDirectory& folder, std::uint64_t rate, int nodes = 1) {
    Options options{.run = folder / "run", .staging = folder.path()};
    options.virtual_nodes = nodes;
    options.agent.mode = AgentMode::thread;
    options.agent.rate_bytes_per_second = rate;
    options.agent.block_bytes = 1u << 16;
    return options;
}

// One rank's stream of one array of which it owns one row.
struct Saver {
    Saver(Session& session, const std::string& name, const StreamOptions& options, const comm::Group& world)
        : data(elements), stream(session.stream(name, options).value()) {
        const auto row = static_cast<std::uint64_t>(world.rank()), rows = static_cast<std::uint64_t>(world.size());
        stream.array("u", f64, {rows, elements}, {packed({{row, 0}, {1, elements}}, data.data())}).value();
    }
    Saved save(std::int64_t step) {
        std::ranges::fill(data, static_cast<double>(step));
        return stream.save(step).value();
    }
    std::vector<double> data;
    Stream stream;
};

// As after a crash: what is staged stays, and the agent is told to stop in the middle of what it drains.
void leave_session(int ranks, const Options& options, const std::function<void(Session&, comm::Group&)>& body) {
    test::with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        const auto own = world->split(0);
        auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value();
        body(session, *own);
        own->barrier();
    });
}

void commit_what_is_left(Options options, int ranks) {
    options.agent.rate_bytes_per_second = 0;
    with_session(ranks, options, [](Session&, comm::Group&) {});
}

// The steps of `restart` that are staged whole on all nodes.
std::set<std::int64_t> staged_steps(const Options& options, int nodes) {
    std::multiset<std::int64_t> seen;
    for (const auto& directory : node::staging_directories(options.staging).value())
        for (const auto& file : node::staged_files(directory).value())
            if (file.stream == "restart") seen.insert(file.peek.record.step);
    std::set<std::int64_t> steps;
    for (const auto step : seen)
        if (seen.count(step) == static_cast<std::size_t>(nodes)) steps.insert(step);
    return steps;
}

std::set<std::int64_t> committed(const Options& options, const std::string& stream) {
    std::set<std::int64_t> steps;
    const auto all = catalog::snapshots(sys::posix_store(), options.run, stream).value();
    for (const auto& snapshot : all) {
        steps.insert(snapshot.step);
        CHECK(catalog::verify(sys::posix_store(), snapshot, {}).value().damage.empty());
    }
    return steps;
}

void check_alike(comm::Group& world, const Saved& saved) {
    std::int64_t maxima[] = {saved.kept ? 1 : 0, saved.kept ? -1 : 0, saved.replaced, -saved.replaced};
    world.max(maxima);
    const auto [kept_max, minus_kept_min, replaced_max, minus_replaced_min] = maxima;
    CHECK(kept_max == -minus_kept_min);
    CHECK(replaced_max == -minus_replaced_min);
}

// Until the agents of all nodes have begun to drain something.
void wait_until_draining(Session& session, comm::Group& world) {
    while (!session.draining()) std::this_thread::sleep_for(1ms);
    world.barrier();
}

}  // namespace

TEST_CASE("skip: a step that finds no free slot is dropped at once, counted and said") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        auto options = options_in(folder, slow, nodes);
        std::vector<std::string> lines;
        options.log = [&](const std::string& line) { lines.push_back(line); };
        with_session(2, options, [](Session& session, comm::Group& world) {
            Saver saver(session, "restart", {.policy = Policy::skip, .keep = 0}, world);
            CHECK(saver.save(1).kept);
            const auto second = saver.save(2);
            CHECK_FALSE(second.kept);
            CHECK(second.step == 2);
            CHECK(saver.stream.counters().commits == 0);  // it did not wait for the first
            check_alike(world, second);
            saver.stream.wait_committed(60s).value();
            CHECK(saver.save(3).kept);
            CHECK(saver.stream.counters().saves == 2);
            CHECK(saver.stream.counters().skipped == 1);
            CHECK(saver.stream.counters().replaced == 0);
            saver.stream.wait_committed(60s).value();
            CHECK(saver.stream.counters().commits == 2);
            CHECK(saver.stream.counters().newest_durable_step == 3);
        });
        CHECK(committed(options, "restart") == std::set<std::int64_t>{1, 3});
        CHECK(std::ranges::count_if(
                  lines, [](const auto& line) { return line.find("step 2 is skipped") != std::string::npos; }) == 1);
    }
}

TEST_CASE("wait: nothing is lost, and the waiting is in the seconds told") {
    for (const int slots : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, slots == 1 ? slow * 2 : slow / 2, 2);
        with_session(2, options, [&](Session& session, comm::Group& world) {
            Saver saver(session, "restart", {.slots = slots, .keep = 0}, world);
            double waited = 0;
            for (std::int64_t step = 1; step <= 4; ++step) {
                const auto saved = saver.save(step);
                CHECK(saved.kept);
                CHECK(saved.wait_seconds <= saved.blocked_seconds);
                if (step <= slots) CHECK(saver.stream.counters().commits == 0);  // none was waited for
                waited += saved.wait_seconds;
            }
            CHECK(waited > 0.2);
            CHECK(saver.stream.counters().saves == 4);
            CHECK(saver.stream.counters().skipped == 0);
            CHECK(saver.stream.counters().wait_seconds == doctest::Approx(waited));
        });
        CHECK(committed(options, "restart") == std::set<std::int64_t>{1, 2, 3, 4});
    }
}

TEST_CASE("wait_at_most: waits that long, then skips; or gets its slot in time") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, slow);
    with_session(2, options, [](Session& session, comm::Group& world) {
        Saver brief(session, "brief", {.policy = Policy::wait_at_most, .wait_max = 60ms, .keep = 0}, world);
        CHECK(brief.save(1).kept);
        const auto second = brief.save(2);
        CHECK_FALSE(second.kept);
        CHECK(second.wait_seconds >= 0.06);
        check_alike(world, second);
        CHECK(brief.stream.counters().skipped == 1);
        CHECK(brief.stream.counters().wait_seconds >= second.wait_seconds);
        brief.stream.wait_committed(60s).value();
        Saver patient(session, "patient", {.policy = Policy::wait_at_most, .wait_max = 60s, .keep = 0}, world);
        CHECK(patient.save(1).kept);
        CHECK(patient.save(2).kept);
        CHECK(patient.stream.counters().skipped == 0);
    });
    CHECK(committed(options, "brief") == std::set<std::int64_t>{1});
    CHECK(committed(options, "patient") == std::set<std::int64_t>{1, 2});
}

TEST_CASE("newest_only with two slots: while one drains, the one that waits stays and the save is skipped") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, 1, nodes);
        leave_session(2, options, [](Session& session, comm::Group& world) {
            Saver saver(session, "restart", {.slots = 2, .policy = Policy::newest_only, .keep = 0}, world);
            CHECK(saver.save(1).kept);
            wait_until_draining(session, world);
            CHECK(saver.save(2).kept);
            for (std::int64_t step = 3; step <= 5; ++step) {
                const auto saved = saver.save(step);
                CHECK_FALSE(saved.kept);
                CHECK(saved.replaced == -1);
                check_alike(world, saved);
            }
            CHECK(saver.stream.counters().saves == 2);
            CHECK(saver.stream.counters().skipped == 3);
        });
        commit_what_is_left(options, 2);
        CHECK(committed(options, "restart") == std::set<std::int64_t>{1, 2});
    }
}

// A step number says nothing about which save was later: a simulation may have gone back.
TEST_CASE(
    "newest_only with two slots that both wait: the older save is replaced, the newer stays until all is sealed") {
    for (const int nodes : {1, 2}) {
        const test::TempDirectory folder;
        const auto options = options_in(folder, 1, nodes);
        leave_session(2, options, [&](Session& session, comm::Group& world) {
            Saver busy(session, "busy", {.keep = 0}, world);
            Saver saver(session, "restart", {.slots = 2, .policy = Policy::newest_only, .keep = 0}, world);
            busy.save(1);
            wait_until_draining(session, world);
            CHECK(saver.save(10).kept);
            CHECK(saver.save(5).kept);
            CHECK(saver.save(7).replaced == 10);
            CHECK(saver.save(8).replaced == 5);
            CHECK(saver.save(9).replaced == 7);
            // Given up: what it replaced is gone, its slot is free.
            CHECK(saver.stream.begin(20).value().kept());
            CHECK(saver.save(21).replaced == -1);
            world.barrier();
            CHECK(staged_steps(options, nodes) == std::set<std::int64_t>{9, 21});
            world.barrier();
            // As after a kill before the new one is sealed.
            const auto last = saver.stream.begin(22).value();
            CHECK(last.kept());
            world.barrier();
            CHECK(staged_steps(options, nodes) == std::set<std::int64_t>{21});
            CHECK(saver.stream.counters().replaced == 5);
            CHECK(saver.stream.counters().skipped == 0);
            world.barrier();
        });
        commit_what_is_left(options, 2);
        CHECK(committed(options, "restart") == std::set<std::int64_t>{21});
    }
}

TEST_CASE("newest_only with one slot: replaced while the agent is busy elsewhere, skipped while it drains") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, slow / 2);
    with_session(2, options, [](Session& session, comm::Group& world) {
        Saver busy(session, "busy", {.keep = 0}, world);
        Saver saver(session, "restart", {.policy = Policy::newest_only, .keep = 0}, world);
        busy.save(1);
        wait_until_draining(session, world);
        CHECK(saver.save(1).kept);
        CHECK(saver.save(2).replaced == 1);
        busy.stream.wait_committed(60s).value();
        wait_until_draining(session, world);
        CHECK_FALSE(saver.save(3).kept);
        CHECK(saver.stream.counters().replaced == 1);
        CHECK(saver.stream.counters().skipped == 1);
    });
    CHECK(committed(options, "restart") == std::set<std::int64_t>{2});
}

// The test does what the agent of one node does when it begins to drain a step before the others.
TEST_CASE("newest_only over nodes that are not equally busy: all drop the same step, or none") {
    const test::TempDirectory folder;
    const auto options = options_in(folder, 1, 2);
    leave_session(2, options, [&](Session& session, comm::Group& world) {
        Saver busy(session, "busy", {.keep = 0}, world);
        Saver saver(session, "restart", {.slots = 2, .policy = Policy::newest_only, .keep = 0}, world);
        busy.save(1);
        wait_until_draining(session, world);
        CHECK(saver.save(1).kept);
        CHECK(saver.save(2).kept);
        world.barrier();
        auto node = node::Staging::join(test::staging_of(options, world.rank())).value();
        const auto slot_of = [&](std::int64_t step) {
            const auto match = std::ranges::find_if(node.control().slots, [&](const auto& slot) {
                return slot.step.load() == step &&
                       node.control().streams[slot.stream].name.data() == std::string("restart");
            });
            REQUIRE(match != node.control().slots.end());
            return match;
        };
        const auto of_step_1 = slot_of(1), of_step_2 = slot_of(2);
        CHECK(of_step_1->state.load() == node::SlotState::sealed);
        if (world.rank() == 1) of_step_1->state = node::SlotState::draining;
        const auto third = saver.save(3);
        check_alike(world, third);
        CHECK_FALSE(third.kept);
        CHECK(of_step_1->state.load() == (world.rank() == 1 ? node::SlotState::draining : node::SlotState::sealed));
        CHECK(staged_steps(options, 2) == std::set<std::int64_t>{1, 2});
        world.barrier();
        of_step_1->state = node::SlotState::sealed;
        of_step_2->state = node::SlotState::draining;  // the newer one first, on all nodes
        CHECK_FALSE(saver.save(4).kept);
        of_step_2->state = node::SlotState::sealed;
        world.barrier();
        const auto fourth = saver.save(4);
        check_alike(world, fourth);
        CHECK(fourth.replaced == 1);
    });
    commit_what_is_left(options, 2);
    CHECK(committed(options, "restart") == std::set<std::int64_t>{2, 4});
}

// Whatever the agents' speeds: what was kept and not replaced is committed in the end, and nothing else.
TEST_CASE("any policy over uneven nodes: kept less replaced is what is committed") {
    for (const auto policy : {Policy::skip, Policy::newest_only, Policy::wait_at_most}) {
        for (const int slots : {1, 2}) {
            CAPTURE(slots);
            const test::TempDirectory folder;
            const auto options = options_in(folder, 40'000'000, 2);
            std::set<std::int64_t> expected;
            with_session(3, options, [&](Session& session, comm::Group& world) {
                Saver saver(session, "restart", {.slots = slots, .policy = policy, .wait_max = 3ms, .keep = 0}, world);
                Saver other(session, "other", {.policy = Policy::skip, .keep = 1}, world);
                for (std::int64_t step = 0; step < 60; ++step) {
                    const auto saved = saver.save(step);
                    check_alike(world, saved);
                    if (world.rank() == 0 && saved.kept) expected.insert(step);
                    if (world.rank() == 0 && saved.replaced >= 0) expected.erase(saved.replaced);
                    if (step % 4 == 0) other.save(step);
                    if (world.rank() == 2) std::this_thread::sleep_for(std::chrono::microseconds((step * 977) % 9000));
                }
                const auto done = saver.stream.wait_committed(60s);
                CHECK_MESSAGE(done, (done ? "" : done.error().text()));
            });
            CHECK(committed(options, "restart") == expected);
        }
    }
}
