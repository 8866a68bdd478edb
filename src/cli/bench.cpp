// forebay bench and tune: measure with MPI, which the program forebay-mpi alone is linked to.

#include <cstdlib>
#include <filesystem>

#include "cli/tree_hosts.hpp"
#include "cli/verbs.hpp"
#include "sys/program.hpp"

namespace forebay::cli {

namespace {

constexpr const char* program = "forebay-mpi";

}  // namespace

// What launchers of Open MPI, MPICH and their kin, and srun by PMI or PMIx, give to each process of a job.
bool started_by_launcher() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
        if (std::getenv(name) != nullptr) return true;
    return false;
}

// MPI's launcher has started this process and knows it by its number: forebay-mpi goes on in it.
Error become_mpi_program(const std::vector<std::string>& arguments) {
    const auto beside = (std::filesystem::path(sys::program_path()).parent_path() / program).string();
    for (const auto& place : {beside, std::string(program)})
        if (auto failed = sys::become(place, arguments); failed.kind != ErrorKind::missing) return failed;
    return {ErrorKind::unsupported,
            arguments.front() + " needs " + program + ", which has MPI and is neither beside this forebay as " +
                beside + " nor in PATH",
            "", "run the same command with a forebay that was built with -DFOREBAY_MPI=ON"};
}

void add_trees(CommandLine& line) {
    if (!started_by_launcher()) {
        add_walk(line, run_with_hosts);
        add_copy(line, run_with_hosts);
        add_sync(line, run_with_hosts);
        add_compare(line, run_with_hosts);
        add_delete(line, run_with_hosts);
        return;
    }
    for (const auto& [name, summary] : tree_summaries) line.elsewhere(name, summary, become_mpi_program);
}

void add_bench(CommandLine& line) {
    line.elsewhere("bench", "Measure saves, drains and restarts against the limits of this machine (with MPI)",
                   become_mpi_program);
}

void add_tune(CommandLine& line) {
    line.elsewhere("tune", "Find the options with which saves are fastest here, by trials in one job (with MPI)",
                   become_mpi_program);
}

}  // namespace forebay::cli
