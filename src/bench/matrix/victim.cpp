// A job that is killed in the middle of a save: the same dumps under a separate mpiexec, whose processes end by
// SIGKILL. Nothing is reported or cleaned up, as when a node runs out of memory.

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "bench/matrix/trial.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/program.hpp"
#include "core/sys/store.hpp"
#include "core/sys/thread.hpp"

namespace forebay::bench {

namespace {

constexpr std::chrono::minutes victim_max{10};
constexpr int kill_signal = 9;
constexpr const char* may_run_as_root = "OMPI_ALLOW_RUN_AS_ROOT";

// A job within a job must not take itself for a part of it. Its environment only gets variables for places.
constexpr std::array kept{
    "PATH", "HOME", "USER", "LD_LIBRARY_PATH", "TMPDIR", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"};

std::vector<std::string> command_of(const RowSetting& setting, int ranks, const TrialPlace& place) {
    std::vector<std::string> command{"env", "-i"};
    for (const auto* name : kept)
        if (const char* value = std::getenv(name); value != nullptr)
            command.push_back(fmt::format("{}={}", name, value));
    // If root was allowed to start this job, it may start this part. mpiexec got that permission by an option that its
    // programs do not see.
    if (sys::user_id() == 0 && std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr)
        for (const auto* end : {"=1", "_CONFIRM=1"}) command.push_back(std::string(may_run_as_root) + end);
    // Allows more ranks than cores, as in this job.
    for (const auto* word : {"OMPI_MCA_rmaps_base_oversubscribe=1", "mpiexec", "-n"}) command.emplace_back(word);
    command.push_back(std::to_string(ranks));
    for (const auto& word : {sys::program_path(), std::string("bench"), std::string("run")}) command.push_back(word);
    for (const auto& [key, value] : setting.words) {
        if (key == "ranks" || value.empty()) continue;
        command.push_back("--" + key);
        command.push_back(value);
    }
    command.emplace_back("--victim");
    command.push_back(place.victim);
    return command;
}

}  // namespace

std::string victim_mark(const TrialPlace& place) { return place.targets.front() + "/" + place.name + "-killed"; }

Result<> run_victim(const RowSetting& setting, int ranks, const TrialPlace& place) {
    const auto output = sys::output_of(command_of(setting, ranks, place), victim_max);
    FB_TRY_ASSIGN(there, sys::posix_store().exists(victim_mark(place)));
    if (!output && output.error().kind == ErrorKind::broken && there) return {};
    if (!output && !there && sys::user_id() == 0 && std::getenv(may_run_as_root) == nullptr)
        return with_context(
            output.error(), "the job for the kill did not start: " + output.error().what, "",
            fmt::format("set {}=1 {}_CONFIRM=1 before the command, as Open MPI's mpiexec requires for root",
                        may_run_as_root, may_run_as_root));
    if (!output) return output.error();
    return Error{ErrorKind::broken, "the job for the kill has ended by itself"};
}

Result<> be_killed_in(std::chrono::duration<double> time) {
    FB_TRY_ASSIGN(thread, sys::Thread::start([time] {
                      std::this_thread::sleep_for(time);
                      sys::EndSignals::end_by(kill_signal);
                  }));
    thread.leave();
    return {};
}

}  // namespace forebay::bench
