#include "program/run/job_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <thread>

#include "core/base/bytes.hpp"
#include "core/sys/process.hpp"
#include "program/run/job_keeper.hpp"

namespace forebay::cli {

namespace {

constexpr std::chrono::milliseconds lines_look{50};
constexpr std::chrono::seconds last_moment_max{5};
constexpr std::size_t shown_words_max = 400;
// Options of srun by the user's environment. They would label the lines of keepers, close their input, or take CPUs.
constexpr std::array variables_of_srun{"SLURM_LABELIO",     "SLURM_STDINMODE", "SLURM_STDOUTMODE",
                                       "SLURM_STDERRMODE",  "SLURM_TIMELIMIT", "SLURM_CPUS_PER_TASK",
                                       "SRUN_CPUS_PER_TASK"};

std::vector<std::string> words_of_line(const std::string& line) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= line.size();) {
        const auto end = std::min(line.find(keeper_separator, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

}  // namespace

JobNodes::JobNodes(const std::vector<KeeperStart>& starts, KeeperCalls* calls) : calls_(calls) {
    for (const auto& start : starts) {
        sys::Spawn spawn{.program = start.words.front(),
                         .arguments = {start.words.begin() + 1, start.words.end()},
                         .environment = {},
                         .environment_removed = {variables_of_srun.begin(), variables_of_srun.end()},
                         .log_path = {}};
        auto channel = sys::Channel::start(spawn);
        if (!channel) lost_.push_back(fmt::format("{}: {}", start.where, channel.error().line()));
        starters_.push_back({start, channel ? std::make_unique<sys::Channel>(std::move(*channel)) : nullptr});
    }
}

// Keepers that have reported end by themselves. The owner of a channel kills all other programs.
JobNodes::~JobNodes() {
    if (!are_done()) return;
    for (auto& starter : starters_)
        if (starter.channel) starter.channel->let_end(last_moment_max);
}

std::uint64_t JobNodes::keepers() const {
    std::uint64_t count = 0;
    for (const auto& starter : starters_) count += starter.start.keepers;
    return count;
}

std::uint64_t JobNodes::lost_count() const {
    std::uint64_t count = 0;
    for (const auto& starter : starters_) count += starter.channel ? 0 : starter.start.keepers;
    return count;
}

bool JobNodes::are_done() const {
    const auto ended = [](const Starter& starter) { return !starter.channel; };
    return std::ranges::all_of(starters_, ended) || (!ready_.empty() && done_.size() >= keepers());
}

std::set<std::string> JobNodes::silent() const {
    std::set<std::string> hosts;
    std::ranges::set_difference(ready_, done_, std::inserter(hosts, hosts.end()));
    return hosts;
}

void JobNodes::hear(const std::string& line) {
    const auto words = words_of_line(line);
    constexpr std::size_t staged_words = 5, left_words = 7;
    if (words.size() < 3 || words[0] != keeper_word) return;
    const auto &host = words[1], &what = words[2];
    if (what == "ready") ready_.insert(host);
    else if (what == "done") done_.insert(host);
    else if (what == "hosted") hosted_ = true;
    else if (what == "signalled") signalled_ = true;
    else if (what == "staged" && words.size() >= staged_words) staged_.insert({words[3], words[4]});
    else if (what == "left" && words.size() >= left_words)
        left_.push_back({host, words[3], words[4], words[5], words[6]});
}

void JobNodes::take(Starter& starter) {
    std::vector<std::byte> bytes;
    const auto taken = starter.channel->take(bytes);
    for (const auto byte : bytes) starter.heard += static_cast<char>(byte);
    for (auto end = starter.heard.find('\n'); end != std::string::npos; end = starter.heard.find('\n')) {
        hear(starter.heard.substr(0, end));
        starter.heard.erase(0, end + 1);
    }
    if (taken) return;
    auto words = starter.channel->last_words();
    while (!words.empty() && words.back() == '\n') words.pop_back();
    if (words.size() > shown_words_max) words.erase(0, words.size() - shown_words_max);
    // After end() a keeper may end, and its last line says so.
    if (!ending_ || done_.empty())
        lost_.push_back(
            fmt::format("{}: {}{}{}", starter.start.where, taken.error().what, words.empty() ? "" : ": ", words));
    starter.channel.reset();
}

void JobNodes::turn(sys::Clock::time_point until) {
    while (calls_ != nullptr) {
        auto call = calls_->next();
        if (!call) break;
        starters_.push_back({{{}, "a keeper", 0}, std::make_unique<sys::Channel>(std::move(*call))});
    }
    for (auto& starter : starters_) {
        if (!starter.channel) continue;
        static_cast<void>(starter.channel->flush());
        // Otherwise a full pipe of errors would stop the program.
        static_cast<void>(starter.channel->last_words());
        take(starter);
    }
    const auto now = sys::Clock::now();
    if (until > now) std::this_thread::sleep_for(std::min<sys::Clock::duration>(until - now, lines_look));
}

void JobNodes::end(std::chrono::seconds wait) {
    ending_ = true;
    const auto line = fmt::format("end {}\n", wait.count());
    for (auto& starter : starters_) {
        if (!starter.channel) continue;
        starter.channel->put(bytes_of(line));
        static_cast<void>(starter.channel->flush());
    }
}

}  // namespace forebay::cli
