// Goal: no process loses a snapshot that was reported committed, and none accepts a bad snapshot, whoever is killed at
// any time. `forebay drain` and `forebay recover --stale` finish the rest. Method: an application lives several lives
// over one run, each a session. Some go back to an older step, have a wall clock that is hours off, or put files into
// their spools. SIGKILL ends the application, its agents, or both, at a random moment. Between lives it ends `forebay
// drain` and `forebay recover`. A seed decides everything beforehand. This executable defines clock_gettime, which
// takes precedence over the C library's. FOREBAY_KILLER_RUNS sets the number of runs, FOREBAY_SEED repeats a run.

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "core/format/packed.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/node_reader.hpp"
#include "support/killable.hpp"
#include "support/packed_files.hpp"
#include "support/temp_directory.hpp"
#include "support/wished_number.hpp"

using namespace forebay;
using std::chrono::milliseconds;

namespace {

std::int64_t clock_shift_seconds = 0;  // shift of this process' wall clock
constexpr std::int64_t hour_seconds = 3600;
constexpr int shift_hours_max = 12;

// Messages of an application: the restored step, the step it went back to, a committed step, the number of a file.
enum Told : std::int64_t { restored, went_back, durable, put, told_kinds };
constexpr std::int64_t no_step = -1;  // the lowest number in a message
std::int64_t word_of(std::int64_t number, Told kind) { return (number - no_step) * told_kinds + kind; }
Told kind_of(std::int64_t word) { return static_cast<Told>(word % told_kinds); }
std::int64_t number_of(std::int64_t word) { return word / told_kinds + no_step; }

constexpr std::int64_t files_per_life_max = 1000;  // far more files than rounds of a life

std::string file_of(std::int64_t number) { return "log-" + std::to_string(number); }

// Writes the file as a program of the job does.
void put_file(const std::string& spool, std::int64_t number) {
    const auto name = file_of(number);
    std::ofstream(spool + "/." + name) << name;
    std::filesystem::rename(spool + "/." + name, spool + "/" + name);
}

enum class Victim { application, agents, both };
enum class Tool { none, drain, recover };

struct Life {
    Victim victim = Victim::application;
    milliseconds age{};       // age at the first kill
    milliseconds after{};     // pause before the next kill
    bool agents_too = false;  // kills the agents once more
    Tool tool = Tool::none;
    milliseconds tool_age{};
    bool goes_back = false;
    std::int64_t clock_hours = 0;
    int file_every = 0;  // a file every so many steps; 0: no files
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
                                  .tool_age = milliseconds(below(40)),
                                  .goes_back = below(3) == 0,
                                  .clock_hours = below(2 * shift_hours_max) - shift_hours_max,
                                  .file_every = below(4)});
    return schedule;
}

// One run directory from its first life to the judgement.
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
    std::size_t promises() const { return promised_.size() + listed_.size(); }
    std::size_t files() const { return files_.size(); }
    std::size_t lines_left() const { return bases_.size(); }

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
    void judge_promises(const catalog::History& history) const;
    void judge_files() const;
    void body(const Life& life, const test::Application::Tell& tell) const;
    void hear(const test::Application& application, std::int64_t restored_min);
    std::int64_t restored_min() const;
    std::uint32_t newest_session() const;
    void note_listed();

    Schedule schedule_;
    test::TempDirectory folder_;
    Options options_;
    std::set<std::int64_t> promised_;                         // steps that were reported to an application as committed
    std::set<std::pair<format::Line, std::int64_t>> listed_;  // seen committed
    std::map<std::uint32_t, std::int64_t> bases_;             // steps that sessions went back to
    std::set<std::int64_t> files_;                            // numbers of files in spools
    std::int64_t lives_ = 0;
    std::size_t kills_ = 0;
};

void History::note_listed() {
    const auto all = catalog::heads_of(sys::posix_store(), options_.run, "restart");
    if (!all) return;
    for (const auto& version : *all)
        if (version.readable) listed_.insert({version.head.lineage.line(), version.head.step});
}

// The least step that the next session must restore: the newest step of the run's line. Lines that went back later may
// exist only in memory, so their base counts.
std::int64_t History::restored_min() const {
    const auto history = catalog::history(sys::posix_store(), options_.run, "restart");
    if (!history || history->living.empty()) return no_step;
    auto lowest = history->living.front().head.step;
    for (const auto& [session, base] : bases_)
        if (session > history->line().session) lowest = std::min(lowest, base);
    return lowest;
}

