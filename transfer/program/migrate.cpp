// forebay migrate: moves projects from one store to another, pass by pass, by a plan.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/base/shell_words.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/job_end.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/process.hpp"
#include "core/sys/program.hpp"
#include "core/terminal/advice_file.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/sizes.hpp"
#include "core/terminal/words.hpp"
#include "transfer/migrate/batch.hpp"
#include "transfer/migrate/passes.hpp"
#include "transfer/migrate/project.hpp"
#include "transfer/program/verbs.hpp"

namespace forebay::cli {

namespace {

using migrate::MigrationPlan;
using migrate::Pass;
using migrate::ProjectPlan;
using migrate::ProjectState;

constexpr std::uint64_t plan_bytes_read_max = 8u << 20;
constexpr std::uint64_t log_bytes_read_max = 64u << 20;  // a line a minute for a year
constexpr std::chrono::seconds batch_answer_max{10};

struct MigrateArguments {
    std::string plan, until, again, batch, output;
    std::vector<std::string> projects;
    std::uint64_t rate = 0;
    bool dry_run = false, status = false, next = false, moved = false, json = false;
};

Result<MigrationPlan> plan_of(const MigrateArguments& options) {
    const auto path = std::filesystem::absolute(options.plan).lexically_normal().string();
    FB_TRY_ASSIGN(text, input_text("PLAN", path, plan_bytes_read_max,
                                   "write a plan as in transfer/docs/how-to/move-a-project.md"));
    FB_TRY_ASSIGN(plan, migrate::read_plan(text, path));
    if (!plan.rate.empty()) {
        FB_TRY_ASSIGN(rate, bytes_from("rate", plan.rate));
        plan.rate_bytes_per_second = rate;
    }
    if (options.rate > 0) plan.rate_bytes_per_second = options.rate;
    return migrate::chosen_from(std::move(plan), options.projects);
}

enum class ProjectStanding { now, due, running, waits, done, stopped };

// The progress of a project, and its next step.
struct Stand {
    std::string name;
    ProjectStanding standing = ProjectStanding::now;
    std::optional<Pass> pass;
    ProjectState state;
    std::string error;
};

// An unreadable state is reported as its project's standing, so the other projects are still shown.
Stand stand_of(const MigrationPlan& plan, const ProjectPlan& project, migrate::TakenTargets& taken) {
    Stand stand{.name = project.name};
    auto state = migrate::load_state(sys::posix_store(), plan, project, taken);
    const auto is_held = sys::lock_state(migrate::lock_path(plan, project));
    if (!state || !is_held) {
        stand.standing = ProjectStanding::stopped;
        stand.error = (state ? is_held.error() : state.error()).line();
        return stand;
    }
    stand.state = std::move(*state);
    stand.pass = migrate::next_pass(stand.state, project);
    if (!stand.pass) {
        stand.standing = ProjectStanding::done;
        return stand;
    }
    const auto& record = stand.state.of(*stand.pass);
    stand.error = record.error;
    if (*is_held) stand.standing = ProjectStanding::running;
    else if (*stand.pass == Pass::wait && stand.state.wait_until_unix_s > sys::unix_ns() / migrate::second_ns)
        stand.standing = ProjectStanding::waits;
    else if (!record.error.empty() && !record.was_stopped) stand.standing = ProjectStanding::stopped;
    else if (stand.state.wait_until_unix_s > 0) stand.standing = ProjectStanding::due;
    return stand;
}

std::string word_of(const Stand& stand) {
    switch (stand.standing) {
        case ProjectStanding::now: return "now";
        case ProjectStanding::due: return "due";
        case ProjectStanding::running: return "running";
        case ProjectStanding::waits: return fmt::format("waits {}", stand.state.wait_until_unix_s);
        case ProjectStanding::done: return "done";
        case ProjectStanding::stopped: break;
    }
    return "stopped";
}

std::string pass_word(const Stand& stand) { return stand.pass ? std::string(name_of(*stand.pass)) : "-"; }

// Verbs log their progress every minute. Lines of the migration itself begin with a date.
std::string last_progress(const MigrationPlan& plan, const ProjectPlan& project) {
    const auto log =
        sys::read_text(sys::posix_store(), migrate::reports_of(plan, project) + "/log", log_bytes_read_max);
    if (!log || !log->ends_with('\n')) return "";
    const auto line = log->substr(log->rfind('\n', log->size() - 2) + 1);
    return line[0] >= '0' && line[0] <= '9' ? "" : show_text(line.substr(0, line.size() - 1));
}

std::string note_of(const Stand& stand, const MigrationPlan& plan, const ProjectPlan& project) {
    if (stand.standing == ProjectStanding::running) return last_progress(plan, project);
    if (stand.standing != ProjectStanding::waits) return "";
    return fmt::format("until {}{}", migrate::show_date(stand.state.wait_until_unix_s),
                       migrate::fewer_days_text(stand.state, project));
}

// Prints why a project has stopped.
void say_error(const Stand& stand) {
    if (stand.standing != ProjectStanding::stopped) return;
    say("\n{} has stopped{}:\n", stand.name, stand.pass ? fmt::format(" in {}", name_of(*stand.pass)) : "");
    say(Shown{wrapped("  ", show_text(stand.error))});
}

std::uint64_t count_of(const ProjectState& state, Pass pass, const char* name) {
    const auto& counts = state.of(pass).counts;
    const auto count = counts.find(name);
    return count == counts.end() ? 0 : count->second;
}

Json stand_json(const Stand& stand) {
    auto object = Json::object();
    object.set("project", stand.name).set("source", stand.state.source).set("target", stand.state.target);
    object.set("state", word_of(stand).substr(0, word_of(stand).find(' '))).set("pass", pass_word(stand));
    object.set("entries", count_of(stand.state, Pass::walk, "entries"));
    object.set("bytes", count_of(stand.state, Pass::walk, "bytes"));
    object.set("wait_until_unix_s", stand.state.wait_until_unix_s).set("error", stand.error);
    auto passes = Json::object();
    for (std::size_t i = 0; i < migrate::pass_names.size(); ++i) {
        const auto& record = stand.state.passes[i];
        auto row = Json::object();
        row.set("done", record.is_done).set("starts", record.starts);
        row.set("began_unix_s", record.began_unix_s).set("ended_unix_s", record.ended_unix_s);
        passes.set(std::string(migrate::pass_names[i]), row);
    }
    return object.set("passes", passes);
}

// Returns `found` if a project has stopped. `were_told`: the reasons were printed before.
Exit show_status(const MigrationPlan& plan, Json* answer, bool were_told) {
    auto list = Json::array();
    std::vector<Stand> stands;
    migrate::TakenTargets taken(plan);
    auto code = Exit::good;
    Table table({{"project"}, {"state"}, {"pass"}, {"entries", true}, {"bytes", true}, {""}});
    for (const auto& project : plan.projects) {
        const auto stand = stand_of(plan, project, taken);
        if (stand.standing == ProjectStanding::stopped) code = Exit::found;
        list.push(stand_json(stand));
        const auto word = word_of(stand);
        table.row({stand.name, word.substr(0, word.find(' ')), pass_word(stand),
                   std::to_string(count_of(stand.state, Pass::walk, "entries")),
                   show_bytes(count_of(stand.state, Pass::walk, "bytes")), note_of(stand, plan, project)});
        stands.push_back(stand);
    }
    if (answer != nullptr) {
        answer->set("projects", list);
        return code;
    }
    say(table.text());
    if (!were_told)
        for (const auto& stand : stands) say_error(stand);
    return code;
}

void show_next(const MigrationPlan& plan) {
    migrate::TakenTargets taken(plan);
    for (const auto& project : plan.projects) {
        const auto stand = stand_of(plan, project, taken);
        if (plan.projects.size() > 1) say("{} ", stand.name);
        say("{}\n", word_of(stand));
    }
}

// Prints what a call would do with each project, without touching any.
Result<> show_dry_run(const MigrationPlan& plan, const migrate::Wishes& wishes) {
    migrate::TakenTargets taken(plan);
    for (const auto& project : plan.projects) {
        auto stand = stand_of(plan, project, taken);
        if (wishes.again && !stand.state.project.empty()) {
            FB_TRY(migrate::go_back(stand.state, *wishes.again));
            stand.pass = migrate::next_pass(stand.state, project);
        }
        say("{}: {} to {}\n", project.name, project.source, project.target);
        if (!stand.pass || stand.state.project.empty() || stand.standing == ProjectStanding::running ||
            stand.standing == ProjectStanding::waits) {
            say("  {} {}\n", word_of(stand), note_of(stand, plan, project));
            say_error(stand);
            continue;
        }
        for (auto i = static_cast<std::size_t>(*stand.pass); i < migrate::pass_names.size(); ++i) {
            const auto pass = static_cast<Pass>(i);
            if ((wishes.until && pass > *wishes.until) || (pass >= Pass::wait && !project.removes)) break;
            if (pass == Pass::live_sync && plan.sync_turns == 0) continue;
            auto call = shell_words(migrate::call_of(pass, plan, project));
            if (!call.empty()) call.insert(0, "forebay ");
            if (pass == Pass::freeze) call = project.freeze;
            if (pass == Pass::release) call = project.release;
            if (pass == Pass::wait)
                call = fmt::format("{} {}", project.wait_days, project.wait_days == 1 ? "day" : "days");
            say("  {:<11} {}\n", std::string(name_of(pass)), call);
        }
    }
    return {};
}

Result<> write_batch(const MigrationPlan& plan, const MigrateArguments& options) {
    FB_TRY_ASSIGN(system, migrate::batch_system_from(options.batch));
    const auto directory =
        std::filesystem::absolute(options.output.empty() ? "." : options.output).lexically_normal().string();
    FB_TRY(migrate::write_scripts(migrate::batch_scripts(plan, system, directory, sys::program_path()), directory));
    say("{} scripts in {}: bash {}/submit.sh\n", plan.projects.size() + 1, directory, directory);
    return {};
}

Result<std::optional<std::int64_t>> job_end() {
    const auto ask = [](const std::vector<std::string>& command) { return sys::output_of(command, batch_answer_max); };
    FB_TRY_ASSIGN(end, sys::find_job_end(sys::environment_value, ask, sys::unix_ns() / migrate::second_ns));
    return end.unix_seconds;
}

// As in transfer/docs/reference/what-is-kept.md: different trees are no damage, and the end of a job is no error.
Exit exit_of_end(const migrate::ProjectEnd& end) {
    if (end.ending != migrate::Ending::failed) return Exit::good;
    return end.error.kind == ErrorKind::corrupt ? Exit::found : exit_of(end.error.kind);
}

Result<Exit> run(const MigrationPlan& plan, const migrate::Wishes& wishes, Json* answer) {
    FB_TRY_ASSIGN(end_of_job, job_end());
    const sys::EndSignals signals;
    migrate::Stop stop([&] { return signals.come(); }, end_of_job);
    FB_TRY_ASSIGN(ends, migrate::run_projects(plan, wishes, stop,
                                              [](const std::string& line) { note(lines("{}\n", Message{line})); }));
    auto code = Exit::good;
    for (const auto& end : ends) code = std::max(code, exit_of_end(end));
    static_cast<void>(show_status(plan, answer, true));
    if (stop.signal() != 0) sys::EndSignals::end_by(stop.signal());
    return code;
}

Result<Exit> migrate_all(const MigrateArguments& options, Json& given_answer) {
    FB_TRY_ASSIGN(plan, plan_of(options));
    migrate::Wishes wishes{.moved = options.moved};
    if (!options.until.empty()) {
        FB_TRY_ASSIGN(pass, migrate::pass_from("--until", options.until));
        wishes.until = pass;
    }
    if (!options.again.empty()) {
        FB_TRY_ASSIGN(pass, migrate::pass_from("--again", options.again));
        wishes.again = pass;
    }
    const int kinds = options.status + options.next + options.dry_run + !options.batch.empty();
    if (kinds > 1) return Error{ErrorKind::refused, "give only one of --status, --next, --dry-run and --batch"};
    if (options.moved && options.projects.empty())
        return Error{ErrorKind::refused, "--moved needs one or more --project", "nothing was changed",
                     "--moved --project NAME"};
    auto* answer = options.json ? &given_answer : nullptr;
    if (kinds == 0) return run(plan, wishes, answer);
    if (options.status) return show_status(plan, answer, false);
    if (options.json)
        return Error{ErrorKind::refused, "--next, --dry-run and --batch print no JSON", "nothing was changed",
                     "leave --json out. --status --json reports the progress of each project"};
    if (options.next) show_next(plan);
    if (options.dry_run) FB_TRY(show_dry_run(plan, wishes));
    if (!options.batch.empty()) FB_TRY(write_batch(plan, options));
    return Exit::good;
}

}  // namespace

void add_migrate(CommandLine& line) {
    const auto options = std::make_shared<MigrateArguments>();
    auto verb =
        line.verb("migrate", "Move whole projects to another store by a plan: copy, freeze, sync, compare, remove");
    verb.argument("PLAN", options->plan, "The plan, a TOML file: transfer/docs/how-to/move-a-project.md");
    verb.option("--project", options->projects, "Move only the project of this name. Repeatable");
    verb.option("--until", options->until, "Stop after this pass: walk, copy, live-sync, freeze, final-sync, ...");
    verb.option("--again", options->again, "Begin again with this pass, even if it is done");
    verb.flag("--moved", options->moved,
              "Accept source and target on other mounts than before, and record these directories");
    verb.bytes("--rate", options->rate,
               "Limit the rate of all projects to so many bytes a second. 0: the rate of the plan");
    verb.flag("--dry-run", options->dry_run, "Change nothing. Print the next pass of each project");
    verb.flag("--status", options->status, "Print the progress of each project. Exit code 1 if a project has stopped");
    verb.flag("--next", options->next,
              "Print the next state for scripts: now, waits UNIX_SECONDS, due (the removal), running, done or stopped "
              "(by an error)");
    verb.option("--batch", options->batch, "Write scripts for data mover nodes instead: slurm or pbs");
    verb.option("--output", options->output, "Write these scripts to this directory. Default: the current directory");
    verb.answer(
        options->json,
        "  An object: projects, a list: project, source, target, state (now, waits, due, running, done, stopped),\n"
        "  pass, entries, bytes, wait_until_unix_s, error, passes (by name: done, starts, began_unix_s, "
        "ended_unix_s).\n",
        [options](Json& answer) { return migrate_all(*options, answer); });
    verb.examples(
        "  forebay migrate plan.toml --dry-run\n  forebay migrate plan.toml --until live-sync\n  forebay migrate "
        "plan.toml --project climate\n  forebay migrate plan.toml --batch slurm --output jobs\nAfter a kill, an error "
        "or the end of a job, repeat the same command: it continues. If trees differ\nunexpectedly, the exit code is 1 "
        "and nothing is removed.\n");
}

}  // namespace forebay::cli
