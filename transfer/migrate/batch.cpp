#include "transfer/migrate/batch.hpp"

#include <fmt/format.h>

#include "core/base/shell_words.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/store.hpp"

namespace forebay::migrate {

namespace {

constexpr std::uint64_t script_bytes_max = 1u << 20;

// The first two lines of each script. A file with this beginning may be replaced.
std::string head_of(const MigrationPlan& plan) {
    return fmt::format("#!/bin/bash\n# Made by forebay migrate --batch of {}\n", show_text(plan.path));
}

std::string directives(const BatchPlan& batch, BatchSystem system, const std::string& name,
                       const std::string& directory) {
    const auto output = fmt::format("{}/{}.out", directory, name);
    std::string text;
    if (system == BatchSystem::slurm) {
        text += fmt::format("#SBATCH --job-name=migrate-{}\n#SBATCH --nodes={}\n#SBATCH --time={}\n", name, batch.nodes,
                            batch.time);
        text += fmt::format("#SBATCH --output={}\n#SBATCH --open-mode=append\n", output);
        if (!batch.queue.empty()) text += fmt::format("#SBATCH --partition={}\n", batch.queue);
        if (!batch.account.empty()) text += fmt::format("#SBATCH --account={}\n", batch.account);
    } else {
        // PBS Pro accepts 15 characters of a name everywhere.
        text += fmt::format("#PBS -N {}\n#PBS -l select={}\n#PBS -l walltime={}\n", name.substr(0, 15), batch.nodes,
                            batch.time);
        text += fmt::format("#PBS -j oe\n#PBS -o {}\n", output);
        if (!batch.queue.empty()) text += fmt::format("#PBS -q {}\n", batch.queue);
        if (!batch.account.empty()) text += fmt::format("#PBS -A {}\n", batch.account);
    }
    for (const auto& line : batch.lines) text += line + "\n";
    return text;
}

// `submit [OPTION...] SCRIPT`. If the submission fails, it prints that, and `code`, the script's exit code, becomes
// nonzero.
std::string submit_function(BatchSystem system) {
    return fmt::format(R"sh(submit() {{
    {0} "$@" && return
    echo "The lane of $(basename "${{@: -1}}" .sh) stands still until this was submitted: {0} ${{*@Q}}" >&2
    [ "$code" -ne 0 ] || code=1
}}
)sh",
                       system == BatchSystem::slurm ? "sbatch" : "qsub");
}

// `submit_at SECONDS SCRIPT` submits a job that begins not before that time.
std::string submit_at_function(BatchSystem system) {
    if (system == BatchSystem::slurm)
        return "submit_at() { submit --begin=\"$(date -d \"@$1\" +%Y-%m-%dT%H:%M:%S)\" \"$2\"; }\n";
    return "submit_at() { submit -a \"$(date -d \"@$1\" +%Y%m%d%H%M.%S)\" \"$2\"; }\n";
}

std::string script_of(const MigrationPlan& plan, std::size_t index, BatchSystem system, const std::string& directory,
                      const std::string& program) {
    const auto& project = plan.projects[index];
    auto text = fmt::format("{}{}\n", head_of(plan), directives(plan.batch, system, project.name, directory));
    text += fmt::format("forebay={}\nplan={}\nscripts={}\nproject={}\n", quoted(program), quoted(plan.path),
                        quoted(directory), quoted(project.name));
    std::string later;
    for (auto i = index + plan.at_once; i < plan.projects.size(); i += plan.at_once)
        later += (later.empty() ? "" : " ") + plan.projects[i].name;
    text += fmt::format("later=({})\n", later);
    text += submit_function(system) + submit_at_function(system);
    // Prints the next step of a project: "now", "waits SECONDS", "due", "running", "done" or "stopped".
    text += "next() { \"$forebay\" migrate \"$plan\" --project \"$1\" --next; }\n";
    const auto share = plan.rate_bytes_per_second / plan.at_once;
    // A job that returns after its wait has passed its lane on before.
    text += "\nread -r before _ <<< \"$(next \"$project\")\"\n";
    text += fmt::format("\"$forebay\" migrate \"$plan\" --project \"$project\"{}\ncode=$?\n",
                        share > 0 ? fmt::format(" --rate {}", share) : "");
    text += R"sh(
read -r word seconds <<< "$(next "$project")"
case "$word" in
now | due)
    # After an error that is not in its state, as when that could not be written, it would come again for ever.
    if [ "$code" -eq 0 ] || [ "$code" -ge 128 ]; then submit "$scripts/$project.sh"; fi
    exit "$code"
    ;;
running) exit "$code" ;;
waits) submit_at "$((seconds + 60))" "$scripts/$project.sh" ;;
esac
[ "$before" = due ] && exit "$code"
for other in "${later[@]}"; do
    if [ "$(next "$other")" = now ]; then
        submit "$scripts/$other.sh"
        break
    fi
done
exit "$code"
)sh";
    return text;
}

std::string submit_script(const MigrationPlan& plan, BatchSystem system, const std::string& directory) {
    auto text = fmt::format("{}# The first project of each lane.\ncode=0\n{}", head_of(plan), submit_function(system));
    for (std::size_t i = 0; i < plan.projects.size() && i < plan.at_once; ++i)
        text += fmt::format("submit {}\n", quoted(fmt::format("{}/{}.sh", directory, plan.projects[i].name)));
    return text + "exit \"$code\"\n";
}

}  // namespace

Result<BatchSystem> batch_system_from(const std::string& word) {
    if (word == "slurm") return BatchSystem::slurm;
    if (word == "pbs") return BatchSystem::pbs;
    return Error{ErrorKind::refused, fmt::format("--batch {}: write slurm or pbs", word)};
}

std::vector<BatchScript> batch_scripts(const MigrationPlan& plan, BatchSystem system, const std::string& directory,
                                       const std::string& program) {
    std::vector<BatchScript> scripts;
    for (std::size_t i = 0; i < plan.projects.size(); ++i)
        scripts.push_back({plan.projects[i].name + ".sh", script_of(plan, i, system, directory, program)});
    scripts.push_back({"submit.sh", submit_script(plan, system, directory)});
    return scripts;
}

Result<> write_scripts(const std::vector<BatchScript>& scripts, const std::string& directory) {
    auto& store = sys::posix_store();
    FB_TRY(sys::make_directories_durable(store, directory));
    // First check all files, then write: a refusal leaves no new script beside old ones.
    for (const auto& script : scripts) {
        const auto path = directory + "/" + script.name;
        const auto old = sys::read_text(store, path, script_bytes_max);
        if (!old && old.error().kind == ErrorKind::missing) continue;
        const auto head = script.text.substr(0, script.text.find('\n', script.text.find('\n') + 1) + 1);
        if (!old || !old->starts_with(head))
            return Error{ErrorKind::refused, fmt::format("{} exists, and was not made from this plan", show_text(path)),
                         "nothing was written", "choose another directory with --output"};
    }
    for (const auto& script : scripts)
        FB_TRY(sys::write_text_durable(store, directory + "/" + script.name, script.text));
    return {};
}

}  // namespace forebay::migrate
