# -DFOREBAY_BUNDLED=ON builds the small libraries from these archives. An archive in FOREBAY_BUNDLED_DIR is taken from
# there, so a machine without network needs only that folder. The checksum is compared in both cases. Beside these CMake's
# FETCHCONTENT_SOURCE_DIR_NAME takes an unpacked folder, without a check.
#
# Of the archives only headers are used, and two files of fmt. Their own CMake files are not read.
include(FetchContent)
option(FOREBAY_BUNDLED "Build fmt, nlohmann-json, toml++, CLI11, doctest and pocketfft from archives with known checksums" OFF)
set(FOREBAY_BUNDLED_DIR "" CACHE PATH
  "Folder with archives of FOREBAY_BUNDLED, by the names in cmake/bundled.cmake")

# forebay_archive(NAME FILE CHECKSUM URL)
function(forebay_archive name file checksum url)
  set(forebay_archive_${name} ${file} ${checksum} ${url} PARENT_SCOPE)
endfunction()
forebay_archive(fmt fmt-9.1.0.tar.gz 5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2
  https://github.com/fmtlib/fmt/archive/refs/tags/9.1.0.tar.gz)
forebay_archive(nlohmann-json json-3.11.2.tar.gz d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273
  https://github.com/nlohmann/json/archive/refs/tags/v3.11.2.tar.gz)
forebay_archive(toml++ tomlplusplus-3.3.0.tar.gz fc1a5eb410f3c67e90e5ad1264a1386d020067cfb01b633cc8c0441789aa6cf2
  https://github.com/marzer/tomlplusplus/archive/refs/tags/v3.3.0.tar.gz)
forebay_archive(CLI11 CLI11-2.1.2.tar.gz 26291377e892ba0e5b4972cdfd4a2ab3bf53af8dac1f4ea8fe0d1376b625c8cb
  https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.1.2.tar.gz)
forebay_archive(doctest doctest-2.4.11.tar.gz 632ed2c05a7f53fa961381497bf8069093f0d6628c5f26286161fbd32a560186
  https://github.com/doctest/doctest/archive/refs/tags/v2.4.11.tar.gz)
forebay_archive(pocketfft pocketfft-f800d91.tar.gz 66eda977b195965d27aeb9d74f46e0029a6a02e75fbbc47bb554aad68615a260
  https://github.com/mreineck/pocketfft/archive/f800d91ba695b6e19ae2687dd60366900b928002.tar.gz)

# Unpacks an archive and gives its folder.
function(forebay_unpack name out)
  list(GET forebay_archive_${name} 0 file)
  list(GET forebay_archive_${name} 1 checksum)
  list(GET forebay_archive_${name} 2 url)
  set(from ${url})
  if(FOREBAY_BUNDLED_DIR AND EXISTS ${FOREBAY_BUNDLED_DIR}/${file})
    set(from ${FOREBAY_BUNDLED_DIR}/${file})
  endif()
  # CMake's names of contents are words.
  string(MAKE_C_IDENTIFIER ${name} content)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.24)
    set(times DOWNLOAD_EXTRACT_TIMESTAMP TRUE)
  endif()
  # No such folder: so nothing of the archive is added to this build.
  FetchContent_Declare(${content} URL ${from} URL_HASH SHA256=${checksum} SOURCE_SUBDIR forebay-adds-nothing ${times})
  FetchContent_MakeAvailable(${content})
  string(TOLOWER ${content} content)
  set(${out} ${${content}_SOURCE_DIR} PARENT_SCOPE)
endfunction()

function(forebay_bundled_headers target folder)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${folder})
endfunction()

# Makes the target that find_package() would make.
function(forebay_bundle name)
  forebay_unpack(${name} folder)
  if(name STREQUAL "fmt")
    # In every library of ours, and visible in none.
    add_library(forebay_fmt STATIC ${folder}/src/format.cc ${folder}/src/os.cc)
    target_include_directories(forebay_fmt SYSTEM PUBLIC ${folder}/include)
    target_compile_options(forebay_fmt PRIVATE -w)
    set_target_properties(forebay_fmt PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    add_library(fmt::fmt ALIAS forebay_fmt)
  elseif(name STREQUAL "nlohmann-json")
    forebay_bundled_headers(nlohmann_json::nlohmann_json ${folder}/include)
  elseif(name STREQUAL "toml++")
    forebay_bundled_headers(tomlplusplus::tomlplusplus ${folder}/include)
  elseif(name STREQUAL "CLI11")
    forebay_bundled_headers(CLI11::CLI11 ${folder}/include)
  elseif(name STREQUAL "doctest")
    forebay_bundled_headers(doctest::doctest ${folder})
  endif()
endfunction()

# The system's header, else the archive in FOREBAY_BUNDLED_DIR, else with FOREBAY_BUNDLED the archive from its URL.
function(forebay_find_pocketfft)
  set(folder)
  if(NOT FOREBAY_BUNDLED)
    # Debian 12 has it among the headers of gemmi.
    find_path(POCKETFFT_INCLUDE_DIR pocketfft_hdronly.h PATH_SUFFIXES pocketfft gemmi/third_party)
    mark_as_advanced(POCKETFFT_INCLUDE_DIR)
    set(folder ${POCKETFFT_INCLUDE_DIR})
  endif()
  list(GET forebay_archive_pocketfft 0 file)
  if(NOT folder AND (FOREBAY_BUNDLED OR FETCHCONTENT_SOURCE_DIR_POCKETFFT OR FOREBAY_BUNDLED_DIR AND EXISTS ${FOREBAY_BUNDLED_DIR}/${file}))
    forebay_unpack(pocketfft folder)
  endif()
  if(folder)
    forebay_bundled_headers(forebay_pocketfft ${folder})
  endif()
endfunction()