std::uint32_t History::newest_session() const {
    std::uint32_t newest = 0;
    for (const auto& entry : std::filesystem::directory_iterator(options_.run + "/forebay/sessions"))
        if (const auto name = entry.path().filename().string(); !name.starts_with('.'))
            newest = std::max(newest, static_cast<std::uint32_t>(std::stoul(name)));
    return newest;
}

void History::body(const Life& life, const test::Application::Tell& tell) const {
    clock_shift_seconds = life.clock_hours * hour_seconds;
    test::with_threads(schedule_.ranks, [&](std::unique_ptr<comm::Group> world) {
        test::RowRank here(std::move(world), options_, schedule_.stream);
        const bool tells = here.world->rank() == 0;
        auto first = here.restore();
        if (first == -2) throw std::runtime_error("a restart gave data of another step");
        if (tells) tell(word_of(first, restored));
        if (life.goes_back && first > 0) {
            first = here.restore(first / 2 + 1);  // far enough that it does not soon overtake the steps it leaves
            if (first == -2) throw std::runtime_error("going back gave data of another step");
            if (tells) tell(word_of(first, went_back));
        }
        std::int64_t files = 0;
        for (auto step = first + 1;; ++step) {
            here.save(step).value();
            if (!tells) continue;
            const auto newest = here.stream.counters().newest_durable_step;
            if (newest >= 0) tell(word_of(newest, durable));
            if (life.file_every == 0 || step % life.file_every != 0 || files == files_per_life_max) continue;
            const auto number = lives_ * files_per_life_max + files++;
            put_file(here.session.spool(), number);
            tell(word_of(number, put));
        }
    });
}

void History::hear(const test::Application& application, std::int64_t restored_min) {
    for (const auto word : application.hear_rest()) {
        const auto number = number_of(word);
        switch (kind_of(word)) {
            case restored: CHECK(number >= restored_min); break;
            case went_back: bases_[newest_session()] = number; break;
            case durable: promised_.insert(number); break;
            default: files_.insert(number);
        }
    }
}

void History::live(const Life& life) {
    const auto newest_before = restored_min();
    ++lives_;
    test::Application application([&](const auto& tell) { body(life, tell); });
    // In most lives the age counts from the first step, in some from the start of the process.
    if (life.age.count() % 4 != 0) application.wait_for_word();
    std::this_thread::sleep_for(life.age);
    if (life.victim != Victim::application) kill_agents();
    if (life.victim == Victim::agents) std::this_thread::sleep_for(life.after);
    note_listed();
    CHECK_MESSAGE(WIFSIGNALED(application.kill()), "the application failed by itself");
    ++kills_;
    hear(application, newest_before);
    std::this_thread::sleep_for(life.after);
    if (life.agents_too) kill_agents();
    note_listed();
    kill_tool(life);
}

// Kills a tool at a random moment. The next life, or finish(), starts it again.
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
    // A killed application may just have started an agent that appears only now. Then `drain all` waits for it in vain,
    // or skips the directory.
    const auto settles = [&] {
        test::wait_for_agents(options_);
        drained = test::forebay_run("drain all --staging " + folder_.path());
        return drained.text.find("still drains") == std::string::npos &&
               drained.text.find("passed over") == std::string::npos;
    };
    REQUIRE_MESSAGE(test::soon(settles, std::chrono::seconds(60)), drained.text);
    note_listed();
    // Exit code 1: a save was cut before every node sealed its part. Nobody can commit it.
    CHECK_MESSAGE((drained.exit_code == 0 || (drained.exit_code == 1 && schedule_.nodes > 1)), drained.text);
    if (drained.exit_code != 0) return recover();
    // A session that was killed while it opened leaves a directory without session.json.
    for (const auto& directory : test::staged(options_))
        CHECK_FALSE(std::filesystem::exists(directory + "/session.json"));
    recover();
}

void History::recover() const {
    if (!std::filesystem::exists(options_.run)) return;  // killed before it made the run
    const auto recovered = test::forebay_run("recover --stale " + options_.run);
    CHECK_MESSAGE(recovered.exit_code == 0, recovered.text);
}

// Every row of a node file must equal the step.
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

