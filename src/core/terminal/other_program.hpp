// Programs that lie beside this program: forebay-mpi and forebay-transfer. Their verbs replace this process.

#pragma once

#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::cli {

struct OtherProgram {
    const char* name;
    const char* purpose;  // completes "which ..."
    const char* next;     // how to get the program
};

inline constexpr OtherProgram mpi_program{"forebay-mpi", "has MPI",
                                          "use a forebay that was built with -DFOREBAY_MPI=ON"};

/// True if MPI's launcher started this process as one of several.
bool started_by_launcher();
/// `refused` if MPI's launcher started several processes for a verb of a single process.
Result<> check_alone();
/// Replaces this program by forebay-mpi.
Error become_mpi(const std::vector<std::string>& arguments);
/// Replaces this program, with the same arguments. Returns only if that fails.
Error become(const OtherProgram& program, const std::vector<std::string>& arguments);

}  // namespace forebay::cli
