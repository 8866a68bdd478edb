// Goal: the agent takes the most urgent slot first. A more urgent seal overtakes a drain, which then continues, and no
// byte is written twice. A crash at any operation leaves both snapshots whole or absent. A stream's rate holds. A
// missed deadline is counted and reported. Method: staged node files under a real control page, the simulated disk as
// target, slow and watched at each write.

#include "path/agent/agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/thread.hpp"
#include "path/drain/node_drain.hpp"
#include "support/agent_node.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/soon.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::agent_options;
using test::Node;
using test::SimStore;
using test::SmallSnapshot;

namespace {

const std::string run = test::node_run;
constexpr auto write_cpu = 3ms;

struct Write {
    std::string stream;
    std::uint64_t offset, bytes;
    sys::Clock::time_point when;
};

/// Each write of a node file is noted, takes `pause`, and may first call a function.
class WatchedStore final : public test::PassingStore {
public:
    WatchedStore(sys::Store& store, std::chrono::milliseconds pause) : PassingStore(store), pause_(pause) {}

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        FB_TRY_ASSIGN(file, PassingStore::open(path, access));
        if (access == sys::Access::read || path.find(".h5") == path.npos) return file;
        const auto stream = path.substr(run.size() + 1, path.find('/', run.size() + 1) - run.size() - 1);
        return std::unique_ptr<sys::File>(std::make_unique<Watched>(std::move(file), *this, stream));
    }
    Result<> rename(const std::string& from, const std::string& to) override {
        const auto step = to.rfind("/step-");
        if (step != to.npos && to.find('/', step + 1) == to.npos) commits.push_back(to.substr(run.size() + 1));
        return PassingStore::rename(from, to);
    }

    std::vector<Write> of(const std::string& stream) const {
        std::vector<Write> chosen;
        std::ranges::copy_if(writes, std::back_inserter(chosen), [&](const Write& w) { return w.stream == stream; });
        return chosen;
    }

    std::mutex mutex;
    std::vector<Write> writes;         // guarded
    std::vector<std::string> commits;  // in their order; an agent makes one at a time
    std::function<void(const Write&)> before = [](const Write&) {};

private:
    class Watched final : public test::PassingFile {
    public:
        Watched(std::unique_ptr<sys::File> file, WatchedStore& all, std::string stream)
            : PassingFile(std::move(file)), all_(all), stream_(std::move(stream)) {}
        Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
            {
                const std::lock_guard lock(all_.mutex);
                all_.writes.push_back({stream_, offset, bytes.size(), sys::Clock::now()});
                all_.before(all_.writes.back());
            }
            std::this_thread::sleep_for(all_.pause_);
            return PassingFile::write(offset, bytes);
        }

    private:
        WatchedStore& all_;
        const std::string stream_;
    };
    const std::chrono::milliseconds pause_;
};

SmallSnapshot large(const std::string& stream, std::uint64_t id, std::int64_t step = 7) {
    return {.id = id, .step = step, .stream = stream, .elements_per_rank = 60'000};  // about 1 MB, 15 blocks
}

void check_once(const WatchedStore& store, const SmallSnapshot& snapshot) {
    const auto image = test::small_node_file(snapshot, 0);
    std::uint64_t wanted = 0, written = 0;
    for (const auto& range : drain::used_ranges(format::open_head(image, "image").value())) wanted += range.bytes;
    std::map<std::uint64_t, int> offsets;
    for (const auto& write : store.of(snapshot.stream)) {
        written += write.bytes;
        CHECK(++offsets[write.offset] == 1);
    }
    CHECK(written == wanted);
}

/// The streams in the order of their writes. Consecutive writes of one stream count once.
std::vector<std::string> turns(const WatchedStore& store) {
    std::vector<std::string> names;
    for (const auto& write : store.writes)
        if (names.empty() || names.back() != write.stream) names.push_back(write.stream);
    return names;
}

}  // namespace

TEST_CASE("what is sealed already is drained by priority, then deadline, then age") {
    SimStore disk("run");
    WatchedStore store(disk, 0ms);
    Node node;
    node.seal({.id = 1, .step = 9, .stream = "old"});
    node.seal({.id = 2, .step = 8, .stream = "young"});
    node.seal({.id = 3, .stream = "later"}, {.deadline = 90s});
    node.seal({.id = 4, .stream = "soon"}, {.deadline = 60s});
    node.seal({.id = 5, .stream = "least"}, {.priority = -1, .deadline = 1s});
    node.seal({.id = 6, .stream = "most"}, {.priority = 1});
    REQUIRE_MESSAGE(node.drain(store), node.log);
    CHECK(turns(store) == std::vector<std::string>{"most", "soon", "later", "old", "young", "least"});
    CHECK(store.commits.front() == "most/step-000120");
    CHECK(node.page().counts.overtakes == 0);
    CHECK(node.page().counts.commits == 6);
}

