// Opening over a communicator, for C and for Fortran.

#pragma once

#include <forebay/h5part/H5Part.h>
#include <mpi.h>

namespace forebay::h5part {

H5PartFile* open_over(const char* name, char flags, MPI_Comm comm, h5part_int64_t align);

}  // namespace forebay::h5part
