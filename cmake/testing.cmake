# How each kind of test is built and run. A test that cannot run says why and exits with 77.
if(FOREBAY_TESTS)
  enable_testing()
endif()

# A limit for what hangs. It is no measure of what a test may cost: on a machine that does other work each takes ten times
# as long as on an idle one.
set(forebay_test_seconds_max 3600)

# Every test may find the program, the sources and an interpreter with h5py by these names; Python tests import forebay_test.
set(forebay_test_environment
  FOREBAY_SOURCE_DIR=${PROJECT_SOURCE_DIR}
  FOREBAY_BINARY_DIR=${PROJECT_BINARY_DIR}
  FOREBAY_AGENT=${PROJECT_BINARY_DIR}/bin/forebay
  FOREBAY_PYTHON=${forebay_venv_python}
  XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/cache
  PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support
  # Byte code is kept, whatever the machine says: to compile numpy, xarray and pytest takes a process most of its time.
  PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=${PROJECT_BINARY_DIR}/cache/python)
if(FOREBAY_SANITIZE)  # what else is linked to a sanitized library needs the flag too
  list(APPEND forebay_test_environment FOREBAY_LINK_FLAGS=-fsanitize=${FOREBAY_SANITIZE} UBSAN_OPTIONS=print_stacktrace=1)
endif()

# Open MPI keeps memory until the process ends and unloads the modules that could be named: the leak check is for the
# tests without MPI, in which threads are the ranks of the same code.
set(forebay_mpi_environment ${forebay_test_environment}
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl=self,vader
  ASAN_OPTIONS=detect_leaks=0)

function(forebay_test_executable target sources)
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE forebay forebay_test_main fmt::fmt nlohmann_json::nlohmann_json
                                          Threads::Threads $<TARGET_NAME_IF_EXISTS:forebay_test_support> ${ARGN})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

# A test's own code does little; not to optimise it halves the time of its compilation, which is longer than its run.
function(forebay_compile_fast target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
endfunction()

# Most of that time goes into headers that nearly every test includes: they are compiled once, for all tests whose flags
# are the same, where modules are compiled as one text too.
function(forebay_share_headers target)
  if(NOT FOREBAY_JUMBO)
    return()
  endif()
  if(NOT TARGET forebay_test_headers)
    forebay_test_executable(forebay_test_headers ${PROJECT_SOURCE_DIR}/tests/support/test_headers.cpp)
    forebay_compile_fast(forebay_test_headers)
    target_precompile_headers(forebay_test_headers PRIVATE <doctest/doctest.h> <fmt/format.h> <algorithm> <atomic> <chrono>
      <cmath> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional> <random> <set> <span> <string> <thread>
      <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM forebay_test_headers)
endfunction()

# A program of doctest's cases that costs more to compile than to run.
function(forebay_test_program target sources)
  forebay_test_executable(${target} "${sources}" ${ARGN})
  forebay_compile_fast(${target})
  forebay_share_headers(${target})
endfunction()

# What a test of a module is linked to beside forebay.
function(forebay_unit_libraries out module source)
  set(libraries)
  if(module MATCHES "^(h5|outline|views)$" OR source MATCHES "/(made/h5part|foreign/hdf5)/")
    set(libraries forebay_hdf5 forebay_libhdf5)
  elseif(module STREQUAL "foreign")
    set(libraries forebay_foreign)
  elseif(module STREQUAL "insitu")
    set(libraries forebay_insitu $<TARGET_NAME_IF_EXISTS:PNG::PNG>)
  elseif(module STREQUAL "report")
    set(libraries forebay_report $<TARGET_NAME_IF_EXISTS:PkgConfig::forebay_cpp-httplib>)
  elseif(module STREQUAL "advice")
    set(libraries forebay_advice)
  elseif(module STREQUAL "s3")
    set(libraries forebay_buckets $<TARGET_NAME_IF_EXISTS:PkgConfig::forebay_cpp-httplib>)
  elseif(module MATCHES "^(archive|migrate|tree)$")
    set(libraries forebay_${module})
  elseif(source MATCHES "/sys/posix_tree_test")
    set(libraries forebay_posix_trees)
  elseif(module MATCHES "^(terminal|bench)$")
    set(libraries forebay_${module})
  elseif(module STREQUAL "program")
    set(libraries forebay_cli)
  endif()
  set(${out} ${libraries} PARENT_SCOPE)
endfunction()

# Compiles several tests as one text, each in a namespace of its own: its names are its own then, in whatever files they
# are too. What the files include comes before, outside of those namespaces; each header says `#pragma once`.
function(forebay_jumbo_tests program)
  if(NOT FOREBAY_JUMBO)
    return()
  endif()
  set(headers ${CMAKE_CURRENT_BINARY_DIR}/${program}_headers.hpp)
  add_custom_command(OUTPUT ${headers}
    COMMAND grep -h "^#include" ${ARGN} > ${headers}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${headers}.new ${headers}
    DEPENDS ${ARGN} VERBATIM)
  target_sources(${program} PRIVATE ${headers})
  set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10
    UNITY_BUILD_UNIQUE_ID forebay_test_file
    UNITY_BUILD_CODE_BEFORE_INCLUDE "#include \"${headers}\"\nnamespace forebay_test_file {"
    UNITY_BUILD_CODE_AFTER_INCLUDE "}")
