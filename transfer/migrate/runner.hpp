// Runs the verbs of this program and the commands of the site as child processes. A child that crashes, hangs in a dead
// mount or is killed affects no other project. Users can run each verb themselves. Children end when this process ends
// in any way.
//
// Threads: a Runner belongs to one project and thread. All threads share a Stop.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/log_file.hpp"
#include "core/sys/process.hpp"
#include "transfer/migrate/plan.hpp"
#include "transfer/migrate/state.hpp"

namespace forebay::migrate {

/// Requests a stop: after a signal, or shortly before the job's end.
class Stop {
public:
    /// `come` returns the number of a signal, or 0. The job ends at `job_end_unix_s`, if known.
    Stop(std::function<int()> come, std::optional<std::int64_t> job_end_unix_s)
        : come_(std::move(come)), job_end_(job_end_unix_s) {}

    bool is_asked();
    int signal() const { return signal_; }
    /// True if the job's end is the probable reason: batch systems send SIGTERM then.
    bool is_by_job() const { return job_ends_ || signal_ == sys::signal_terminate; }
    /// `retry`: the next call continues.
    Error why() const;

private:
    std::function<int()> come_;
    std::optional<std::int64_t> job_end_;
    std::atomic<int> signal_{0};
    std::atomic<bool> job_ends_{false};
};

class Runner {
public:
    using Tell = std::function<void(const std::string& line)>;

    /// `directory`, which must exist, gets the log; `output_path` gets the output of verbs. `tell` gets each log line
    /// of the migration itself, not of its programs.
    static Result<Runner> open(const ProjectPlan& project, const std::string& directory, std::string output_path,
                               Stop& stop, Tell tell);

    struct VerbEnd {
        bool is_whole = false;  // exit code 0, not 1
        Counts counts;          // numbers of its --json, with log entries
    };
    /// Returns an error if a program must end; it becomes the program's result.
    using Watch = std::function<Result<>()>;
    /// Runs `forebay ARGUMENTS`, which must include --json. Exit codes other than 0 and 1 become errors.
    Result<VerbEnd> verb(const std::vector<std::string>& arguments, const Watch& watch = {});
    /// Runs a command of the site by a shell. Returns `refused` if it fails or takes too long.
    Result<> hook(const std::string& name, const std::string& command, std::chrono::milliseconds at_most);
    /// Logs a line with the time and passes it to `tell`.
    void say(const std::string& text) const;
    /// Only logs a line, and returns it.
    std::string log(const std::string& text) const;
    const std::string& log_path() const { return log_path_; }
    /// Returns an error if a stop is requested.
    Result<> go_on() const;
    bool is_ended_by_job() const { return stop_.is_by_job(); }

private:
    Runner(const ProjectPlan& project, sys::LogFile log, Stop& stop)
        : project_(project), log_(std::move(log)), stop_(stop) {}
    Result<int> run(const sys::Spawn& spawn, const std::string& output_path, std::chrono::milliseconds at_most,
                    const Watch& watch = {});
    Result<std::string> logged_since(std::uint64_t offset) const;

    const ProjectPlan& project_;
    sys::LogFile log_;
    Stop& stop_;
    std::string log_path_, output_path_;
    Tell tell_;
};

}  // namespace forebay::migrate
