// Which part of the grid a record of PALM's fortran_binary covers, by its size in every process' file.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "insight/foreign/palm_fortran/palm_fortran.hpp"

namespace forebay::foreign {

/// The records of one name; nullptr where a process has none.
struct PalmItem {
    std::string name;  // in the snapshot
    std::vector<const FortranRecord*> records;
    std::string palm_name;  // in the files
};

/// A box of the horizontal grid in each process, z fastest, then y, then x.
struct PalmBox {
    Type type;
    bool ghosts = false;       // with the ghost layers around each process' part
    std::uint64_t levels = 1;  // 1: a horizontal field
    std::string reason;
};

/// The number of ghost layers with which most names are 3-D reals in every file; among equals 3, PALM's own, or the
/// smallest.
std::uint64_t find_ghost_layers(std::span<const PalmProcess> processes, std::span<const PalmItem> items);

/// The first form that the sizes of all processes allow, of `wanted` type or of those that PALM writes.
std::optional<PalmBox> find_box(std::span<const PalmProcess> processes, const PalmItem& item,
                                std::uint64_t ghost_layers, std::optional<Type> wanted);

}  // namespace forebay::foreign
