# forebay_rooms(TARGET ROOM...): adds each room's sources to the target and a test for each *_test.cpp in it.
function(forebay_rooms target)
  foreach(room ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
    list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|_main|/mpi_[a-z_]*)\\.cpp$")
    target_sources(${target} PRIVATE ${sources})
  endforeach()
endfunction()