TEST_CASE("a more urgent seal overtakes, again and again; each goes on where it was, nothing is written twice") {
    for (const int in_flight : {1, 3}) {
        for (const bool by_deadline : {false, true}) {
            CAPTURE(in_flight);
            CAPTURE(by_deadline);
            SimStore disk("run");
            WatchedStore store(disk, 2ms);
            Node node(agent_options(in_flight));
            const auto low = large("analysis", 1), middle = large("restart", 2), high = large("last", 3);
            const auto urgent = [&](int level) {
                return by_deadline ? StreamOptions{.deadline = 100s / level} : StreamOptions{.priority = level};
            };
            store.before = [&](const Write& write) {
                const auto number = store.of(write.stream).size();
                if (write.stream == "analysis" && number == 5) node.seal(middle, urgent(1));
                if (write.stream == "restart" && number == 4) node.seal(high, urgent(2));
            };
            node.seal(low);
            REQUIRE_MESSAGE(node.drain(store), node.log);
            CHECK(turns(store) == std::vector<std::string>{"analysis", "restart", "last", "restart", "analysis"});
            CHECK(store.commits ==
                  std::vector<std::string>{"last/step-000007", "restart/step-000007", "analysis/step-000007"});
            for (const auto& snapshot : {low, middle, high}) {
                check_once(store, snapshot);
                CHECK(test::is_whole(disk, run, snapshot));
            }
            CHECK(node.page().counts.overtakes == 2);
            CHECK(node.page().counts.commits == 3);
            CHECK(node.page().counts.drains == 3);
            CHECK(node.page().draining == 0);
            CHECK(node.page().moving % 2 == 0);
            CHECK(node.log.find("step 7 of stream 'restart' overtakes step 7 of stream 'analysis'") !=
                  std::string::npos);
        }
    }
}

TEST_CASE("the CPU time of drains is that of their threads, and of one that overtook another it counts once") {
    for (const int in_flight : {1, 3}) {
        CAPTURE(in_flight);
        SimStore disk("run");
        WatchedStore store(disk, 1ms);
        Node node(agent_options(in_flight));
        std::atomic<int> writes = 0;
        store.before = [&](const Write& write) {
            if (write.stream == "analysis") {
                if (store.of(write.stream).size() == 5) node.seal(large("restart", 2), {.priority = 1});
                return;
            }
            ++writes;
            const auto until = sys::cpu_time() + write_cpu;
            while (sys::cpu_time() < until) {
            }
        };
        node.seal(large("analysis", 1));
        const auto before = sys::cpu_time();
        REQUIRE_MESSAGE(node.drain(store), node.log);
        const auto used = sys::cpu_time() - before;
        CHECK(node.page().counts.overtakes == 1);
        const std::chrono::duration<double> counted(node.page().counts.drain_cpu_seconds.load());
        CHECK(counted >= writes.load() * write_cpu);
        CHECK(counted < used);
    }
}

TEST_CASE("what is as urgent, or less, waits its turn; so does what failed before") {
    SimStore disk("run");
    WatchedStore store(disk, 1ms);
    Node node;
    store.before = [&](const Write& write) {
        if (store.writes.size() != 5) return;
        CHECK(write.stream == "first");
        node.seal(large("same", 2), {.priority = 1}, 1);  // a clock was set back: age does not count
        node.seal(large("less", 3));
    };
    node.seal(large("first", 1), {.priority = 1});
    REQUIRE_MESSAGE(node.drain(store), node.log);
    CHECK(turns(store) == std::vector<std::string>{"first", "same", "less"});

    SimStore full("run");
    WatchedStore failing(full, 1ms);
    Node other;
    const auto urgent = large("restart", 5);
    failing.before = [&](const Write& write) {
        if (write.stream == "analysis" && failing.of("analysis").size() == 3) {
            full.fail(test::Op::make_directory, 0, {ErrorKind::full, "No space left on device"});
            other.seal(urgent, {.priority = 1});
        }
    };
    other.seal(large("analysis", 4));
    CHECK_FALSE(other.drain(failing));
    CHECK(other.page().counts.aborts == 1);  // until the next bell
    CHECK(turns(failing) == std::vector<std::string>{"analysis"});
    node::ring(other.page().bell);
    CHECK(other.drain(failing));
    CHECK(test::is_whole(full, run, urgent));
}

