// The extension module forebay._forebay_mpi: apart, so that reading and single processes need no MPI.

#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <utility>

#include "forebay/mpi.hpp"
#include "wished.hpp"

namespace nb = nanobind;
using namespace nanobind::literals;

NB_MODULE(_forebay_mpi, module) {
    nb::module_::import_("forebay._forebay");  // Options and Session are its types
    module.def(
        "dedicate",
        [](int fortran_world, const forebay::WishedOptions& wished) {
            const auto comm = forebay::dedicate(MPI_Comm_f2c(fortran_world), wished.options).value();
            return std::pair(comm != MPI_COMM_NULL, MPI_Comm_c2f(comm));
        },
        "fortran_world"_a, "options"_a, nb::call_guard<nb::gil_scoped_release>());
    module.def(
        "open_mpi",
        [](int fortran_comm, const forebay::WishedOptions& wished) {
            return forebay::open(MPI_Comm_f2c(fortran_comm), wished.options).value();
        },
        "fortran_comm"_a, "options"_a, nb::call_guard<nb::gil_scoped_release>());
}
