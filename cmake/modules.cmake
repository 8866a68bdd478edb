# A module is a folder of src/ or transfer/. Its sources are its .cpp files, chosen by name:
#   *_test.cpp, *_fuzz.cpp   tests beside what they test, never in a library
#   mpi_*.cpp                the MPI part, in forebay_mpi
#   *_hdf5.cpp               with FOREBAY_HDF5 (program)
#   hdf5_none.cpp            in place of these without it
#   *_http.cpp               with cpp-httplib (report and program)
#   http_none.cpp            in place of these without it
#   cairo_module.cpp         with Cairo, as a module of its own (insitu)
#   words_cairo.cpp          with Cairo, else cairo_none.cpp (insitu)
#   png.cpp                  with libpng, else png_none.cpp (insitu)
#   transform_NAME.cpp       pocketfft, fftw (MKL too) or none (insitu)
#   screen_curses.cpp        with ncursesw, else screen_none.cpp (program/look)
#   blosc.cpp, zfp.cpp       with that library, else blosc_none.cpp, zfp_none.cpp (codec)
#   crc64_isal.cpp           with ISA-L, else crc64_own.cpp (base)

# Leaves out one of two files, by whether an option is ON: NAME.cpp `with` it or `without` it.
function(forebay_choose sources option with without)
  set(left_out ${with})
  if(${option})
    set(left_out ${without})
  endif()
  list(FILTER ${sources} EXCLUDE REGEX "/${left_out}\\.cpp$")
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()

# All sources of the modules that are named, without tests: folders below the current one.
function(forebay_sources out)
  set(found)
  foreach(module ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${module}/*.cpp)
    list(APPEND found ${sources})
  endforeach()
  list(FILTER found EXCLUDE REGEX "_(test|fuzz)\\.cpp$")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Compiles the files of a target that lie in one folder as one text: the headers that they share are read once.
# A name in an unnamed namespace is therefore the module's, not the file's. With names of folders, as bench_matrix, so these
# alone; what lies in others is compiled file by file.
function(forebay_jumbo target)
  if(NOT FOREBAY_JUMBO)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    if(source MATCHES "/(src|transfer)/(.*)/[^/]*\\.cpp$")
      string(REPLACE "/" "_" module ${CMAKE_MATCH_2})
      if(NOT ARGN OR module IN_LIST ARGN)
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${module})
      endif()
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# A shared library of ours; a module that holds no source yet adds nothing, and a library of none is not made.
function(forebay_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(NOT arg_SOURCES)
    message(STATUS "${name}: no sources yet, not built")
    return()
  endif()
  add_library(${name} SHARED ${arg_SOURCES})
  add_library(forebay::${name} ALIAS ${name})
  if(NOT FOREBAY_WHEEL)  # a wheel has no symbolic links: each library has one name
    set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  endif()
  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  target_compile_features(${name} PUBLIC cxx_std_20)
  forebay_jumbo(${name})
endfunction()
