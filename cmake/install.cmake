# What `cmake --install` leaves: public headers, libraries, the program, and how CMake and pkg-config find them.
include(CMakePackageConfigHelpers)
if(NOT TARGET forebay)
  return()
endif()

set(headers result.hpp describe.hpp options.hpp forebay.hpp)
set(exported forebay)
if(TARGET forebay_mpi)
  list(APPEND headers mpi.hpp)
  list(APPEND exported forebay_mpi)
endif()
list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/include/forebay/)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/forebay)

# Libraries and program find one another wherever the prefix is moved to.
set_target_properties(${exported} PROPERTIES INSTALL_RPATH $ORIGIN)
install(TARGETS ${exported} EXPORT forebay-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET forebay_hdf5)  # the program's; it has no public header
  set_target_properties(forebay_hdf5 PROPERTIES INSTALL_RPATH $ORIGIN)
  install(TARGETS forebay_hdf5 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET forebay_program)
  file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(forebay_program PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})
  install(TARGETS forebay_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/forebay)
install(EXPORT forebay-targets NAMESPACE forebay:: DESTINATION ${package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/forebay-config.cmake.in
  ${PROJECT_BINARY_DIR}/forebay-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/forebay-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/forebay-config.cmake ${PROJECT_BINARY_DIR}/forebay-config-version.cmake
  DESTINATION ${package})

foreach(library ${exported})
  set(PC_NAME ${library})
  set(PC_REQUIRES "")
  set(PC_DESCRIPTION "Saves the state of a simulation at the price of one memory copy")
  if(library STREQUAL forebay_mpi)
    set(PC_REQUIRES "forebay = ${PROJECT_VERSION}")
    set(PC_DESCRIPTION "Forebay over MPI; compile with the MPI compiler of the simulation")
  endif()
  # The prefix is found from the file's own place, as `cmake --install --prefix` may change it.
  file(RELATIVE_PATH PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/forebay.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
