// forebay bench and tune: measure with MPI, which the program forebay-mpi alone is linked to.

#include <filesystem>

#include "cli/verbs.hpp"
#include "sys/program.hpp"

namespace forebay::cli {

namespace {

constexpr const char* program = "forebay-mpi";

}  // namespace

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

void add_bench(CommandLine& line) {
    line.elsewhere("bench", "Measure saves, drains and restarts against the limits of this machine (with MPI)",
                   become_mpi_program);
}

void add_tune(CommandLine& line) {
    line.elsewhere("tune", "Find the options with which saves are fastest here, by trials in one job (with MPI)",
                   become_mpi_program);
}

}  // namespace forebay::cli
