// The options of a session, its agents and its job, each once, in the form of option_list.hpp: key in the
// configuration, values, meaning and member. Each line also says if ranks may differ, and if the agent reads the option
// in the session file. The reader of the configuration, the check of a session, the comparison of ranks, the session
// file and the tables of docs/reference/configuration.md are made from this list.
//
// To add an option, add a member of Options, AgentOptions or JobOptions, a line in each_option(), and the code that
// obeys it. each_option() calls `visit(SessionOption, values, member)`. The type of `values` is a type of
// option_list.hpp or one of these:
//
//   WholeOrAuto   copy_threads = "auto"            FlagOrAuto       direct = "auto"
//   RealRange     slowdown_percent_max = 2.5       Pages            block_bytes = 16777216
//   TargetList    storage_targets = "0-13"         HostList         exclude_nodes = "nid[1-4]"
//   TextList      forward_to = ["host7:4711"]      EnvironmentList  environment = { A = "b" }
//   OptionTable   [agent]                          StreamTables     [streams.NAME]
//   OnlyWord      log = "stderr"

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/limits.hpp"
#include "core/describe/option_list.hpp"
#include "forebay/options.hpp"

namespace forebay::describe {

// Enough for any storage. More would only cost memory and threads.
inline constexpr std::uint64_t in_flight_max = 64, cores_max = 64;
// Above 100 % a drain doubles the time of a step, so a limit has no use.
inline constexpr double slowdown_percent_max_max = 100;
inline constexpr std::chrono::hours retry_pause_max{1}, linger_max{168};
// A machine of ten thousand hosts has fewer writers.
inline constexpr std::uint64_t forwarders_max = 1024, neighbours_max = 64;

/// A whole number, or "auto", which is stored as 0.
struct WholeOrAuto {
    Whole range;
};
/// true, false or "auto".
struct FlagOrAuto {};
inline constexpr Word<Direct> direct_words[] = {
    {"false", Direct::no}, {"true", Direct::yes}, {"auto", Direct::automatic}};
/// Bytes in whole pages.
struct Pages {
    std::uint64_t bytes = 4096;
};
/// A number from `least` to `most`.
struct RealRange {
    double least = 0, most = 0;
    const char* least_means = "";
};
/// The only allowed word sets the flag.
struct OnlyWord {
    const char* word;
};
struct TextList {
    std::size_t most = 0;
};
/// In the syntax of storage_targets.hpp. If `may_be_file`, also "@FILE".
struct TargetList {
    bool may_be_file = false;
};
/// In the syntax of host_list.hpp, or "@FILE".
struct HostList {};
/// Variables of an environment, by name.
struct EnvironmentList {};
/// A table with its own options.
struct OptionTable {};
/// A table for each stream, with the options of option_list.hpp.
struct StreamTables {};

inline constexpr Word<AgentMode> mode_words[] = {
    {"process", AgentMode::process}, {"thread", AgentMode::thread}, {"dedicated", AgentMode::dedicated}};

/// Says if the value must be equal on all ranks.
enum class AcrossRanks { alike, may_differ };
/// Says if the agent reads the option in the session file. `later`: older session files lack it, and the value is then
/// T{}, which is how agents worked at that time.
enum class InSessionFile { no, always, later };

struct SessionOption : Option {
    AcrossRanks ranks = AcrossRanks::alike;
    InSessionFile in_file = InSessionFile::no;
    const char* by_default = "";  // for people, if the default value itself is not clear
};

/// `options`: AgentOptions, const or not.
template <class Given, class Visit>
void each_option(Given& options, Visit&& visit) requires std::is_same_v<std::remove_const_t<Given>, AgentOptions> {
    // A new member does not compile here until it has a line below.
    auto& [mode, program, environment, cores, cpus, block_bytes, in_flight, rate, slowdown, direct, retries,
           retry_pause, linger, timings, metrics_directory, storage_targets, exclude_targets, avoid_slow_targets,
           exclude_nodes, neighbours, avoid_slow_nodes, forwarders, forward_address, forward_to, forward_token_file] =
        options;
    using O = SessionOption;
    using enum InSessionFile;
    constexpr auto alike = AcrossRanks::alike, may_differ = AcrossRanks::may_differ;
    constexpr std::uint64_t int_max = std::numeric_limits<int>::max();
    visit(O{{"mode", "process: outlives the application (under Slurm usually not its job step), and makes views."}},
          Words<AgentMode>{mode_words}, mode);
    visit(O{{"cores", "with mode = dedicated: how many ranks of each machine"}}, Whole{1, cores_max}, cores);
    visit(O{{"program", "the forebay command"}, may_differ, later, "found"}, AnyText{"a program"}, program);
    visit(O{{"cpus", "a list such as 0-3,8 to pin the agent to"}, may_differ, always, "all of the job's"},
          AnyText{"a list of CPUs"}, cpus);
    visit(O{{"block_bytes", "bytes of one write: whole pages"}, alike, always, "16 MiB"}, Pages{}, block_bytes);
    visit(O{{"in_flight", "writes at once"}, alike, always}, Whole{1, in_flight_max}, in_flight);
    visit(O{{"rate_bytes_per_second", "a limit for each agent; 0 is none"}, alike, always}, Whole{}, rate);
    visit(O{{"slowdown_percent_max", "how much slower the computing may get while this agent drains, in percent"},
            alike,
            later},
          RealRange{0, slowdown_percent_max_max, "no limit"}, slowdown);
    visit(O{{"direct", "write past the page cache"}, alike, always}, FlagOrAuto{}, direct);
    visit(O{{"retries", "how often a failing operation is repeated before the application gets the error"},
            alike,
            always},
          Whole{0, int_max}, retries);
    visit(O{{"retry_pause_seconds", "the pause before the first repetition"}, alike, always}, Seconds{retry_pause_max},
          retry_pause);
    visit(O{{"timings", "keep the times of saves and drains in the run"}, alike, later}, Flag{}, timings);
    visit(O{{"linger_seconds", "how long an agent that is a process keeps the staged copies"}, alike, later},
          Seconds{linger_max}, linger);
    visit(O{{"metrics_directory", "the directory in which each agent keeps a file of metrics"},
            may_differ,
            later,
            "none"},
          AnyText{"a directory"}, metrics_directory);
    visit(O{{"storage_targets", "on Lustre: the OSTs for node files"}, alike, later, "as the file system places files"},
          TargetList{}, storage_targets);
    visit(O{{"exclude_targets", "OSTs that get no new node files"}, alike, later, "none"}, TargetList{true},
          exclude_targets);
    visit(O{{"avoid_slow_targets", "avoid an OST for new node files when an agent has found it slow"}, alike, later},
          Flag{}, avoid_slow_targets);
    visit(O{{"exclude_nodes", "hosts that must not write node files to the target themselves"}, alike, no, "none"},
          HostList{}, exclude_nodes);
    visit(O{{"neighbours", "how many agents of this job also write for nodes that are excluded or slow"}},
          Whole{0, neighbours_max}, neighbours);
    visit(O{{"avoid_slow_nodes", "let a node that drains at less than half the usual rate write through a neighbour"}},
          Flag{}, avoid_slow_nodes);
    visit(O{{"forwarders", "how many of the last hosts of the job write to the target for the rest"}},
          Whole{0, forwarders_max}, forwarders);
    visit(O{{"forward_address", "the interface (ib0) or address at which clients reach a forwarder"},
            may_differ,
            no,
            "all"},
          AnyText{"an interface or address"}, forward_address);
    visit(O{{"forward_to", "addresses of running forwarders"}, alike, no, "none"}, TextList{forwarders_max},
          forward_to);
    visit(
        O{{"forward_token_file", "with forward_to: the token file that forebay forward made"}, may_differ, no, "none"},
        AnyText{"a file"}, forward_token_file);
    visit(O{{"environment", "environment variables only for the agent"}, may_differ, always, "none"}, EnvironmentList{},
          environment);
}

/// `options`: JobOptions, const or not.
template <class Given, class Visit>
void each_option(Given& options, Visit&& visit) requires std::is_same_v<std::remove_const_t<Given>, JobOptions> {
    auto& [wall_time, reserve] = options;
    using O = SessionOption;
    visit(O{{"wall_time_seconds", "the time of this job, from the opening of the session on"}, {}, {}, "asked"},
          Seconds{}, wall_time);
    visit(O{{"reserve_seconds", "the time that must be left for saving, draining and ending"}}, Seconds{}, reserve);
}

/// `options`: Options, const or not. A file does not contain its functions, or the notes of load_options().
template <class Given, class Visit>
void each_option(Given& options, Visit&& visit) requires std::is_same_v<std::remove_const_t<Given>, Options> {
    auto& [run, create_parents, staging, virtual_nodes, huge_pages, agent, job, open_wait, takeover_wait, close_wait,
           stall_wait, window, copy_threads, log, interrupted, streams, profile, in_file, run_in_file, log_to_stderr] =
        options;
    using O = SessionOption;
    constexpr auto alike = AcrossRanks::alike, may_differ = AcrossRanks::may_differ;
    constexpr auto no = InSessionFile::no;
    constexpr std::uint64_t int_max = std::numeric_limits<int>::max();
    visit(O{{"run", "the directory at the target that holds the streams"}, alike, no, "none"}, AnyText{"a directory"},
          run);
    visit(O{{"create_parents", "make the directories above run too"}}, Flag{}, create_parents);
    visit(O{{"staging", "the directory in which node files are staged"}, may_differ, no, "/dev/shm"},
          AnyText{"a directory"}, staging);
    visit(O{{"virtual_nodes", "how many parts the ranks of each machine are split into"}}, Whole{1, int_max},
          virtual_nodes);
    visit(O{{"huge_pages", "align large variables for huge pages"}}, Flag{}, huge_pages);
    visit(O{{"open_wait_seconds", "how long opening a session waits for the target to take a small file"}}, Seconds{},
          open_wait);
    visit(O{{"takeover_wait_seconds", "how long the session of another host that holds the run lock is watched"}},
          Seconds{}, takeover_wait);
    visit(O{{"close_wait_seconds", "how long close() waits for the agents"}}, Seconds{}, close_wait);
    visit(O{{"stall_wait_seconds", "how long a save waits for a slot while the agent gets nothing done"}}, Seconds{},
          stall_wait);
    visit(O{{"restart_window_bytes", "memory of each node to read node files from the target"}, alike, no, "16 MiB"},
          Whole{}, window);
    visit(O{{"copy_threads", "threads of each rank that copy a save"}},
          WholeOrAuto{{1, static_cast<std::uint64_t>(limits::copy_threads_max)}}, copy_threads);
    visit(O{{"profile", "a file of forebay tune, or auto for the file that fits best"}, alike, no, "none"},
          AnyText{"a file, or auto"}, profile);
    visit(O{{"log", "stderr: without a log function of the application, log lines go to standard error"},
            may_differ,
            no,
            "none"},
          OnlyWord{"stderr"}, log_to_stderr);
    visit(O{{"agent", ""}}, OptionTable{}, agent);
    visit(O{{"job", ""}}, OptionTable{}, job);
    visit(O{{"streams", ""}}, StreamTables{}, streams);
}

/// Returns every option that must be equal on all ranks, with its value, also "agent.cores" and "streams.NAME.slots".
Settings settings_of(const Options& options);

/// `refused`, with the option, if a value is not allowed by its line. Use check_values(stream, options) for the options
/// of streams.
Result<> check_values(const Options& options);
/// The same for the options of an agent, "agent.cores".
Result<> check_values(const AgentOptions& options);

/// Returns the text of each option for people, also "agent.cores", without the options of streams.
std::vector<OptionLine> session_option_lines();

}  // namespace forebay::describe
