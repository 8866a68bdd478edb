#include "transfer/migrate/project.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "core/base/attempt.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/local_file.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/thread.hpp"
#include "transfer/migrate/passes.hpp"

namespace forebay::migrate {

namespace {

constexpr double day_s = 86'400;
// For the lock of other projects that begin their copies: each reads the states of all projects.
constexpr std::chrono::minutes run_lock_max{10};
// Stored among a pass's counts: the weight of jobs without progress. Two jobs without any work are enough. A pass cut
// after a few seconds may have made progress or not: names come in batches. Such a job weighs a fifth.
constexpr const char* idle_jobs = "idle_jobs";
constexpr std::uint64_t idle_weight = 5, short_weight = 1, idle_max = 10;
constexpr std::int64_t short_s = 10;

Result<sys::FileLock> lock_project(const MigrationPlan& plan, const ProjectPlan& project) {
    auto lock = sys::FileLock::take(lock_path(plan, project));
    if (lock || lock.error().kind != ErrorKind::retry) return lock;
    return Error{ErrorKind::refused, "another forebay migrate works on this project", "nothing was changed",
                 "wait for it. forebay migrate PLAN --status shows its progress"};
}

// Held from the check of all projects' targets until this project's state shows that its copy has begun.
Result<sys::FileLock> lock_targets(const MigrationPlan& plan, const Runner& runner) {
    const auto end = sys::Clock::now() + run_lock_max;
    while (true) {
        FB_TRY(runner.go_on());
        auto lock = sys::FileLock::take(plan.state + "/lock");
        if (lock || lock.error().kind != ErrorKind::retry) return lock;
        if (sys::Clock::now() > end)
            return Error{ErrorKind::refused, lock.error().what, "nothing was changed", "repeat the same command"};
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

// ".a.json.json.12-X.tmp" belongs to "a.json.json", not to "a.json".
bool is_temporary_of(const std::string& name, const std::string& file) {
    return sys::is_temporary(name) && name.starts_with("." + file + ".") &&
           name.find('.', file.size() + 2) == name.rfind('.');
}

// Files left by a crash during the write of the state.
Result<> remove_unfinished(const MigrationPlan& plan, const ProjectPlan& project) {
    FB_TRY_ASSIGN(names, sys::names_in(plan.state));
    for (const auto& name : names)
        if (is_temporary_of(name, project.name + ".json") || is_temporary_of(name, project.name + ".links"))
            FB_TRY(sys::posix_store().remove(plan.state + "/" + name));
    return {};
}

// With a wrong clock the recorded begin of the wait may be in the future, or before the release.
bool has_wrong_begin(const ProjectState& state) {
    const auto now = now_s() + clocks_differ_s, began = state.of(Pass::wait).began_unix_s;
    if (began > now) return true;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Pass::wait); ++i)
        if (const auto ended = state.passes[i].ended_unix_s; ended <= now && ended > began + clocks_differ_s)
            return true;
    return false;
}

std::int64_t wait_end(const PassRecord& record, const ProjectPlan& project) {
    return record.began_unix_s + static_cast<std::int64_t>(project.wait_days * day_s + 0.999);
}

class ProjectRun {
public:
    ProjectRun(const MigrationPlan& plan, const ProjectPlan& project, ProjectState state, Runner& runner)
        : plan_(plan),
          project_(project),
          state_(std::move(state)),
          runner_(runner),
          passes_(plan_, project_, state_, runner_, [this] { return save(); }) {}

    Result<Ending> run(const Wishes& wishes);

private:
    Result<Ending> go(const Wishes& wishes);
    /// After a call stopped by the end of its job: returns an error if each further job would be stopped too.
    Result<> check_progress(std::int64_t began);
    Result<> save() const { return save_state(sys::posix_store(), plan_, state_, project_); }
    Result<> make(Pass pass);
    /// Returns true when the wait is over.
    Result<bool> wait();

