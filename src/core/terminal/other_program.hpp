// Programs that lie beside this one: forebay-mpi and forebay-transfer. A verb of theirs is started in place of this
// process.

#pragma once

#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::cli {

struct OtherProgram {
    const char* name;
    const char* purpose;  // ends "which ..."
    const char* next;     // how to get it
};

inline constexpr OtherProgram mpi_program{"forebay-mpi", "has MPI",
                                          "use a forebay that was built with -DFOREBAY_MPI=ON"};

/// Whether MPI's launcher has started this process as one of several.
bool started_by_launcher();
/// `refused` for a verb that one process does, if MPI's launcher has started several of them.
Result<> check_alone();
/// Goes on as forebay-mpi.
Error become_mpi(const std::vector<std::string>& arguments);
/// Goes on as that program, with the arguments that this program was given. Returns only if that is not possible.
Error become(const OtherProgram& program, const std::vector<std::string>& arguments);

}  // namespace forebay::cli
