#include "program/run/job_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/base/try.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/process.hpp"
#include "core/sys/target_store.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"

namespace forebay::cli {

namespace {

// A busy controller of Slurm answers late.
constexpr std::chrono::seconds controller_max{60};
constexpr std::uint64_t chain_bytes_max = 200;
// In the file until the number of the next job is known. That job may read it earlier.
constexpr const char* unknown_job = "0";

// The value of NAME=VALUE in the output of scontrol. Some values fill the rest of their line.
std::string shown_value(const std::string& shown, const std::string& name, bool whole_line) {
    for (std::size_t at = shown.find(name + "="); at != std::string::npos; at = shown.find(name + "=", at + 1)) {
        if (at > 0 && shown[at - 1] != ' ' && shown[at - 1] != '\n') continue;
        const auto begin = at + name.size() + 1;
        auto value = shown.substr(begin, shown.find_first_of(whole_line ? "\n" : " \n", begin) - begin);
        while (!value.empty() && value.back() == ' ') value.pop_back();
        return value == "(null)" || value == "N/A" ? "" : value;
    }
    return "";
}

struct ShownOption {
    const char* name;
    const char* option;
    bool whole_line = false;
};
// Values that mean the same as options of sbatch.
constexpr ShownOption same_values[] = {{"JobName", "--job-name", true},
                                       {"Partition", "--partition"},
                                       {"Account", "--account"},
                                       {"QOS", "--qos"},
                                       {"Reservation", "--reservation"},
                                       {"Features", "--constraint"},
                                       {"ExcNodeList", "--exclude"},
                                       {"MinMemoryNode", "--mem"},
                                       {"MinMemoryCPU", "--mem-per-cpu"},
                                       {"Gres", "--gres"},
                                       {"Licenses", "--licenses"},
                                       {"Comment", "--comment", true},
                                       {"MailUser", "--mail-user"},
                                       {"MailType", "--mail-type"},
                                       {"WorkDir", "--chdir", true},
                                       {"ReqNodeList", "--nodelist"},
                                       {"Nice", "--nice"},
                                       {"WCKey", "--wckey"}};
// Slurm sets these variables only if the option was given.
constexpr std::pair<const char*, const char*> option_variables[] = {{"SLURM_NTASKS", "--ntasks"},
                                                                    {"SLURM_CPUS_PER_TASK", "--cpus-per-task"},
                                                                    {"SLURM_NTASKS_PER_NODE", "--ntasks-per-node"}};

// The output files of the next job have its own number.
std::string with_number(std::string path, const std::string& job) {
    if (const auto at = path.rfind(job); !job.empty() && at != std::string::npos && at > path.rfind('/'))
        path.replace(at, job.size(), "%j");
    return path;
}

// scontrol prints the script's path and its arguments without quotes. The path may have blanks: the longest existing
// file is the script.
std::size_t script_bytes_of(const std::string& command) {
    std::error_code failed;
    for (auto end = command.size(); end != std::string::npos && end > 0; end = command.rfind(' ', end - 1))
        if (std::filesystem::is_regular_file(command.substr(0, end), failed)) return end;
    return std::min(command.find(' '), command.size());
}

}  // namespace

Result<std::vector<std::string>> sbatch_words(const std::string& shown,
                                              const std::function<std::string(const char*)>& environment,
                                              const std::vector<std::string>& more) {
    std::vector<std::string> words{"sbatch"};
    const auto add = [&](const std::string& option, const std::string& value) {
        if (!value.empty()) words.push_back(option + "=" + value);
    };
    for (const auto& [name, option, whole_line] : same_values) add(option, shown_value(shown, name, whole_line));
    const auto nodes = shown_value(shown, "NumNodes", false);
    add("--nodes", nodes);
    const auto time = shown_value(shown, "TimeLimit", false);
    if (!time.empty() && time.find_first_not_of("0123456789:-") == std::string::npos) add("--time", time);
    // "gres:gpu:2" or "gres/gpu:2"
    if (auto per_node = shown_value(shown, "TresPerNode", false); per_node.starts_with("gres"))
        add("--gres", per_node.substr(std::string("gres:").size()));
    if (shown_value(shown, "OverSubscribe", false) == "NO") words.emplace_back("--exclusive");
    for (const auto& [name, option] : option_variables) add(option, environment(name));
    const auto job = environment("SLURM_JOB_ID");
    const auto output = with_number(shown_value(shown, "StdOut", true), job);
    const auto errors = with_number(shown_value(shown, "StdErr", true), job);
    add("--output", output);
    if (errors != output) add("--error", errors);
    words.insert(words.end(), more.begin(), more.end());
    const auto command = shown_value(shown, "Command", true);
    if (command.empty())
        return Error{ErrorKind::missing, "scontrol show job prints no script of this job", "",
                     "start the chain with sbatch SCRIPT, not with a command or from standard input"};
    // The script's own arguments follow its path.
    const auto script_bytes = script_bytes_of(command);
    words.push_back(command.substr(0, script_bytes));
    std::istringstream parts(command.substr(script_bytes));
    for (std::string part; parts >> part;) words.push_back(part);
    return words;
}

Result<Chain::Newest> Chain::newest() const {
    auto& store = sys::target_store();
    Newest by_stream;
    const auto streams = catalog::streams(store, plan_.run);
    if (!streams && streams.error().kind == ErrorKind::missing) return by_stream;
    FB_TRY(streams);
    for (const auto& stream : *streams) {
        FB_TRY_ASSIGN(history, catalog::history(store, plan_.run, stream));
        if (!history.living.empty()) {
            const auto& head = history.living.front().head;
            by_stream[stream] = {head.lineage.line(), head.step};
        }
    }
    return by_stream;
}

Result<Chain> Chain::begin(const ChainPlan& plan) {
    const auto job = sys::environment_value("SLURM_JOB_ID");
    if (job.empty())
        return Error{ErrorKind::refused, "--chain works in a job of Slurm, and SLURM_JOB_ID is not set", "",
                     "submit the script with sbatch, or leave out --chain"};
    for (const auto* name : {"SLURM_ARRAY_JOB_ID", "SLURM_HET_SIZE"})
        if (!sys::environment_value(name).empty())
            return Error{ErrorKind::refused,
                         fmt::format("--chain cannot repeat job arrays and heterogeneous jobs ({} is set)", name), "",
                         "submit each simulation as a job of its own, or leave out --chain"};
    Chain chain(plan);
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(before, chain.newest());
    chain.before_ = std::move(before);
    const auto kept = sys::read_text(store, plan.run + "/" + catalog::chain_mark, chain_bytes_max);
    if (!kept && kept.error().kind != ErrorKind::missing) return kept.error();
    if (kept) {
        // The count holds for the job that the chain submitted. Another job begins a new chain.
        std::istringstream words(*kept);
        std::string submitted;
        std::uint64_t count = 0;
        if (words >> submitted >> count && (submitted == job || submitted == unknown_job)) {
            chain.without_progress_ = count;
            chain.is_successor_ = true;
        }
    }
    FB_TRY_ASSIGN(there, store.exists(plan.run));
    if (there) FB_TRY(store.remove(plan.run + "/" + catalog::continue_mark));
    return chain;
}

Result<std::string> Chain::finish(const CommandEnd& end) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(is_unfinished, store.exists(plan_.run + "/" + catalog::continue_mark));
    FB_TRY_ASSIGN(after, newest());
    const bool progress = std::ranges::any_of(after, [&](const auto& stream) {
        const auto known = before_.find(stream.first);
        if (known == before_.end()) return true;
        // A new session has a new line, so a line alone is no progress. Only the first job may go back on purpose.
        return known->second.second < stream.second.second || (!is_successor_ && known->second < stream.second);
    });
    const auto ends = [&](const std::string& reason) -> Result<std::string> {
        static_cast<void>(store.remove(plan_.run + "/" + catalog::chain_mark));
        return fmt::format("the chain ends: {}", reason);
    };
    if (end.code == 0 && !is_unfinished) return ends("the simulation is done, or was asked to stop");
    if (!is_unfinished && end.by_signal && !end.at_limit) return ends("the job was cancelled");
    const auto count = progress ? 0 : without_progress_ + 1;
    if (count > plan_.limit)
        return ends(
            fmt::format("{} committed no newer step. Find the reason in the output of the job, then submit "
                        "the script again",
                        count == 1 ? "this job" : fmt::format("the last {} jobs", count)));
    return submit(count);
}