    const MigrationPlan& plan_;
    const ProjectPlan& project_;
    ProjectState state_;
    Runner& runner_;
    Passes passes_;
    bool has_begun_ = false, has_ended_ = false;  // any pass, in this call
};

// A pass that begins anew each time makes no progress, nor does a job that ends at once.
Result<> ProjectRun::check_progress(std::int64_t began) {
    const auto pass = next_pass(state_, project_);
    if (!pass || !runner_.is_ended_by_job() || has_ended_) return {};
    auto& record = state_.of(*pass);
    const bool goes_on =
        *pass == Pass::copy || *pass == Pass::live_sync || *pass == Pass::final_sync || *pass == Pass::remove;
    if (has_begun_ && goes_on && now_s() - began >= short_s) return {};
    auto& weight = record.counts[idle_jobs];
    weight += has_begun_ && goes_on ? short_weight : idle_weight;
    if (weight < idle_max) return save();
    record.counts.erase(idle_jobs);
    const Error error{
        ErrorKind::refused,
        fmt::format("{}: {}: several jobs in a row ended without progress", project_.name, name_of(*pass)),
        "what was done is kept",
        "set a longer time in [batch] of the plan, and make its scripts again with --batch. Or run it outside a job"};
    record.error = error.line();
    record.was_stopped = false;
    FB_TRY(save());
    return error;
}

Result<Ending> ProjectRun::run(const Wishes& wishes) {
    const auto began = now_s();
    const auto ending = go(wishes);
    if (!ending && ending.error().kind == ErrorKind::retry) FB_TRY(check_progress(began));
    return ending;
}

Result<Ending> ProjectRun::go(const Wishes& wishes) {
    if (wishes.again) {
        FB_TRY(go_back(state_, *wishes.again));
        FB_TRY(save());
        runner_.say(fmt::format("again, starting from {}", name_of(*wishes.again)));
    }
    if (wishes.moved && next_pass(state_, project_)) {
        FB_TRY(passes_.note_roots());
        runner_.say("source and target are the present directories");
    }
    while (const auto pass = next_pass(state_, project_)) {
        if (wishes.until && *pass > *wishes.until) return Ending::reached;
        FB_TRY(runner_.go_on());
        // The plan may have a longer wait since.
        if (*pass == Pass::wait || (*pass == Pass::remove && !state_.is_being_removed)) {
            FB_TRY_ASSIGN(is_over, wait());
            if (!is_over) return Ending::waits;
            if (*pass == Pass::wait) continue;
        }
        FB_TRY(make(*pass));
    }
    return Ending::done;
}

Result<> ProjectRun::make(Pass pass) {
    auto& record = state_.of(pass);
    sys::FileLock claim;
    if (pass == Pass::copy && !has_copied(state_)) {
        FB_TRY_ASSIGN(lock, lock_targets(plan_, runner_));
        claim = std::move(lock);
        FB_TRY(TakenTargets(plan_).check(project_));
    }
    has_begun_ = true;
    ++record.starts;
    record.began_unix_s = now_s();
    record.error.clear();
    record.was_stopped = false;
    // Saved before the pass, under the lock: other projects see that this target is in use.
    FB_TRY(save());
    claim.release();
    runner_.say(fmt::format("{}: begun{}", name_of(pass), record.starts > 1 ? ", again" : ""));
    const auto outcome = passes_.make(pass);
    record.ended_unix_s = now_s();
    record.is_done = outcome.has_value();
    record.was_stopped = !outcome && !runner_.go_on();
    has_ended_ |= record.is_done;
    if (record.is_done) record.counts.erase(idle_jobs);
    if (!outcome) record.error = outcome.error().line();
    // The verb failed before its first entry, so the project is not bound to these places.
    if (pass == Pass::copy && !outcome &&
        (outcome.error().kind == ErrorKind::refused || outcome.error().kind == ErrorKind::missing))
        --record.starts;
    const auto saved = save();
    if (!outcome) {
        runner_.log(fmt::format("{}: {}", name_of(pass), outcome.error().line()));
        return with_context(outcome.error(),
                            fmt::format("{}: {}: {}", project_.name, name_of(pass), outcome.error().what));
    }
    FB_TRY(saved);
    runner_.say(fmt::format("{}: done in {}{}", name_of(pass), show_lasted(record.ended_unix_s - record.began_unix_s),
                            passes_.counts_text(pass)));
    return {};
}

Result<bool> ProjectRun::wait() {
    auto& record = state_.of(Pass::wait);
    const bool was_wrong = state_.wait_until_unix_s != 0 && has_wrong_begin(state_);
    if (was_wrong)
        runner_.say(
            fmt::format("wait: it began on {} by a wrong clock, and counts from now", show_date(record.began_unix_s)));
    if (was_wrong || state_.wait_until_unix_s == 0) {
        ++record.starts;
        record.began_unix_s = now_s();
        state_.wait_until_unix_s = 0;
    }
    const auto until = wait_end(record, project_);
    // A wait only grows. A smaller wait_days in the plan needs --again wait.
    if (until > state_.wait_until_unix_s) {
        state_.wait_until_unix_s = until;
        record.is_done = false;
        FB_TRY(save());
    }
    if (now_s() < state_.wait_until_unix_s) {
        runner_.say(fmt::format("wait: the source will be removed after {}, if it is unchanged{}",
                                show_date(state_.wait_until_unix_s), fewer_days_text(state_, project_)));
        return false;
    }
    if (record.is_done) return true;
    record.is_done = true;
    record.ended_unix_s = now_s();
    FB_TRY(save());
    runner_.say("wait: over");
    return true;
}

}  // namespace

std::string fewer_days_text(const ProjectState& state, const ProjectPlan& project) {
    if (wait_end(state.of(Pass::wait), project) >= state.wait_until_unix_s) return "";
    return fmt::format("; wait_days = {} in the plan is shorter and is ignored: --again wait starts that wait now",
                       project.wait_days);
}

ProjectEnd run_project(const MigrationPlan& plan, const ProjectPlan& project, const Wishes& wishes, TakenTargets& taken,
                       Stop& stop, const Runner::Tell& tell) {
    const auto ending = attempt([&]() -> Result<Ending> {
        FB_TRY_ASSIGN(lock, lock_project(plan, project));
        FB_TRY(remove_unfinished(plan, project));
        FB_TRY_ASSIGN(state, load_state(sys::posix_store(), plan, project, taken));
        const auto directory = reports_of(plan, project);
        FB_TRY(sys::posix_store().make_directory(directory));
        FB_TRY_ASSIGN(runner,
                      Runner::open(project, directory, fmt::format("{}/{}.out", plan.state, project.name), stop, tell));
        return ProjectRun(plan, project, std::move(state), runner).run(wishes);
    });
    if (ending) return {project.name, *ending};
    auto error = ending.error();
    const bool is_stop = error.kind == ErrorKind::retry && stop.is_asked();
    if (!error.what.starts_with(project.name + ": ")) error.what = fmt::format("{}: {}", project.name, error.what);
    tell(error.text());
    return {project.name, is_stop ? Ending::stopped : Ending::failed, std::move(error)};
}

Result<std::vector<ProjectEnd>> run_projects(const MigrationPlan& plan, const Wishes& wishes, Stop& stop,
                                             const Runner::Tell& tell) {
    FB_TRY(sys::make_directories_durable(sys::posix_store(), plan.state));
    FB_TRY(sys::make_directories_durable(sys::posix_store(), plan.reports));
    std::vector<ProjectEnd> ends(plan.projects.size());
    TakenTargets taken(plan);
    std::atomic<std::size_t> next{0};
    std::mutex telling;
    const Runner::Tell tell_alone = [&](const std::string& line) {
        const std::lock_guard lock(telling);
        tell(line);
    };
    const auto threads = std::min<std::uint64_t>(plan.at_once, plan.projects.size());
    sys::work_together(threads, [&] {
        for (std::size_t i = next++; i < ends.size(); i = next++)
            ends[i] = run_project(plan, plan.projects[i], wishes, taken, stop, tell_alone);
    });
    return ends;
}

}  // namespace forebay::migrate
