// The extension module forebay._forebay_mpi: apart, so that reading and single processes need no MPI.

#include <mpi.h>
#include <nanobind/nanobind.h>

#include "forebay/mpi.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

NB_MODULE(_forebay_mpi, module) {
    nb::module_::import_("forebay._forebay");  // Options and Session are its types
    module.def(
        "open_mpi",
        [](int fortran_comm, const forebay::Options& options) {
            return forebay::open(MPI_Comm_f2c(fortran_comm), options).value();
        },
        "fortran_comm"_a, "options"_a, nb::call_guard<nb::gil_scoped_release>());
}