endfunction()

# The module of a source: src/core/base/crc32c/x.cpp -> base, src/program/look/x.cpp -> program, transfer/copy/x.cpp -> tree.
function(forebay_module out source)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
  if(path MATCHES "^src/(core|path|insight|bindings)/(compat/)?([a-z0-9]+)/")
    set(module ${CMAKE_MATCH_3})
  elseif(path MATCHES "^transfer/(walk|copy|compare|remove|team|tables)/")
    set(module tree)
  elseif(path MATCHES "^(src|transfer)/([a-z0-9]+)/")
    set(module ${CMAKE_MATCH_2})
  endif()
  set(${out} ${module} PARENT_SCOPE)
endfunction()

# NAME_test.cpp of a module -> the test MODULE.NAME: the cases of that file in a process of
# their own. The files of a module are one program, MODULE_tests, but for those that put something in the place of what a
# program has: main(), operator new, functions of the C library, names of ours.
set(forebay_own_program "^(#define DOCTEST_|extern \"C\"|namespace [a-z_:]+ {|void\\* operator new|#include \"support/failing_memory)")
function(forebay_unit_tests)
  foreach(source ${ARGN})
    cmake_path(GET source STEM stem)
    forebay_module(module ${source})
    string(REGEX REPLACE "_test$" "" name ${stem})
    if(NOT TARGET forebay OR ((module MATCHES "^(h5|outline|views)$" OR source MATCHES "/(made/h5part|foreign/hdf5)/") AND NOT TARGET forebay_hdf5)
       OR (name MATCHES "^mpi_" AND NOT TARGET forebay_mpi) OR (name MATCHES "_hdf5$" AND NOT TARGET forebay_hdf5)
       OR (name MATCHES "_http$" AND NOT FOREBAY_HTTPLIB)
       OR (module STREQUAL "codec" AND NOT (FOREBAY_BLOSC AND FOREBAY_ZFP))
       OR (module STREQUAL "insitu" AND name MATCHES "^(png|scene)$" AND NOT FOREBAY_PNG)
       OR (module STREQUAL "insitu" AND name MATCHES "spectrum$" AND NOT FOREBAY_FFT)
       OR (module STREQUAL "bench" AND NOT TARGET forebay_bench) OR (module STREQUAL "s3" AND NOT TARGET forebay_buckets))
      continue()
    endif()
    if(name MATCHES "^mpi_")
      forebay_mpi_test(${source})
      continue()
    endif()
    set(program ${module}_tests)
    file(STRINGS ${source} own REGEX ${forebay_own_program} LIMIT_COUNT 1)
    if(own)
      set(program ${module}_${stem})
    endif()
    list(APPEND programs ${program})
    list(APPEND ${program}_sources ${source})
    set(${program}_module ${module})
    add_test(NAME ${module}.${name} COMMAND ${program} --source-file=*/${stem}.cpp)
    # A file of which no case was run is a failure, not a success.
    set_tests_properties(${module}.${name} PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT ${forebay_test_seconds_max}
      FAIL_REGULAR_EXPRESSION "test cases: +0 " ENVIRONMENT "${forebay_test_environment}")
  endforeach()
  list(REMOVE_DUPLICATES programs)
  foreach(program ${programs})
    set(module ${${program}_module})
    set(libraries)
    foreach(source ${${program}_sources})
      forebay_unit_libraries(more ${module} ${source})
      list(APPEND libraries ${more})
    endforeach()
    if(module STREQUAL "program")  # curses defines what the C library's headers look at
      forebay_test_executable(${program} "${${program}_sources}" ${libraries})
      forebay_compile_fast(${program})
    else()
      forebay_test_program(${program} "${${program}_sources}" ${libraries})
    endif()
    if(program STREQUAL "${module}_tests")
      forebay_jumbo_tests(${program} ${${program}_sources})
    endif()
    if(module MATCHES "^(agent|api|program|commit|drain|node)$" AND TARGET forebay_program)
      add_dependencies(${program} forebay_program)  # they start the agent
    endif()
  endforeach()
