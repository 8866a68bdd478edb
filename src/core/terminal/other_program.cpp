#include "core/terminal/other_program.hpp"

#include <cstdlib>
#include <filesystem>

#include "core/sys/program.hpp"

namespace forebay::cli {

// Set in each process of a job by the launchers of Open MPI and MPICH, and by srun with PMI or PMIx.
bool started_by_launcher() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
        if (std::getenv(name) != nullptr) return true;
    return false;
}

Result<> check_alone() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
        if (const char* size = std::getenv(name); size != nullptr && std::strtol(size, nullptr, 10) > 1)
            return Error{ErrorKind::refused,
                         "MPI's launcher has started several processes, and this command needs only one", "",
                         "run the same command without mpiexec, or with one process"};
    return {};
}

Error become_mpi(const std::vector<std::string>& arguments) { return become(mpi_program, arguments); }

Error become(const OtherProgram& program, const std::vector<std::string>& arguments) {
    const auto beside = (std::filesystem::path(sys::program_path()).parent_path() / program.name).string();
    for (const auto& place : {beside, std::string(program.name)})
        if (auto failed = sys::become(place, arguments); failed.kind != ErrorKind::missing) return failed;
    return {ErrorKind::unsupported,
            arguments.front() + " needs " + program.name + ", which " + program.purpose +
                " and is not beside this forebay as " + beside + " or in PATH",
            "", program.next};
}

}  // namespace forebay::cli
