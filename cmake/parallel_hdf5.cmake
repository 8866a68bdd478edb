# Parallel HDF5 for C, which some benchmarks compare with and `forebay bench run` writes: PARALLEL_HDF5_FOUND,
# PARALLEL_HDF5_INCLUDE_DIRS, PARALLEL_HDF5_C.
# Debian keeps HDF5's builds side by side: that of the MPI we have, then whatever pkg-config calls parallel HDF5.
foreach(package hdf5-openmpi hdf5-mpich hdf5)
  if(NOT PARALLEL_HDF5_C)
    pkg_check_modules(PARALLEL_HDF5_PC QUIET ${package})
    if(PARALLEL_HDF5_PC_FOUND)
      find_library(PARALLEL_HDF5_C hdf5 HINTS ${PARALLEL_HDF5_PC_LIBRARY_DIRS} NO_DEFAULT_PATH)
      set(PARALLEL_HDF5_INCLUDE_DIRS ${PARALLEL_HDF5_PC_INCLUDE_DIRS} CACHE INTERNAL "of parallel HDF5")
    endif()
  endif()
endforeach()
if(PARALLEL_HDF5_C)
  find_package(MPI REQUIRED COMPONENTS C)
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES ${PARALLEL_HDF5_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_LIBRARIES ${PARALLEL_HDF5_C} MPI::MPI_C)
  check_c_source_compiles("
    #include <hdf5.h>
    int main(void) { return H5Pset_fapl_mpio(0, MPI_COMM_WORLD, MPI_INFO_NULL) < 0; }" PARALLEL_HDF5_FOUND)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
