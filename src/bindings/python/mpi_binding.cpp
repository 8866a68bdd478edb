// The extension module forebay._forebay_mpi. It is separate, so that reading and single processes need no MPI.

#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <utility>

#include "forebay/mpi.hpp"
#include "wished.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace {

// MPI ends a process that converts a handle before MPI_Init or after MPI_Finalize. With MPI_COMM_NULL the library
// refuses the call instead.
MPI_Comm communicator(int fortran_comm) {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun != 0 && ended == 0 ? MPI_Comm_f2c(fortran_comm) : MPI_COMM_NULL;
}

}  // namespace

NB_MODULE(_forebay_mpi, module) {
    nb::module_::import_("forebay._forebay");  // it defines Options and Session
    module.def(
        "dedicate",
        [](int fortran_world, const forebay::WishedOptions& wished) {
            const auto comm =
                forebay::waiting([&] { return forebay::dedicate(communicator(fortran_world), wished.options); });
            return std::pair(comm != MPI_COMM_NULL, MPI_Comm_c2f(comm));
        },
        "fortran_world"_a, "options"_a);
    module.def(
        "open_mpi",
        [](int fortran_comm, const forebay::WishedOptions& wished) {
            return forebay::waiting([&] { return forebay::open(communicator(fortran_comm), wished.options); });
        },
        "fortran_comm"_a, "options"_a);
}