TEST_CASE("a crash at any operation while one drain overtakes another leaves both whole or absent") {
    const SmallSnapshot low{.id = 1, .step = 3, .stream = "analysis", .elements_per_rank = 1000};
    const SmallSnapshot high{.id = 2, .step = 4, .stream = "restart", .elements_per_rank = 1000};
    auto options = agent_options(1);
    options.block_bytes = 4096;
    struct World {
        explicit World(const AgentOptions& options) : node(options) {
            REQUIRE(disk.make_directories(run));
            disk.settle();
        }
        SimStore disk{"run"};
        Node node;
    };
    const auto make = [&] { return std::make_unique<World>(options); };
    const auto play = [&](World& world) {
        WatchedStore store(world.disk, 0ms);
        bool sealed = false;
        store.before = [&](const Write&) {
            if (!std::exchange(sealed, store.writes.size() >= 3) && sealed) world.node.seal(high, {.priority = 1});
        };
        world.node.seal(low);
        return world.node.drain(store);
    };
    const auto clean = make();
    REQUIRE_MESSAGE(play(*clean), clean->node.log);
    CHECK(clean->node.page().counts.overtakes == 1);
    test::crash_worlds_at_each(make, {0, 3, 4, 5}, play, [&](World& world, bool) {
        auto& [disk, node] = world;
        const bool is_committed = node.page().counts.commits == 2;
        for (const auto& snapshot : {low, high}) {
            const auto listed = catalog::snapshots(disk, run, snapshot.stream);
            const bool whole = test::is_whole(disk, run, snapshot);
            if (listed && !listed->empty()) CHECK(whole);
            if (is_committed) CHECK(whole);
        }
        node::ring(node.page().bell);
        if (node.page().slot_count == 1) node.seal(high, {.priority = 1});
        REQUIRE(node.drain(disk));
        CHECK(test::is_whole(disk, run, low));
        CHECK(test::is_whole(disk, run, high));
    });
}

TEST_CASE("a stream's rate holds for its drains alone, and the agent's for all at once") {
    SimStore disk("run");
    WatchedStore store(disk, 0ms);
    Node node;
    node.seal(large("slow", 1), {.rate_bytes_per_second = 500'000});
    node.seal(large("fast", 2));
    REQUIRE_MESSAGE(node.drain(store), node.log);
    const auto seconds = [&](const std::string& stream) {
        const auto writes = store.of(stream);
        return std::chrono::duration<double>(writes.back().when - writes.front().when).count();
    };
    CHECK(seconds("slow") > 1.2);  // 0.96 MB, less the part that may be caught up
    CHECK(seconds("fast") < seconds("slow"));

    auto options = agent_options(3);
    options.rate_bytes_per_second = 3'000'000;
    SimStore other_disk("run");
    WatchedStore other(other_disk, 0ms);
    Node limited(options);
    other.before = [&](const Write& write) {
        if (write.stream == "analysis" && other.of("analysis").size() == 4)
            limited.seal(large("restart", 4), {.priority = 1, .rate_bytes_per_second = 100'000'000});
    };
    limited.seal(large("analysis", 3));
    const auto begin = sys::Clock::now();
    REQUIRE(limited.drain(other));
    CHECK(std::chrono::duration<double>(sys::Clock::now() - begin).count() > 0.5);  // 1.9 MB at 3 MB/s
    CHECK(limited.page().counts.overtakes == 1);
}

TEST_CASE("a missed deadline is counted once and told, also of what never becomes durable") {
    SimStore disk("run");
    WatchedStore store(disk, 20ms);
    Node node;
    node.seal(large("late", 1), {.deadline = 30ms});
    node.seal(large("in-time", 2), {.deadline = 60s});
    REQUIRE_MESSAGE(node.drain(store), node.log);
    CHECK(node.stream("late").counts.deadlines_missed == 1);
    CHECK(node.stream("in-time").counts.deadlines_missed == 0);
    const auto position = node.log.find("step 7 of stream 'late' misses its deadline, ");
    REQUIRE(position != std::string::npos);
    CHECK(position < node.log.find("step 7 of stream 'late': "));  // reported when it passed, not after all drains
    CHECK(node.log.find("misses its deadline", node.log.find('\n', position)) == std::string::npos);

    SimStore dead("run");
    dead.fail(test::Op::make_directory, 0, {ErrorKind::full, "No space left on device"}, 1000);
    Node unlucky;
    unlucky.seal(large("never", 3), {.deadline = 100ms});
    std::atomic<bool> stop{false};
    std::jthread agent(
        [&] { agent::Agent(dead, unlucky.staging, unlucky.session, {}, [](const agent::Event&) {}).run(stop); });
    CHECK(test::soon([&] { return unlucky.stream("never").counts.deadlines_missed == 1; }));
    stop = true;
    node::ring(unlucky.page().bell);
}

TEST_CASE("a file that stays under the name of a view is told once") {
    SimStore disk;
    REQUIRE(test::commit_all(disk, run, {.id = 1, .step = 1}));
    REQUIRE(sys::write_text_durable(disk, run + "/restart/series.nc", "an export"));
    Node node;
    const StreamOptions options{.slots = 2, .keep = 1};
    node.seal({.id = 2, .step = 10}, options, 1);
    node.seal({.id = 3, .step = 20}, options, 2, 1);
    REQUIRE_MESSAGE(node.drain(disk), node.log);
    CHECK(catalog::snapshots(disk, run, "restart").value().size() == 1);
    const auto position = node.log.find(run + "/restart/series.nc stays");
    REQUIRE(position != std::string::npos);
    CHECK(node.log.find("series.nc stays", position + 20) == std::string::npos);
    CHECK(disk.peek(run + "/restart/series.nc") == "an export");
}
