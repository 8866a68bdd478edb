// The options of a stream, each once: its key in the configuration, the values that it takes, what it means, and its
// member. The reader of the configuration, the check of a session and of a stream, the comparison of ranks, the texts
// of the bindings and the table of docs/reference/configuration.md come from here.
//
// A new option is a member of StreamOptions, a line of each_option(), and the place that obeys it. each_option() calls
// `visit(Option, values, member)`; the type of `values` says how the option is written:
//
//   Whole      slots = 2                    Words     policy = "skip"          Views         view = ["plain", "netcdf"]
//   Seconds    deadline_seconds = 0.5       Text      file = "combined:16"     Compressions  compression = "zstd"
//   Real       error = 1e-3             Analyses  insitu = { mean = { kind = "statistics", variables = ["gas/*"] } }

#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay::describe {

struct Option {
    const char* key;
    const char* meaning;  // one line, as the guide's table has it, without its links
};

/// A whole number in these bounds, both included.
struct Whole {
    std::int64_t least = 0;
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    bool least_is_unset = false;  // in C++ alone: in a file the option is left out instead

    template <class Integer>
    bool has(Integer value) const {
        return !std::cmp_less(value, least) && !std::cmp_greater(value, most);
    }
};

/// The longest wait, 31 years: the clock counts nanoseconds in 63 bits, and a wait is added to its time.
inline constexpr std::chrono::milliseconds wait_longest{std::chrono::seconds(1'000'000'000)};

/// A duration from 0 to `most`.
struct Seconds {
    std::chrono::milliseconds most = wait_longest;
};
struct Real {};
/// true or false.
struct Flag {};
/// A text of the user's own.
struct AnyText {
    const char* what;  // for people
};

/// One of some words.
template <class T>
struct Word {
    const char* name;
    T value;
};
template <class T>
struct Words {
    std::span<const Word<T>> all;
};

/// A word with a grammar of its own.
template <class T>
struct Text {
    const char* values;  // what it may be, for people
    Result<T> (*parse)(const std::string&);
    std::string (*show)(const T&);
};

/// true, false, a convention or a list of them; of the members `view` and `conventions`.
struct Views {};
/// A codec, or a table of each_option(Compression) and rules of single variables; of the two members for them.
struct Compressions {};
/// A table of analyses by their names, each of them a table of the options of analysis_list.hpp.
struct Analyses {};

inline constexpr Word<Policy> policy_words[] = {{"wait", Policy::wait},
                                                {"wait_at_most", Policy::wait_at_most},
                                                {"skip", Policy::skip},
                                                {"newest_only", Policy::newest_only}};
inline constexpr Word<Codec> codec_words[] = {
    {"none", Codec::none}, {"auto", Codec::automatic}, {"lz4", Codec::lz4}, {"zstd", Codec::zstd}, {"zfp", Codec::zfp}};
inline constexpr Word<Marked> marked_words[] = {{"pass_over", Marked::pass_over}, {"take", Marked::take}};
inline constexpr Word<Shuffle> shuffle_words[] = {
    {"none", Shuffle::none}, {"bytes", Shuffle::bytes}, {"bits", Shuffle::bits}};

/// `options`: StreamOptions, const or not.
template <class Options, class Visit>
void each_option(Options& options, Visit&& visit) requires std::is_same_v<std::remove_const_t<Options>, StreamOptions> {
    // A member that is new does not compile here before it has its line below.
    auto& [slots, policy, wait_max, keep, keep_abandoned, view, compression, variable_compression, priority, deadline,
           rate, conventions, file, insitu, marked, restart_from] = options;
    constexpr std::uint64_t int_max = std::numeric_limits<int>::max();
    visit(Option{"slots",
                 "how many snapshots stay in memory: with 2 a save can begin while the step before still drains"},
          Whole{1, 2}, slots);
    visit(Option{"policy", "what a save does if no slot is free"}, Words<Policy>{policy_words}, policy);
    visit(Option{"wait_max_seconds", "the longest wait with wait_at_most"}, Seconds{}, wait_max);
    visit(Option{"keep", "how many committed snapshots stay at the target"}, Whole{0, int_max}, keep);
    visit(Option{"keep_abandoned", "how many of the newest abandoned snapshots stay"}, Whole{-1, int_max},
          keep_abandoned);
    visit(Option{"view", "views at commit"}, Views{}, std::tie(view, conventions));
    visit(Option{"priority", "the priority of its drains: a higher number goes first and overtakes an active drain"},
          Whole{std::numeric_limits<int>::min(), int_max}, priority);
    visit(Option{"deadline_seconds", "how soon after its seal a snapshot must be durable"}, Seconds{}, deadline);
    visit(Option{"rate_bytes_per_second", "a limit for drains of this stream, below the agent's"}, Whole{}, rate);
    visit(Option{"file", "the file at the target for the data of a node"},
          Text<TargetFile>{"own, combined:N with N from 2 to 256, shared, shared-h5part", parse_target_file, name_of},
          file);
    visit(Option{"compression", "how node files are compressed on their way to the target"}, Compressions{},
          std::tie(compression, variable_compression));
    visit(Option{"insitu", "analyses that the agent makes of its snapshots during the run"}, Analyses{}, insitu);
    visit(Option{"marked", "what a restart does with a marked snapshot that is not named by its step"},
          Words<Marked>{marked_words}, marked);
    visit(Option{"restart_from", "makes one restart begin at the newest snapshot at or below this step"},
          Whole{-1, std::uint64_t{std::numeric_limits<std::int64_t>::max() - 1}, true}, restart_from);
}

/// Of one rule of compression.
template <class Rule, class Visit>
void each_option(Rule& rule, Visit&& visit) requires std::is_same_v<std::remove_const_t<Rule>, Compression> {
    auto& [codec, shuffle, level, error] = rule;
    visit(Option{"codec", "by what"}, Words<Codec>{codec_words}, codec);
    visit(Option{"shuffle", "what Blosc sorts before it compresses"}, Words<Shuffle>{shuffle_words}, shuffle);
    visit(Option{"level", "of lz4 and zstd; 0: as the time until the next save allows"}, Whole{0, 9}, level);
    visit(Option{"error", "of zfp: the largest absolute error of a value"}, Real{}, error);
}

/// "1 or 2", "0 or more", "from 0 to 9"; "wait, wait_at_most, skip, newest_only".
std::string values_of(const Whole& range);
template <class T>
std::string values_of(const Words<T>& words) {
    std::string text;
    for (const auto& word : words.all) text += (text.empty() ? "" : ", ") + std::string(word.name);
    return text;
}

/// A name as in the configuration, and its value as text.
struct Setting {
    std::string name;
    std::string value;
    friend bool operator==(const Setting&, const Setting&) = default;
};
using Settings = std::vector<Setting>;

/// Every option with its value: what ranks must have alike.
Settings settings_of(const StreamOptions& options);

/// `refused`, with the option named, for a value that its line of the list excludes.
Result<> check_values(const std::string& stream, const StreamOptions& options);

/// What people are told of an option.
struct OptionLine {
    std::string key, values, by_default, meaning;
};
std::vector<OptionLine> stream_option_lines();

/// A key of earlier versions, and how its value, as TOML writes it, is said now: "file = \"combined:16\"". Empty for a
/// key that never was one.
std::string said_now(const std::string& key, const std::string& value);

}  // namespace forebay::describe
