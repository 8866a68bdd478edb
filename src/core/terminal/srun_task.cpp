#include "core/terminal/srun_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "core/sys/process.hpp"
#include "core/terminal/other_program.hpp"

namespace forebay::cli {

namespace {

// Slurm's daemon that starts the tasks of a step.
constexpr std::string_view starter = "slurmstepd";

constexpr std::array<std::string_view, 8> verbs_of_each_node{"agent",         "drain", "forward", "insitu",
                                                             "insitu-worker", "job",   "stagger", "tree-worker"};
constexpr std::array<std::string_view, 8> verbs_of_many_nodes{"walk",   "copy",      "sync", "compare",
                                                              "delete", "preflight", "tune", "bench"};

template <class Names>
bool has(const Names& names, std::string_view verb) {
    return std::ranges::find(names, verb) != names.end();
}

std::optional<std::int64_t> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    const std::string_view digits = text;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || number < 0) return std::nullopt;
    return number;
}

}  // namespace

std::optional<SrunTask> srun_task() {
    const auto index = number_in("SLURM_PROCID"), count = number_in("SLURM_STEP_NUM_TASKS");
    // Children of a task inherit its variables, so the parent's name decides.
    if (!index || !count || *count < 2 || sys::name_of_parent() != starter) return std::nullopt;
    return SrunTask{*index, *count};
}

Result<std::optional<int>> leave_to_first_task(std::string_view verb) {
    const auto task = srun_task();
    if (!task || has(verbs_of_each_node, verb)) return std::optional<int>();
    if (!has(verbs_of_many_nodes, verb)) return task->index == 0 ? std::optional<int>() : std::optional(0);
    if (started_by_launcher()) return std::optional<int>();
    return Error{ErrorKind::refused, fmt::format("srun started {} copies of forebay {} without MPI", task->count, verb),
                 "", "srun --mpi=pmix forebay ..., so that the copies share the work; or start one copy"};
}

}  // namespace forebay::cli
