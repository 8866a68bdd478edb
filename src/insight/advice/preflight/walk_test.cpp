// Goal: slow storage targets are found with few probes, and healthy targets are not blamed. Slow servers are reported
// as a whole. A target that does not answer is reported, and waited for once.
// Method: the real code over made nodes and targets with a made clock. A probe takes the time of its bytes, at a rate
// with lognormal noise. FOREBAY_PREFLIGHT_REPEATS sets the number of runs of 156 targets (50).

#include "insight/advice/preflight/walk.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <queue>
#include <set>

#include "core/base/splitmix.hpp"
#include "insight/advice/preflight/survey.hpp"

using namespace forebay;
using namespace forebay::advice;

namespace {

class Chance {
public:
    explicit Chance(std::uint64_t seed) : seed_(seed) {}
    double uniform() { return static_cast<double>(splitmix(seed_, index_++) >> 11) * 0x1p-53; }
    double lognormal(double deviation) {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return std::exp(deviation * radius * std::cos(2 * std::numbers::pi * uniform()));
    }

private:
    std::uint64_t seed_, index_ = 0;
};

struct Machine {
    std::size_t targets = 156, servers = 26, slow = 12, nodes = 64;
    double slow_ratio = 0.5, deviation = 0.15, busy_share = 0;
    double rate = 225e6;
    std::set<std::size_t> hanging = {}, silent_nodes = {};

    std::size_t server_of(std::size_t target) const { return target * servers / targets; }
};

constexpr std::uint64_t probe_bytes = 64u << 20;

// Each node answers after its own time.
class MadeNodes final : public Nodes {
public:
    MadeNodes(const Machine& machine, std::uint64_t seed) : machine_(machine), chance_(seed) {}
    std::size_t size() const override { return machine_.nodes; }
    std::string name(std::size_t node) const override { return "node" + std::to_string(node); }
    sys::Clock::time_point now() const override { return now_; }
    Result<> ask(std::size_t node, const std::string& text) override {
        const auto question = decode_question(text).value();
        const auto target = static_cast<std::size_t>(std::stoul(question.path));
        const auto server = machine_.server_of(target);
        if (machine_.hanging.contains(target)) {
            const auto at = now_ + std::chrono::milliseconds(question.deadline_ms);
            events_.push({at, node, server, encode(NodeAnswer{question.number, name(node), {}, {}, {}, true})});
            return {};
        }
        // A second probe is allowed beside a probe so long that it may hang.
        const auto [busy, is_free] = busy_.emplace(server, now_);
        CHECK_MESSAGE((is_free || now_ - busy->second >= std::chrono::seconds(2)), "two probes at once on ", server);
        busy->second = now_;
        if (machine_.silent_nodes.contains(node)) {
            busy_.erase(server);
            return {};
        }
        double rate = machine_.rate * chance_.lognormal(machine_.deviation);
        if (target < machine_.slow) rate *= machine_.slow_ratio;
        if (chance_.uniform() < machine_.busy_share) rate *= 0.45;
        NodeAnswer answer{.number = question.number, .host = name(node), .numbers = {rate}};
        const auto took = std::chrono::duration<double>(static_cast<double>(question.bytes) / rate);
        events_.push({now_ + std::chrono::duration_cast<sys::Clock::duration>(took), node, server, encode(answer)});
        return {};
    }
    std::optional<Heard> hear(sys::Clock::time_point until) override {
        if (events_.empty() || events_.top().at > until) {
            now_ = until;
            return std::nullopt;
        }
        const auto event = events_.top();
        events_.pop();
        now_ = std::max(now_, event.at);
        busy_.erase(event.server);
        return Heard{event.node, event.answer};
    }

private:
    struct Event {
        sys::Clock::time_point at;
        std::size_t node, server;
        std::string answer;
        bool operator<(const Event& other) const { return at > other.at; }
    };
    Machine machine_;
    Chance chance_;
    sys::Clock::time_point now_{};
    std::priority_queue<Event> events_;
    std::map<std::size_t, sys::Clock::time_point> busy_;  // busy servers, since when
};

struct Found {
    double slow = 0, wrong = 0, unclear = 0, probes = 0, seconds = 0;
    std::vector<std::string> servers;
    Unprobed unprobed;
};

Found probe(const Machine& machine, std::uint64_t seed, std::size_t probes_a_node = 1000) {
    MadeNodes nodes(machine, splitmix(seed, 1));
    Talk talk(nodes, nodes.now() + std::chrono::minutes(10), {});
    std::vector<std::string> servers;
    for (std::size_t i = 0; i < machine.targets; ++i) servers.push_back(std::to_string(machine.server_of(i)));
    SlowTest walk(std::move(servers), 1, seed);
    std::size_t turn = 0;
    Found result;
    const auto start = nodes.now();
    result.unprobed =
        survey(talk, walk,
               {.node_for = [&](std::size_t) -> std::optional<std::size_t> {
                    for (std::size_t i = 0; i < machine.nodes; ++i)
                        if (const auto node = turn++ % machine.nodes;
                            !talk.is_silent(node) && talk.out_at(node) < probes_a_node)
                            return node;
                    return std::nullopt;
                },
                .question =
                    [](std::size_t target) {
                        return Question{.task = Task::target, .path = std::to_string(target), .bytes = probe_bytes};
                    },
                .at_most = std::chrono::seconds(10),
                .at_once = std::max<std::size_t>(machine.nodes, 8)});
    result.seconds = std::chrono::duration<double>(nodes.now() - start).count();
    const auto verdicts = walk.verdicts(0);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const bool slow = verdicts[i].standing == Decision::slow;
        if (i < machine.slow) result.slow += slow;
        else result.wrong += slow;
        result.unclear += verdicts[i].standing == Decision::unclear;
    }
    result.probes = static_cast<double>(walk.probes()) / static_cast<double>(machine.targets);
    result.servers = walk.slow_servers(0);
    return result;
}