endfunction()

# tests/mpi/NAME_test.cpp, or a test in a module that needs MPI; the source states its ranks: "// ranks: 1 2 3 5".
function(forebay_mpi_test source)
  cmake_path(GET source STEM stem)
  string(REGEX REPLACE "_test$" "" name ${stem})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} stated REGEX "^// ranks: [0-9 ]+$" LIMIT_COUNT 1)
  if(NOT stated)
    message(FATAL_ERROR "${source} does not state its ranks; expected a line like \"// ranks: 1 2 3 5\"")
  endif()
  string(REGEX MATCHALL "[0-9]+" counts ${stated})
  forebay_test_program(mpi_${stem} ${source} forebay_mpi)
  if(TARGET forebay_program)
    add_dependencies(mpi_${stem} forebay_program)
  endif()
  foreach(count ${counts})
    # Never as many as run at once on two cores: each such test would wait until nothing else runs.
    set(processors ${count})
    if(count GREATER 3)
      set(processors 3)
    endif()
    add_test(NAME mpi.${name}.${count}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${count} ${MPIEXEC_PREFLAGS} $<TARGET_FILE:mpi_${stem}>
              ${MPIEXEC_POSTFLAGS})
    set_tests_properties(mpi.${name}.${count} PROPERTIES LABELS mpi SKIP_RETURN_CODE 77 TIMEOUT ${forebay_test_seconds_max}
      PROCESSORS ${processors} ENVIRONMENT "${forebay_mpi_environment}")
  endforeach()
endfunction()

# NAME_fuzz.cpp of a module: libFuzzer with clang; else a main that replays tests/corpus/NAME and mutations of it.
function(forebay_fuzz_target source)
  cmake_path(GET source STEM stem)
  string(REGEX REPLACE "_fuzz$" "" name ${stem})
  set(corpus ${PROJECT_SOURCE_DIR}/tests/corpus/${name})
  forebay_module(module ${source})
  if(NOT TARGET forebay OR (module STREQUAL "s3" AND NOT TARGET forebay_buckets))
    return()
  endif()
  set(libraries)
  if(module STREQUAL "s3")
    set(libraries forebay_buckets)
  elseif(module MATCHES "^(foreign|insitu|advice|archive|migrate|report|tree)$")
    set(libraries forebay_${module})
  endif()
  if(FOREBAY_FUZZ)
    forebay_test_executable(${stem} ${source} ${libraries})
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    set(scratch ${PROJECT_BINARY_DIR}/corpus/${name})
    file(MAKE_DIRECTORY ${scratch})
    set(command ${stem} -seed=1 -max_total_time=30 ${scratch})
    if(EXISTS ${corpus})
      list(APPEND command ${corpus})
    endif()
  else()
    forebay_test_executable(${stem} ${source} ${libraries})
    forebay_compile_fast(${stem})
    target_sources(${stem} PRIVATE $<TARGET_OBJECTS:forebay_replay>)
    set(command ${stem} ${corpus})
  endif()
  add_test(NAME fuzz.${name} COMMAND ${command})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz SKIP_RETURN_CODE 77 TIMEOUT ${forebay_test_seconds_max}
    ENVIRONMENT "${forebay_test_environment}")
endfunction()

# FOLDER/NAME_test.py or FOLDER/NAME_test.sh -> the test FOLDER.NAME; with a further WORD, which the script gets,
# FOLDER.NAME.WORD
function(forebay_script_test source interpreter)
  cmake_path(GET source STEM stem)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME group)
  string(REGEX REPLACE "_test$" "" name ${stem})
  list(APPEND name ${ARGN})
  list(JOIN name . name)
  add_test(NAME ${group}.${name} COMMAND ${interpreter} ${source} ${ARGN} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  # nanobind names what the extension modules never free: that fails a test, and nobody else's program.
  set_tests_properties(${group}.${name} PROPERTIES LABELS ${group} SKIP_RETURN_CODE 77 TIMEOUT ${forebay_test_seconds_max}
    ENVIRONMENT "${forebay_mpi_environment}" FAIL_REGULAR_EXPRESSION "nanobind: leaked")
  # They wait for slow storage and for timeouts: two at a time would leave processors idle, so they take turns beside what
  # computes, from the beginning on.
  if(group STREQUAL "hosts")
    set_tests_properties(${group}.${name} PROPERTIES RESOURCE_LOCK hosts COST 60)
  endif()
endfunction()
