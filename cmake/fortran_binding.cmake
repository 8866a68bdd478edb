# fortran_place.c must see the ISO_Fortran_binding.h of the Fortran compiler, not that of a gcc beside it: the descriptors
# differ. Forebay's build and forebay-config.cmake include this file.
function(forebay_use_fortran_binding target)
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  get_filename_component(folder ${CMAKE_Fortran_COMPILER} REALPATH)
  get_filename_component(folder ${folder} DIRECTORY)
  find_path(FOREBAY_FORTRAN_BINDING ISO_Fortran_binding.h NO_DEFAULT_PATH
    HINTS ${folder}/../include/flang ${folder}/../include ${folder}/../opt/compiler/include)
  if(FOREBAY_FORTRAN_BINDING)
    # For C alone: flang's modules lie beside it, which flang must not find twice.
    target_include_directories(${target} BEFORE PRIVATE $<$<COMPILE_LANGUAGE:C>:${FOREBAY_FORTRAN_BINDING}>)
  endif()
endfunction()
