#include "transfer/migrate/runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/base/error_text.hpp"
#include "core/base/shell_words.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/local_file.hpp"
#include "core/sys/program.hpp"
#include "core/sys/store.hpp"

namespace forebay::migrate {

namespace {

// A pass is stopped this long before the job's end: a copy ends at once, but a script must still submit the next job.
constexpr std::int64_t before_job_end_s = 60;
// A program that ignores the request to end is killed after this time.
constexpr std::chrono::seconds asked_end_max{20};
constexpr std::chrono::hours verb_max{24 * 365};
// Time between two checks of a program's preconditions: a few system calls, or a request to a server.
constexpr std::chrono::seconds watch_pause{1};
// Output of a verb: counts, and the first 1,000 log entries with paths of at most 4,096 bytes.
constexpr std::uint64_t output_bytes_max = 16u << 20;
constexpr std::uint64_t shown_bytes_max = 2000;
constexpr int code_found = 1;

ErrorKind kind_of(int code) {
    switch (code) {
        case 2: return ErrorKind::refused;
        case 3: return ErrorKind::missing;
        case 4: return ErrorKind::corrupt;
        case 5: return ErrorKind::full;
        case 6: return ErrorKind::unsupported;
        default: return ErrorKind::broken;
    }
}

void add_counts(const nlohmann::json& object, Counts& counts) {
    for (const auto& [name, value] : object.items())
        if (value.is_number_unsigned() && name != "exit_code") counts[name] = value.get<std::uint64_t>();
}

Result<Counts> counts_in(const std::string& path) {
    FB_TRY_ASSIGN(text, sys::read_text(sys::posix_store(), path, output_bytes_max));
    try {
        const auto json = nlohmann::json::parse(text);
        Counts counts;
        add_counts(json, counts);
        add_counts(json.at("remarks"), counts);
        return counts;
    } catch (const std::exception& error) {
        return Error{ErrorKind::broken, fmt::format("a command printed invalid JSON: {}", show_text(error.what()))};
    }
}

}  // namespace

bool Stop::is_asked() {
    if (const int signal = come_(); signal != 0) signal_ = signal;
    if (job_end_ && sys::unix_ns() / second_ns >= *job_end_ - before_job_end_s) job_ends_ = true;
    return signal_ != 0 || job_ends_;
}

Error Stop::why() const {
    return {ErrorKind::retry,
            signal_ != 0 ? fmt::format("stopped by signal {}", signal_.load())
                         : std::string("stopped because the job is about to end"),
            "what was done is kept", "the same command continues"};
}

Result<Runner> Runner::open(const ProjectPlan& project, const std::string& directory, std::string output_path,
                            Stop& stop, Tell tell) {
    auto log_path = directory + "/log";
    FB_TRY_ASSIGN(log, sys::LogFile::open(log_path));
    Runner runner(project, std::move(log), stop);
    runner.log_path_ = std::move(log_path);
    runner.output_path_ = std::move(output_path);
    runner.tell_ = std::move(tell);
    return runner;
}

void Runner::say(const std::string& text) const {
    const auto line = log(text);
    if (tell_) tell_(line);
}

std::string Runner::log(const std::string& text) const {
    auto line = fmt::format("{}  {}  {}", show_utc(sys::unix_ns()), project_.name, text);
    log_.write(line);
    return line;
}

Result<> Runner::go_on() const {
    if (stop_.is_asked()) return stop_.why();
    return {};
}

Result<int> Runner::run(const sys::Spawn& spawn, const std::string& output_path, std::chrono::milliseconds at_most,
                        const Watch& watch) {
    FB_TRY(go_on());
    const auto began = sys::Clock::now();
    auto watched = began;
    std::optional<sys::Clock::time_point> asked;
    Result<> seen;
    const auto code = sys::run_in_front(spawn, output_path, [&] {
        const auto now = sys::Clock::now();
        if (watch && seen && now - watched > watch_pause) {
            seen = watch();
            watched = sys::Clock::now();
            if (!seen && !asked) asked = now;
        }
        if (!asked && (stop_.is_asked() || now - began > at_most)) asked = now;
        if (!asked) return 0;
        return now - *asked > asked_end_max ? sys::signal_kill : sys::signal_terminate;
    });
    FB_TRY(seen);
    FB_TRY(code);
    if (*code == 0 || !asked) return *code;
    FB_TRY(go_on());
    return Error{ErrorKind::refused,
                 fmt::format("it was stopped after {}", show_seconds(std::chrono::duration<double>(at_most).count()))};
}

// The log may have been rotated meanwhile. Then all of it is new.
Result<std::string> Runner::logged_since(std::uint64_t offset) const {
    FB_TRY_ASSIGN(text, sys::read_text(sys::posix_store(), log_path_, output_bytes_max));
    text.erase(0, std::min<std::uint64_t>(offset, text.size()));
    if (text.size() > shown_bytes_max) text.erase(0, text.size() - shown_bytes_max);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

Result<Runner::VerbEnd> Runner::verb(const std::vector<std::string>& arguments, const Watch& watch) {
    say("forebay " + show_text(shell_words(arguments)));
    // The program appends to the log: its own lines begin at the present size.
    FB_TRY_ASSIGN(before, sys::look_at(log_path_));
    FB_TRY_ASSIGN(code, run({.program = sys::program_path(),
                             .arguments = arguments,
                             .environment = {{"FOREBAY_PROGRESS", "1"}},
                             .log_path = log_path_},
                            output_path_, verb_max, watch));
    if (code == 0 || code == code_found) {
        FB_TRY_ASSIGN(counts, counts_in(output_path_));
        return VerbEnd{code == 0, std::move(counts)};
    }
    if (code > 128)
        return Error{ErrorKind::retry, fmt::format("forebay {} was ended by signal {}", arguments[0], code - 128),
                     "every file with its final name is whole", "the same command continues"};
    FB_TRY_ASSIGN(log, logged_since(before.bytes));
    const auto begin = log.rfind(program_prefix);
    return error_of_text(kind_of(code), begin == log.npos ? log : log.substr(begin));
}

Result<> Runner::hook(const std::string& name, const std::string& command, std::chrono::milliseconds at_most) {
    say(fmt::format("{}: {}", name, show_text(command)));
    FB_TRY_ASSIGN(before, sys::look_at(log_path_));
    const auto code = run({.program = "/bin/sh",
                           .arguments = {"-c", command},
                           .environment = {{"FOREBAY_PROJECT", project_.name},
                                           {"FOREBAY_SOURCE", project_.source},
                                           {"FOREBAY_TARGET", project_.target}},
                           .log_path = log_path_},
                          "", at_most);
    if (code && *code == 0) return {};
    if (!code && code.error().kind == ErrorKind::retry) return code.error();
    FB_TRY_ASSIGN(log, logged_since(before.bytes));
    return Error{
        ErrorKind::refused,
        fmt::format("the hook {} failed: {}{}", name, code ? fmt::format("exit code {}", *code) : code.error().what,
                    log.empty() ? ", and it printed nothing" : ": " + show_text(log)),
        "its changes stay", "correct the cause. The same command runs the hook again"};
}

}  // namespace forebay::migrate
