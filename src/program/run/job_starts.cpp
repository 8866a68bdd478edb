#include "program/run/job_starts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "core/base/shell_words.hpp"
#include "core/base/text_lines.hpp"
#include "core/base/try.hpp"
#include "core/describe/host_list.hpp"
#include "core/sys/store.hpp"

namespace forebay::cli {

namespace {

constexpr std::size_t hosts_max = 100'000;
// The keepers share the CPUs of the job and take no memory of it from other steps. If a node fails, the other keepers
// live on.
constexpr std::array srun_words{"srun",       "--overlap",          "--mem=0",  "--quiet",
                                "--mpi=none", "--cpu-bind=none",    "--wait=0", "--kill-on-bad-exit=0",
                                "--no-kill",  "--ntasks-per-node=1"};

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// A step of a heterogeneous job has nodes of all its parts only with a part for each program. So each part has a step.
Result<std::vector<KeeperStart>> starts_by_srun(const StartPlan& plan, const std::vector<std::string>& keeper) {
    std::vector<KeeperStart> starts;
    const auto add = [&](std::uint64_t nodes, const std::vector<std::string>& options, const std::string& where) {
        auto words = std::vector<std::string>(srun_words.begin(), srun_words.end());
        words.push_back(fmt::format("--nodes={}", nodes));
        words.push_back(fmt::format("--ntasks={}", nodes));
        starts.push_back({joined(joined(std::move(words), options), keeper), where, nodes});
    };
    const auto parts = std::strtoul(plan.environment("SLURM_HET_SIZE").c_str(), nullptr, 10);
    if (parts == 0) {
        auto nodes = plan.environment("SLURM_JOB_NUM_NODES");
        if (nodes.empty()) nodes = plan.environment("SLURM_NNODES");
        add(std::max<std::uint64_t>(1, std::strtoul(nodes.c_str(), nullptr, 10)), {}, "srun of the keepers");
        return starts;
    }
    for (std::size_t part = 0; part < std::min<std::size_t>(parts, hosts_max); ++part) {
        const auto variable = fmt::format("SLURM_JOB_NODELIST_HET_GROUP_{}", part);
        FB_TRY_ASSIGN(hosts, describe::hosts_of(plan.environment(variable.c_str())));
        add(std::max<std::uint64_t>(1, hosts.size()), {fmt::format("--het-group={}", part)},
            fmt::format("srun of the keepers of part {}", part));
    }
    return starts;
}

// The hosts of --hosts, else of the job of PBS, in the order of its file. That file has a line for each rank.
Result<std::vector<std::string>> hosts_to_keep(const StartPlan& plan) {
    auto list = plan.hosts;
    if (const auto file = plan.environment("PBS_NODEFILE"); list.empty() && !file.empty()) {
        constexpr std::uint64_t bytes_max = 16u << 20;
        FB_TRY_ASSIGN(text, sys::read_text(sys::posix_store(), file, bytes_max));
        list = text;
    }
    return describe::hosts_of(list);
}

// pbs_tmrsh takes the name of a host, pbsdsh the number of a line of the file. Both work without ssh between nodes.
std::string launcher_of_pbs(const StartPlan& plan) {
    if (!plan.hosts.empty() || !plan.ssh.empty() || in_slurm(plan) || plan.environment("PBS_JOBID").empty() ||
        plan.environment("PBS_NODEFILE").empty())
        return "";
    for (const auto* program : {"pbs_tmrsh", "pbsdsh"})
        if (plan.has_program(program)) return program;
    return "";
}

}  // namespace

bool in_slurm(const StartPlan& plan) { return !plan.environment("SLURM_JOB_ID").empty(); }

bool need_calls(const StartPlan& plan) { return !launcher_of_pbs(plan).empty(); }

Result<std::vector<KeeperStart>> keeper_starts(const StartPlan& plan, const std::vector<std::string>& keeper,
                                               const std::vector<std::string>& calls) {
    if (in_slurm(plan) && plan.hosts.empty()) return starts_by_srun(plan, keeper);
    FB_TRY_ASSIGN(hosts, hosts_to_keep(plan));
    const auto pbs = launcher_of_pbs(plan), ssh = plan.ssh.empty() ? std::string("ssh") : plan.ssh;
    const auto& own = plan.own_host;
    std::vector<KeeperStart> starts;
    std::set<std::string> known;
    for (std::size_t line = 0; line < hosts.size(); ++line) {
        const auto& host = hosts[line];
        if (!known.insert(host).second) continue;
        const bool is_here =
            host == "localhost" || host == own || own.starts_with(host + ".") || host.starts_with(own + ".");
        std::vector<std::string> words;
        if (is_here) {
            words = keeper;
        } else if (!pbs.empty()) {
            words = pbs == "pbsdsh" ? std::vector{pbs, std::string("-n"), std::to_string(line), std::string("--")}
                                    : std::vector{pbs, host};
            words = joined(joined(std::move(words), keeper), calls);
        } else {
            for (const auto word : words_of(ssh)) words.emplace_back(word);
            words.push_back(host);
            // A shell of the other host reads them.
            for (const auto& word : keeper) words.push_back(shell_words({word}));
        }
        starts.push_back({std::move(words), host, 1});
    }
    if (starts.size() > hosts_max) return Error{ErrorKind::refused, fmt::format("more than {} hosts", hosts_max)};
    if (starts.empty()) starts.push_back({keeper, own, 1});
    return starts;
}

}  // namespace forebay::cli
