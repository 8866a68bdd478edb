// Finds the part of the grid that a record of PALM's fortran_binary covers, by its size in each process's file.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "insight/foreign/palm_fortran/palm_fortran.hpp"

namespace forebay::foreign {

/// The records of one name; nullptr for a process without one.
struct PalmItem {
    std::string name;  // in the snapshot
    std::vector<const FortranRecord*> records;
    std::string palm_name;  // in the files
};

/// A box of the horizontal grid in each process, z fastest, then y, then x.
struct PalmBox {
    Type type;
    bool ghosts = false;       // with ghost layers around each process's part
    std::uint64_t levels = 1;  // 1: a horizontal field
    std::string reason;
};

/// The number of ghost layers for which most names are 3-D reals in every file. In a tie it is 3, PALM's own number, or
/// the smallest.
std::uint64_t find_ghost_layers(std::span<const PalmProcess> processes, std::span<const PalmItem> items);

/// The first form that fits the sizes of all processes, of `wanted` type or of PALM's types.
std::optional<PalmBox> find_box(std::span<const PalmProcess> processes, const PalmItem& item,
                                std::uint64_t ghost_layers, std::optional<Type> wanted);

}  // namespace forebay::foreign