Result<std::string> Chain::submit(std::uint64_t count) {
    auto& store = sys::target_store();
    const auto job = sys::environment_value("SLURM_JOB_ID");
    FB_TRY_ASSIGN(shown, sys::output_of({"scontrol", "show", "job", job}, controller_max));
    FB_TRY_ASSIGN(words, sbatch_words(shown, sys::environment_value, plan_.options));
    // The count must be durable before the next job exists. Otherwise a chain that cannot write would never end.
    const auto mark = plan_.run + "/" + catalog::chain_mark;
    FB_TRY(sys::write_text_durable(store, mark, fmt::format("{} {}\n", unknown_job, count)));
    // The next job goes on from the newest snapshot, not from a step that this job went back to.
    words.insert(words.begin(), {"env", "-u", "FOREBAY_RESTART", "-u", "FOREBAY_KEEPER"});
    FB_TRY_ASSIGN(answer, sys::output_of(words, controller_max));
    // "Submitted batch job 124"
    std::istringstream parts(answer);
    std::string next;
    for (std::string part; parts >> part;)
        if (part.find_first_not_of("0123456789") == std::string::npos) next = part;
    FB_TRY(sys::write_text_durable(store, mark, fmt::format("{} {}\n", next, count)));
    return fmt::format("the next job of the chain is {}{}", next.empty() ? "submitted" : "job " + next,
                       count == 0 ? "" : fmt::format(". Jobs in a row without a newer step: {}", count));
}

}  // namespace forebay::cli
