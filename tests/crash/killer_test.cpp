// Goal: whoever is killed, and whenever, nothing that was reported committed is lost and nothing bad is accepted; what
// is left is finished by `forebay drain` and `forebay recover --stale`. Method: a run of an application lives several
// lives; each is ended by SIGKILL for the application, its agents, or both, at a random moment; between lives
// `forebay drain` and `forebay recover` are killed as well. Everything is drawn from a seed before it starts.
// FOREBAY_KILLER_RUNS asks for more runs, FOREBAY_SEED repeats.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <random>
#include <set>

#include "catalog/catalog.hpp"
#include "catalog/node_reader.hpp"
#include "support/killable.hpp"
#include "support/temp_directory.hpp"
#include "support/wished_number.hpp"

using namespace forebay;
using std::chrono::milliseconds;

namespace {

// What an application tells, beside the step.
enum Told : std::int64_t { restored = 0, durable = 1, told_kinds = 2 };

enum class Victim { application, agents, both };
enum class Tool { none, drain, recover };

struct Life {
    Victim victim = Victim::application;
    milliseconds age{};       // when the first is killed
    milliseconds after{};     // before the next is
    bool agents_too = false;  // once more
    Tool tool = Tool::none;
    milliseconds tool_age{};
};

struct Schedule {
    int ranks = 1;
    int nodes = 1;
    std::uint64_t rate = 0;
    StreamOptions stream;
    std::vector<Life> lives;
};

Schedule schedule_of(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return static_cast<int>(random() % end); };
    Schedule schedule;
    schedule.ranks = 1 + below(3);
    schedule.nodes = 1 + below(static_cast<std::uint64_t>(std::min(schedule.ranks, 2)));
    schedule.rate = std::array<std::uint64_t, 3>{0, 5'000'000, 40'000'000}[random() % 3];
    schedule.stream = {.slots = 1 + below(2), .keep = 2 * below(2)};
    for (int lives = 1 + below(3); lives > 0; --lives)
        schedule.lives.push_back({.victim = static_cast<Victim>(below(3)),
                                  .age = milliseconds(below(400)),
                                  .after = milliseconds(below(120)),
                                  .agents_too = below(2) == 0,
                                  .tool = static_cast<Tool>(below(3)),
                                  .tool_age = milliseconds(below(40))});
    return schedule;
}

// One run directory, from its first life to the judgement.
class History {
public:
    explicit History(std::uint64_t seed) : schedule_(schedule_of(seed)) {
        options_ = {.run = folder_ / "run", .staging = folder_.path()};
        options_.virtual_nodes = schedule_.nodes;
        options_.agent.rate_bytes_per_second = schedule_.rate;
        options_.agent.block_bytes = 1u << 16;
    }

    void play() {
        for (const auto& life : schedule_.lives) live(life);
        finish();
        judge();
    }
    std::size_t kills() const { return kills_; }
    std::size_t promises() const { return durable_.size(); }

private:
    void live(const Life& life);
    void kill_tool(const Life& life);
    void kill_agents() {
        test::kill_agents(options_);
        ++kills_;
    }
    void finish();
    void recover() const;
    void judge() const;
    std::set<std::int64_t> listed() const;
    void note_listed() { durable_.merge(listed()); }

    Schedule schedule_;
    test::TempDirectory folder_;
    Options options_;
    std::set<std::int64_t> durable_;  // every step that anybody was told is committed
    std::size_t kills_ = 0;
};

std::set<std::int64_t> History::listed() const {
    std::set<std::int64_t> steps;
    const auto all = catalog::snapshots(sys::posix_store(), options_.run, "restart");
    if (all)
        for (const auto& snapshot : *all) steps.insert(snapshot.step);
    return steps;
}

void History::live(const Life& life) {
    const auto newest_before = durable_.empty() ? -1 : *durable_.rbegin();
    test::Application application([&](const auto& tell) {
        test::with_threads(schedule_.ranks, [&](std::unique_ptr<comm::Group> world) {
            test::RowRank here(std::move(world), options_, schedule_.stream);
            const auto first = here.restore();
            if (here.world->rank() == 0) tell(first * told_kinds + restored);
            if (first == -2) throw std::runtime_error("a restart gave data of another step");
            for (auto step = first + 1;; ++step) {
                here.save(step).value();
                const auto newest = here.stream.counters().newest_durable_step;
                if (here.world->rank() == 0 && newest >= 0) tell(newest * told_kinds + durable);
            }
        });
    });
    // Most lives are counted from their first step on, some from their opening.
    if (life.age.count() % 4 != 0) application.wait_for_word();
    std::this_thread::sleep_for(life.age);
    if (life.victim != Victim::application) kill_agents();
    if (life.victim == Victim::agents) std::this_thread::sleep_for(life.after);
    note_listed();
    CHECK_MESSAGE(WIFSIGNALED(application.kill()), "the application failed by itself");
    ++kills_;
    for (const auto word : application.hear_rest()) {
        if (word % told_kinds == durable) durable_.insert(word / told_kinds);
        else CHECK(word / told_kinds >= newest_before);
    }
    std::this_thread::sleep_for(life.after);
    if (life.agents_too) kill_agents();
    note_listed();
    kill_tool(life);
}