// Retention removes all but the newest. It may have counted a snapshot that is not listed.
void History::judge_promises(const catalog::History& history) const {
    std::set<std::pair<format::Line, std::int64_t>> there;
    std::set<std::int64_t> steps;
    for (const auto* list : {&history.living, &history.abandoned})
        for (const auto& version : *list) {
            there.insert({version.head.lineage.line(), version.head.step});
            steps.insert(version.head.step);
        }
    const auto is_kept = [&](std::int64_t step) {
        const auto keep = static_cast<std::size_t>(schedule_.stream.keep);
        return keep == 0 || history.living.size() < keep || history.living[keep - 1].head.step <= step;
    };
    std::string text;
    for (const auto& [line, step] : there) text += " " + std::to_string(step) + " of line " + format::name_of(line);
    for (const auto& listed : listed_)
        if (schedule_.stream.keep == 0 || (listed.first == listed_.rbegin()->first && is_kept(listed.second)))
            CHECK_MESSAGE(there.contains(listed), "step " << listed.second << " of line "
                                                          << format::name_of(listed.first)
                                                          << " was seen committed and is lost; there is" << text);
    // The application does not report the line of a step.
    for (const auto step : promised_)
        if (schedule_.stream.keep == 0 || (bases_.empty() && is_kept(step)))
            CHECK_MESSAGE(steps.contains(step), "step " << step << " was reported committed and is lost");
    if (listed_.empty()) return;
    REQUIRE_FALSE(history.living.empty());
    CHECK(history.line() >= listed_.rbegin()->first);
}

void History::judge_files() const {
    test::Contents packed;
    for (const auto& stream : catalog::streams(sys::posix_store(), options_.run).value())
        if (format::is_packed_stream(stream)) packed.merge(test::packed_in(sys::posix_store(), options_.run, stream));
    for (const auto number : files_) {
        const auto name = file_of(number);
        const auto there = packed.find(name);
        CHECK_MESSAGE(there != packed.end(), name << " was put into a spool and is not packed");
        if (there != packed.end()) CHECK(there->second == name);
    }
}

void History::judge() const {
    if (!std::filesystem::exists(options_.run)) return;
    auto& store = sys::posix_store();
    const auto history = catalog::history(store, options_.run, "restart");
    if (history) {
        const auto verified = test::forebay_run("verify " + options_.run);
        CHECK_MESSAGE(verified.exit_code == 0, verified.text);
        CHECK(history->foreign.empty());
        for (const auto* list : {&history->living, &history->abandoned})
            for (const auto& version : *list) {
                const auto manifest = catalog::load_manifest(store, version.snapshot.directory);
                REQUIRE(manifest);
                for (const auto& line : manifest->nodes) CHECK(holds(version.snapshot, line));
            }
        judge_promises(*history);
    } else {
        CHECK(history.error().kind == ErrorKind::missing);
        CHECK(listed_.empty());
        CHECK(promised_.empty());
    }
    judge_files();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options_.run))
        CHECK_MESSAGE(!entry.path().filename().string().starts_with('.'), entry.path().string());
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
    const auto done = static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
    if (done == 0 && clock == CLOCK_REALTIME) now->tv_sec += clock_shift_seconds;
    return done;
}

TEST_CASE("the library's wall clock is the one that is shifted here") {
    const auto before = sys::unix_ns();
    clock_shift_seconds = hour_seconds;
    CHECK(sys::unix_ns() - before >= hour_seconds * 1'000'000'000);
    clock_shift_seconds = 0;
}

TEST_CASE("nothing that was reported committed is lost, whoever is killed") {
    const auto seed = test::wished_number("FOREBAY_SEED", sys::random_u64() % 1'000'000);
    const auto runs = test::wished_number("FOREBAY_KILLER_RUNS", 15);
    std::size_t kills = 0, promises = 0, files = 0, lines_left = 0;
    for (auto each = seed; each < seed + runs; ++each) {
        CAPTURE(each);
        std::cout << "FOREBAY_SEED=" << each << std::endl;
        History history(each);
        history.play();
        kills += history.kills();
        promises += history.promises();
        files += history.files();
        lines_left += history.lines_left();
    }
    std::cout << runs << " runs, " << kills << " kills, " << promises << " steps reported committed, " << files
              << " files put into spools, " << lines_left << " lines left\n";
    CHECK(promises > 0);
}