Found mean_of(const Machine& machine, std::uint64_t first_seed) {
    const char* text = std::getenv("FOREBAY_PREFLIGHT_REPEATS");
    const auto repeats = text != nullptr ? std::strtoul(text, nullptr, 10) : 50;
    Found mean;
    for (std::uint64_t i = 0; i < repeats; ++i) {
        const auto result = probe(machine, first_seed + i);
        mean.slow += result.slow;
        mean.wrong += result.wrong;
        mean.unclear += result.unclear;
        mean.probes += result.probes;
        mean.seconds += result.seconds;
    }
    const auto all = static_cast<double>(repeats);
    for (auto* number : {&mean.slow, &mean.wrong, &mean.unclear, &mean.probes, &mean.seconds}) *number /= all;
    MESSAGE(repeats, " runs: found ", mean.slow, " of ", machine.slow, ", wrong ", mean.wrong, ", unclear ",
            mean.unclear, ", ", mean.probes, " probes each, ", mean.seconds, " s");
    return mean;
}

}  // namespace

TEST_CASE("twelve of 156 at half speed under 15 % of noise are found, and no others") {
    const auto mean = mean_of({}, 1000);
    CHECK(mean.slow >= 0.99 * 12);
    CHECK(mean.wrong <= 0.1);
    CHECK(mean.probes <= 5.5);
    CHECK(mean.seconds < 20);
}

TEST_CASE("so they are on a busy system, where 10 % of the probes are thrown to 45 %") {
    const auto mean = mean_of({.busy_share = 0.1}, 2000);
    CHECK(mean.slow >= 0.99 * 12);
    CHECK(mean.wrong <= 0.1);
    CHECK(mean.probes <= 5.5);
}

TEST_CASE("where none is slow none is named") {
    const auto mean = mean_of({.slow = 0}, 3000);
    CHECK(mean.wrong <= 0.1);
    CHECK(mean.probes <= 5.5);
}

TEST_CASE("a server all of whose targets are slow is named itself") {
    Machine machine;  // the twelve slow targets belong to servers 0 and 1
    CHECK(probe(machine, 5).servers == std::vector<std::string>{"0", "1"});
    machine.slow = 0;
    CHECK(probe(machine, 6).servers.empty());
}

TEST_CASE("a target that hangs is told and not waited for again; one that a silent node had is probed by another") {
    Machine machine{.targets = 24, .servers = 24, .slow = 0, .nodes = 8, .hanging = {7}, .silent_nodes = {3}};
    const auto result = probe(machine, 7);
    REQUIRE(result.unprobed.size() == 1);
    CHECK(result.unprobed.begin()->first == 7);
    CHECK(result.unprobed.begin()->second.starts_with("hangs"));
    CHECK(result.seconds < 25);
    CHECK(result.probes >= 23 * 3.0 / 24);
}

TEST_CASE("targets that hang keep no other waiting, on their server or at the only node") {
    Machine machine{.targets = 24, .servers = 4, .slow = 0, .nodes = 1, .hanging = {0, 1, 2, 3, 4, 9}};
    const auto result = probe(machine, 8, 2);
    CHECK(result.unprobed.size() == 6);
    CHECK(result.wrong == 0);
    CHECK(result.probes >= 18 * 3.0 / 24);
    CHECK(result.seconds < 25);
}

TEST_CASE("few are compared by nothing but a half of the median") {
    SlowTest walk({"a", "b", "c"}, 1, 1);
    while (!walk.done()) {
        const auto next = walk.next();
        REQUIRE(next);
        const double rate = *next == 0 ? 30 : 100;
        walk.took(*next, std::span(&rate, 1));
    }
    CHECK(walk.verdicts(0)[0].standing == Decision::slow);
    CHECK(walk.verdicts(0)[1].standing == Decision::good);
}