// The tools have a moment of their own at which they are killed; then they are started again by the next life, or by
// finish().
void History::kill_tool(const Life& life) {
    if (life.tool == Tool::none) return;
    const bool drains = life.tool == Tool::drain;
    test::Application tool([&](const auto&) {
        const auto program = test::forebay_program();
        if (drains) ::execl(program.c_str(), "forebay", "drain", "all", "--staging", folder_.path().c_str(), nullptr);
        else ::execl(program.c_str(), "forebay", "recover", options_.run.c_str(), nullptr);
        throw std::runtime_error(program + " cannot be started");
    });
    std::this_thread::sleep_for(life.tool_age);
    tool.kill();
    ++kills_;
}

void History::finish() {
    test::Said drained;
    // An agent that a killed application had just started may come up behind our back.
    test::wait_until([&] {
        test::wait_for_agents(options_);
        drained = test::forebay_run("drain all --staging " + folder_.path());
        return drained.text.find("still drains") == std::string::npos;
    });
    note_listed();
    // Exit code 1: a save that was cut before every node had sealed its part cannot be committed by anybody.
    CHECK_MESSAGE((drained.exit_code == 0 || (drained.exit_code == 1 && schedule_.nodes > 1)), drained.text);
    if (drained.exit_code != 0) return recover();
    // A session that was killed while it opened leaves a directory that names no run.
    for (const auto& directory : test::staged(options_))
        CHECK_FALSE(std::filesystem::exists(directory + "/session.json"));
    recover();
}

void History::recover() const {
    if (!std::filesystem::exists(options_.run)) return;  // killed before it began
    const auto recovered = test::forebay_run("recover --stale " + options_.run);
    CHECK_MESSAGE(recovered.exit_code == 0, recovered.text);
}

// A node file's row is equal to its step everywhere.
bool holds(const catalog::Snapshot& snapshot, const format::NodeLine& line) {
    auto reader = catalog::NodeReader::open(sys::posix_store(), snapshot.directory + "/" + line.path).value();
    for (const auto& block : reader.head().value().blocks) {
        std::vector<double> row(block.size_bytes / sizeof(double));
        reader.file().read(block.offset_bytes, std::as_writable_bytes(std::span(row))).value();
        if (std::ranges::any_of(row, [&](double value) { return value != static_cast<double>(snapshot.step); }))
            return false;
    }
    return true;
}

void History::judge() const {
    auto& store = sys::posix_store();
    const auto found = listed();
    if (!durable_.empty()) {
        const auto verified = test::forebay_run("verify " + options_.run);
        CHECK_MESSAGE(verified.exit_code == 0, verified.text);
    }
    for (const auto step : found) {
        const catalog::Snapshot snapshot{"restart", step, options_.run + "/restart/" + catalog::step_name(step)};
        const auto manifest = catalog::load_manifest(store, snapshot.directory);
        REQUIRE(manifest);
        for (const auto& line : manifest->nodes) CHECK(holds(snapshot, line));
    }
    // Retention takes all but the newest; what it keeps, it may have counted before it died.
    int kept = 0;
    for (auto step = durable_.rbegin(); step != durable_.rend(); ++step, ++kept)
        if (schedule_.stream.keep == 0 || kept < schedule_.stream.keep)
            CHECK_MESSAGE((found.contains(*step) ||
                           (schedule_.stream.keep > 0 && found.size() >= 2 && *std::next(found.rbegin()) > *step)),
                          "step " << *step << " was reported committed and is lost");
    if (!std::filesystem::exists(options_.run)) return;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options_.run))
        CHECK_MESSAGE(!entry.path().filename().string().starts_with('.'), entry.path().string());
}

}  // namespace

TEST_CASE("nothing that was reported committed is lost, whoever is killed") {
    const auto seed = test::wished_number("FOREBAY_SEED", sys::random_u64() % 1'000'000);
    const auto runs = test::wished_number("FOREBAY_KILLER_RUNS", 15);
    std::size_t kills = 0, promises = 0;
    for (auto each = seed; each < seed + runs; ++each) {
        CAPTURE(each);
        std::cout << "FOREBAY_SEED=" << each << std::endl;
        History history(each);
        history.play();
        kills += history.kills();
        promises += history.promises();
    }
    std::cout << runs << " runs, " << kills << " kills, " << promises << " steps reported committed\n";
    CHECK(promises > 0);
}
