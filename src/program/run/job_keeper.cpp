#include "program/run/job_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/base/attempt.hpp"
#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/sys/channel.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/signals.hpp"
#include "core/sys/thread.hpp"
#include "path/agent/keeper.hpp"
#include "path/agent/leftovers.hpp"
#include "path/agent/serve.hpp"
#include "path/node/watch.hpp"
#include "program/run/job_calls.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds keeper_look{100};
// Before SIGKILL the keeper writes into the run what is left: a status takes at most 2 s.
constexpr milliseconds before_kill{2'500};
constexpr seconds last_lines_max{2};
constexpr std::size_t line_bytes_max = 900;  // srun passes on lines of up to 1024 bytes as one piece
constexpr std::size_t word_bytes_max = 200;  // so the last word, a text, has room
// A batch system that kills has killed by then. Later the signal was meant for the application alone.
constexpr seconds after_kill{5};

struct UncommittedPart {
    std::string run, name, directory;  // name: STREAM@STEP
    auto operator<=>(const UncommittedPart&) const = default;
};

// Sealed snapshots of a directory that are not committed, and the directory itself if its page cannot be read.
std::set<UncommittedPart> uncommitted_in(const std::string& directory) {
    std::set<UncommittedPart> parts;
    const auto session = agent::session_of(directory);
    if (!session || !std::filesystem::exists(directory)) return parts;
    const auto watch = node::Watch::open(directory);
    if (!watch) {
        const auto files = node::staged_files(directory);
        for (const auto& file : files ? *files : std::vector<node::StagedFile>())
            parts.insert({session->run, fmt::format("{}@{}", file.stream, file.peek.record.step), directory});
        return parts;
    }
    const auto& page = watch->page();
    for (std::uint32_t i = 0; i < std::min(page.slot_count.load(), node::slots_max); ++i) {
        const auto& slot = page.slots[i];
        const auto state = slot.state.load();
        using node::SlotState;
        if (state == SlotState::empty || state == SlotState::filling || state == SlotState::committed) continue;
        if (slot.stream >= node::streams_max) continue;
        parts.insert(
            {session->run, fmt::format("{}@{}", page.streams[slot.stream].name.data(), slot.step.load()), directory});
    }
    return parts;
}

bool is_locked(const std::string& path) { return sys::lock_is_held(path); }

bool lingers_in(const std::string& directory) {
    const auto watch = node::Watch::open(directory);
    return watch && watch->page().lingering.load() != 0;
}

class NodeKeeper {
public:
    NodeKeeper(const KeeperPlan& plan, const sys::EndSignals& signals, agent::KeeperDoor door, sys::Channel channel)
        : plan_(plan),
          signals_(signals),
          door_(std::move(door)),
          channel_(std::move(channel)),
          host_(sys::host_name()) {}

    Exit keep();
    /// True if a thread still drains: perhaps it hangs in a dead mount.
    bool drains() const { return drain_ && !drain_->done; }

private:
    void tell(const std::vector<std::string>& words);
    /// Looks for requests of sessions, lines and signals, for a moment.
    void turn();
    void hear(const std::string& line);
    void end_within(sys::Clock::duration time);
    bool is_over() const { return ends_at_ && sys::Clock::now() >= *ends_at_; }
    /// Directories with work, and no session or agent of another job.
    std::set<std::string> directories() const;
    bool wait_for_agents();
    void drain();
    bool report();
    std::set<UncommittedPart> uncommitted() const;
    void write_left_into_runs() const;
    /// Obeys a signal of the batch system, which usually means the end.
    void heed_signals();

    const KeeperPlan& plan_;
    const sys::EndSignals& signals_;
    agent::KeeperDoor door_;
    sys::Channel channel_;
    const std::string host_;
    std::string heard_;
    std::set<std::string> hosted_;
    std::optional<sys::Clock::time_point> ends_at_;
    std::optional<sys::Clock::time_point> kill_at_;  // if a signal came: when the batch system kills
    bool wrote_left_ = false, listens_ = true;

    // Shared with the thread, which may hang in a dead mount.
    struct Drain {
        std::vector<agent::DrainedDirectory> result;
        std::atomic<bool> done{false};
    };
    std::shared_ptr<Drain> drain_;
};

void NodeKeeper::tell(const std::vector<std::string>& words) {
    std::string line = fmt::format("{}{}{}", keeper_word, keeper_separator, host_);
    for (const auto& word : words) {
        line += keeper_separator;
        for (const char c : std::string_view(word).substr(0, &word == &words.back() ? word.npos : word_bytes_max))
            line += c == '\n' || c == keeper_separator ? ' ' : c;
    }
    line = line.substr(0, line_bytes_max) + "\n";
    channel_.put(bytes_of(line));
    static_cast<void>(channel_.flush());
}

void NodeKeeper::end_within(sys::Clock::duration time) {
    auto end = sys::Clock::now() + std::max(time, sys::Clock::duration(0));
    if (kill_at_) end = std::min(end, *kill_at_ - before_kill);
    ends_at_ = ends_at_ ? std::min(*ends_at_, end) : end;
}

void NodeKeeper::hear(const std::string& line) {
    constexpr std::string_view end_word = "end ";
    std::uint64_t number = 0;
    if (!line.starts_with(end_word)) return;
    const auto* const begin = line.data() + end_word.size();
    if (std::from_chars(begin, line.data() + line.size(), number).ec == std::errc())
        end_within(seconds(std::min<std::uint64_t>(number, plan_.wait_seconds)));
}

void NodeKeeper::turn() {
    if (const auto directory = door_.serve(keeper_look); !directory.empty() && hosted_.insert(directory).second)
        tell({"hosted", directory});
    heed_signals();
    static_cast<void>(channel_.flush());
    if (!listens_) return;
    std::vector<std::byte> bytes;
    if (!channel_.take(bytes)) {
        listens_ = false;
        end_within(seconds(plan_.wait_seconds));
    }
    for (const auto byte : bytes) heard_ += static_cast<char>(byte);
    for (auto end = heard_.find('\n'); end != std::string::npos; end = heard_.find('\n')) {
        hear(heard_.substr(0, end));
        heard_.erase(0, end + 1);
    }
}

// The agents go on draining. If the job lives on after the signal, the keeper serves it as before.
void NodeKeeper::heed_signals() {
    const auto now = sys::Clock::now();
    if (signals_.come() != 0 && !kill_at_) {
        kill_at_ = now + seconds(plan_.kill_wait_seconds);
        tell({"signalled"});
        if (ends_at_) end_within(seconds(plan_.kill_wait_seconds));
    }
    if (!kill_at_) return;
    // `forebay job` may be killed before it sends `end`. Copies for a restart would stay in memory then.
    for (const auto& directory : hosted_)
        if (std::filesystem::exists(directory) && lingers_in(directory)) node::dismiss_lingering(directory);
    if (!wrote_left_ && !ends_at_ && now >= *kill_at_ - before_kill) {
        wrote_left_ = true;
        write_left_into_runs();
    }
    if (now < *kill_at_ + after_kill) return;
    kill_at_.reset();
    wrote_left_ = false;
}

std::set<std::string> NodeKeeper::directories() const {
    auto all = hosted_;
    const auto here = node::staging_directories(plan_.staging);
    for (const auto& directory : here ? *here : std::vector<std::string>())
        if (!is_locked(node::application_lock_path(directory)) && !is_locked(node::agent_lock_path(directory)))
            all.insert(directory);
    std::erase_if(all, [](const std::string& directory) { return !std::filesystem::exists(directory); });
    return all;
}

// Agents that only keep copies for a restart are asked to free them. False when the time is over.
bool NodeKeeper::wait_for_agents() {
    const auto works = [](const std::string& directory) {
        if (!std::filesystem::exists(directory)) return false;
        if (lingers_in(directory)) node::dismiss_lingering(directory);
        return is_locked(node::application_lock_path(directory)) || is_locked(node::agent_lock_path(directory));
    };
    while (!is_over()) {
        if (std::ranges::none_of(hosted_, works)) return true;
        turn();
    }
    return false;
}

void NodeKeeper::drain() {
    const auto all = directories();
    if (all.empty() || is_over()) return;
    drain_ = std::make_shared<Drain>();
    const auto left = std::chrono::duration_cast<seconds>(*ends_at_ - sys::Clock::now());
    // Only directories of this job wait for other nodes. An old leftover, whose node is lost, must not hold the job.
    std::vector<std::string> own, others;
    for (const auto& directory : all) (hosted_.contains(directory) ? own : others).push_back(directory);
    auto thread = sys::Thread::start([shared = drain_, own, others, left] {
        static_cast<void>(attempt([&] {
            shared->result = agent::drain_leftovers(own, view_maker(), {.remove = true, .nodes_wait = left});
            auto rest = agent::drain_leftovers(others, view_maker(), {.remove = true});
            std::ranges::move(rest, std::back_inserter(shared->result));
        }));
        shared->done = true;
    });
    if (!thread) return;
    thread->leave();
    while (!is_over() && !drain_->done) turn();
}

std::set<UncommittedPart> NodeKeeper::uncommitted() const {
    std::set<UncommittedPart> left;
    for (const auto& directory : directories())
        for (const auto& part : uncommitted_in(directory)) left.insert(part);
    return left;
}

void NodeKeeper::write_left_into_runs() const {
    std::set<std::string> places;
    for (const auto& part : uncommitted()) places.insert(part.directory);
    for (const auto& directory : places) static_cast<void>(attempt([&] { return agent::write_left(directory); }));
}

// True if nothing is left.
bool NodeKeeper::report() {
    const auto left = uncommitted();
    const bool drained = drain_ && drain_->done;
    const auto reason_of = [&](const UncommittedPart& part) -> std::string {
        for (const auto& directory : drained ? drain_->result : std::vector<agent::DrainedDirectory>()) {
            if (directory.directory != part.directory) continue;
            if (!directory.staged) return directory.staged.error().line();
            for (const auto& item : *directory.staged)
                if (item.name() == part.name) return item.text;
        }
        return "the time was over";
    };
    for (const auto& part : left) tell({"left", part.run, part.name, part.directory, reason_of(part)});
    if (kill_at_) write_left_into_runs();
    return left.empty();
}

Exit NodeKeeper::keep() {
    tell({"ready"});
    while (!ends_at_) turn();
    for (const auto& part : uncommitted()) tell({"staged", part.run, part.name});
    if (wait_for_agents()) drain();
    const bool all = report();
    tell({"done"});
    const auto deadline = sys::Clock::now() + last_lines_max;
    while (channel_.has_to_send() && sys::Clock::now() < deadline && channel_.flush()) door_.serve(keeper_look);
    return all ? Exit::good : Exit::found;
}

}  // namespace

Result<Exit> keep_node(const KeeperPlan& plan) {
    const sys::EndSignals signals;
    // Slurm sends signals such as USR1 of --signal to all steps, and a lost `forebay job` closes the pipes.
    sys::live_through_other_signals();
    FB_TRY_ASSIGN(door, agent::KeeperDoor::open(plan.staging, plan.id));
    FB_TRY_ASSIGN(channel, plan.call.empty() ? sys::Channel::standard() : call_job(plan.call, plan.token_file));
    auto keeper = std::make_unique<NodeKeeper>(plan, signals, std::move(door), std::move(channel));
    const auto exit = keeper->keep();
    const bool drains = keeper->drains();
    keeper.reset();
    // That thread must not see the end of the program's objects.
    if (drains) std::_Exit(static_cast<int>(exit));
    return exit;
}

}  // namespace forebay::cli
