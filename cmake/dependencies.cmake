# What the libraries and the program stand on. ARCHITECTURE.md says why each is there; scripts/bootstrap installs them.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal>=2.30)
pkg_check_modules(BLOSC REQUIRED IMPORTED_TARGET blosc>=1.21)
find_package(zfp 1.0 CONFIG REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(tomlplusplus 3.0 REQUIRED)
find_package(CLI11 2.1 REQUIRED)

if(FOREBAY_MPI)
  set(MPI_CXX_SKIP_MPICXX TRUE)  # the C++ bindings that MPI-3 removed
  find_package(MPI 3.0 REQUIRED COMPONENTS CXX)
endif()

# Fortran needs MPI: its codes bring communicators. libFuzzer's flags are clang's alone.
if(FOREBAY_FORTRAN AND FOREBAY_MPI AND NOT FOREBAY_FUZZ)
  include(CheckLanguage)
  check_language(Fortran)
endif()
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  find_package(MPI REQUIRED COMPONENTS Fortran)
  set(FOREBAY_MODULES ${PROJECT_BINARY_DIR}/modules)  # module files, which only the compiler that wrote them reads
else()
  set(FOREBAY_FORTRAN OFF)
endif()

# The package is for the interpreter that has nanobind: that of the tests, or the one pip builds with. A sanitized library
# cannot be loaded by an interpreter that is not.
if(FOREBAY_PYTHON AND NOT FOREBAY_FUZZ AND NOT FOREBAY_SANITIZE)
  if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${forebay_venv_python})
    set(Python_EXECUTABLE ${forebay_venv_python})
  endif()
  find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
  if(Python_FOUND)
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_package(nanobind CONFIG QUIET)
  endif()
endif()
if(NOT nanobind_FOUND)
  if(SKBUILD)
    message(FATAL_ERROR "nanobind was not found for ${Python_EXECUTABLE}")
  endif()
  set(FOREBAY_PYTHON OFF)
endif()

# Debian keeps a serial and an MPI build of HDF5 side by side; we need the serial one, whatever FindHDF5 would choose.
if(FOREBAY_HDF5)
  add_library(forebay_libhdf5 INTERFACE)
  pkg_check_modules(HDF5_SERIAL QUIET IMPORTED_TARGET hdf5-serial>=1.10)
  if(HDF5_SERIAL_FOUND)
    target_link_libraries(forebay_libhdf5 INTERFACE PkgConfig::HDF5_SERIAL)
  else()
    set(HDF5_PREFER_PARALLEL OFF)
    find_package(HDF5 1.10 REQUIRED COMPONENTS C)
    target_link_libraries(forebay_libhdf5 INTERFACE ${HDF5_C_LIBRARIES})
    target_include_directories(forebay_libhdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
    target_compile_definitions(forebay_libhdf5 INTERFACE ${HDF5_C_DEFINITIONS})
  endif()
endif()

if(FOREBAY_TESTS)
  find_package(doctest 2.4 REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
