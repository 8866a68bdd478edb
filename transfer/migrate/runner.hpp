// What a migration has others do: verbs of this program and commands of the site, as programs of their own. One that
// crashes, hangs in a dead mount or is killed takes no other project with it, and each verb is what people can call
// themselves. They end when this process ends, however that comes.
//
// Threads: a Runner is of one project and thread; a Stop is everybody's.

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

/// When all is to stop: a signal has come, or the job ends soon.
class Stop {
public:
    /// `come` gives the number of a signal, or 0. The job ends at `job_end_unix_s`, if that is known.
    Stop(std::function<int()> come, std::optional<std::int64_t> job_end_unix_s)
        : come_(std::move(come)), job_end_(job_end_unix_s) {}

    bool is_asked();
    int signal() const { return signal_; }
    /// By the end of a job, as far as it is known: batch systems send SIGTERM then.
    bool is_by_job() const { return job_ends_ || signal_ == sys::signal_terminate; }
    /// `retry`: the next call goes on.
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

    /// `directory`, which is there, gets the log; `output_path` what a verb prints. `tell` gets each line of the log
    /// that is not a program's.
    static Result<Runner> open(const ProjectPlan& project, const std::string& directory, std::string output_path,
                               Stop& stop, Tell tell);

    struct VerbEnd {
        bool is_whole = false;  // exit code 0, and not 1
        Counts counts;          // numbers of its --json; remarks among them
    };
    /// Whether a program may go on; an error ends it, and is what came of it.
    using Watch = std::function<Result<>()>;
    /// `forebay ARGUMENTS`, which have --json among them. Another exit code than 0 and 1 is its error.
    Result<VerbEnd> verb(const std::vector<std::string>& arguments, const Watch& watch = {});
    /// A command of the site, for a shell. `refused` where it does not end with 0, or not in time.
    Result<> hook(const std::string& name, const std::string& command, std::chrono::milliseconds at_most);
    /// A line of the log, with the time, that is told too.
    void say(const std::string& text) const;
    /// The same of what is told elsewhere. Gives the line.
    std::string log(const std::string& text) const;
    const std::string& log_path() const { return log_path_; }
    /// An error where all is to stop.
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
