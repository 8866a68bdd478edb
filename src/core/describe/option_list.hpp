// The options of a stream, each once: key in the configuration, values, meaning, and member. The reader of the
// configuration, the check of sessions and streams, the comparison of ranks, the texts of the bindings and the table of
// docs/reference/configuration.md are made from this list.
//
// To add an option, add a member of StreamOptions, a line in each_option(), and the code that obeys it. each_option()
// calls `visit(Option, values, member)`. The type of `values` is the notation of the option:
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
    const char* meaning;  // one line, as in the table of the page, without links
};

/// A whole number from `least` to `most`.
struct Whole {
    std::int64_t least = 0;
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    bool least_is_unset = false;  // `least` means unset, in C++ only: a file leaves the option out

    template <class Integer>
    bool has(Integer value) const {
        return !std::cmp_less(value, least) && !std::cmp_greater(value, most);
    }
};

/// The longest wait, 31 years: a wait is added to the clock, which counts nanoseconds in 63 bits.
inline constexpr std::chrono::milliseconds wait_longest{std::chrono::seconds(1'000'000'000)};

/// A duration from 0 to `most`.
struct Seconds {
    std::chrono::milliseconds most = wait_longest;
};
struct Real {};
/// true or false.
struct Flag {};
/// Any text.
struct AnyText {
    const char* what;  // for people
};

/// One word of a list.
template <class T>
struct Word {
    const char* name;
    T value;
};
template <class T>
struct Words {
    std::span<const Word<T>> all;
};

/// A word with its own grammar.
template <class T>
struct Text {
    const char* values;  // the possible values, for people
    Result<T> (*parse)(const std::string&);
    std::string (*show)(const T&);
};

/// true, false, a convention or a list of conventions. For the members `view` and `conventions`.
struct Views {};
/// A codec, or a table of each_option(Compression) with rules for single variables. For both members of compression.
struct Compressions {};
/// A table of analyses by name. Each analysis is a table of the options of analysis_list.hpp.
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
    // A new member does not compile here until it has a line below.
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

/// The options of one compression rule.
template <class Rule, class Visit>
void each_option(Rule& rule, Visit&& visit) requires std::is_same_v<std::remove_const_t<Rule>, Compression> {
    auto& [codec, shuffle, level, error] = rule;
    visit(Option{"codec", "by what"}, Words<Codec>{codec_words}, codec);
    visit(Option{"shuffle", "what Blosc sorts before it compresses"}, Words<Shuffle>{shuffle_words}, shuffle);
    visit(Option{"level", "of lz4 and zstd; 0: as the time until the next save allows"}, Whole{0, 9}, level);
    visit(Option{"error", "of zfp: the largest absolute error of a value"}, Real{}, error);
}

/// Returns "1 or 2", "0 or more", "from 0 to 9", or "wait, wait_at_most, skip, newest_only".
std::string values_of(const Whole& range);
template <class T>
std::string values_of(const Words<T>& words) {
    std::string text;
    for (const auto& word : words.all) text += (text.empty() ? "" : ", ") + std::string(word.name);
    return text;
}

/// The name of an option in the configuration, and its value as text.
struct Setting {
    std::string name;
    std::string value;
    friend bool operator==(const Setting&, const Setting&) = default;
};
using Settings = std::vector<Setting>;

/// Returns every option with its value. They must be equal on all ranks.
Settings settings_of(const StreamOptions& options);

/// `refused`, with the option, if a value is not allowed by its line.
Result<> check_values(const std::string& stream, const StreamOptions& options);

/// The text of an option for people.
struct OptionLine {
    std::string key, values, by_default, meaning;
};
std::vector<OptionLine> stream_option_lines();

/// Converts a key of earlier versions with its TOML value to today's option: "file = \"combined:16\"". Empty for a key
/// that never existed.
std::string said_now(const std::string& key, const std::string& value);

}  // namespace forebay::describe
