# Warnings, sanitizers, assertions and the compiler cache, for every target of the project.
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion>"
  "$<$<COMPILE_LANGUAGE:C,CXX>:-Wno-missing-field-initializers>")
# gfortran's words. The sources say `implicit none` themselves.
add_compile_options("$<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-Wall;-Wextra;-Wpedantic;-std=f2018;-fimplicit-none>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Wno-restrict>)  # gcc 12 finds overlaps in std::string's operator+ that are not there
endif()
if(FOREBAY_WERROR)
  add_compile_options(-Werror)
endif()

if(FOREBAY_AUDIT)
  add_compile_definitions(FOREBAY_AUDIT _GLIBCXX_ASSERTIONS)
endif()

if(FOREBAY_SANITIZE)
  # -O1 -g1 compiles in half the time of -O2 -g and gives the same reports: file and line.
  add_compile_options(-fsanitize=${FOREBAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  add_link_options(-fsanitize=${FOREBAY_SANITIZE})
endif()
if(FOREBAY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "FOREBAY_FUZZ needs clang (libFuzzer); with gcc the same targets replay tests/corpus. "
                        "Next: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# For what the program runs once a command, and no loop over bytes: the compiler takes a quarter less time so.
function(forebay_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# What was compiled once is not compiled again, in another build folder of this source tree either: paths below it are
# taken as seen from the folder. The package that bindings.pip builds comes out of the cache so.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(FOREBAY_CCACHE ccache)
  if(FOREBAY_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${FOREBAY_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()
