// Facts from PALM's sources about names in its restart files, which store no types. Both formats use the same names.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::foreign {

/// The kind of an array, known by its name.
struct PalmArray {
    enum class Kind {
        line,      // numbers without a grid; equal on all processes if PALM writes them once
        profiles,  // the same, over all levels and then over quantities
        grid,      // a field over the grid
        surface,   // values of surfaces, as many as each column has
        records,   // a derived type; the compiler decides its layout
    } kind = Kind::line;
    Type type;

    /// True if every process has all of it.
    bool is_whole() const { return kind == Kind::line || kind == Kind::profiles; }
};

/// Nothing for unknown names, such as in a user's own module, and for real fields over the grid, known by size.
std::optional<PalmArray> palm_array(std::string_view name);

/// The shape of a `line` or of `profiles` with `bytes` bytes; nothing if that is not a whole number of elements.
std::optional<Extents> palm_shape(const PalmArray& array, std::string_view name, std::uint64_t bytes,
                                  std::uint64_t levels);

/// The variables whose records follow a name in fortran_binary: one of that name, or two.
std::vector<std::string_view> palm_records(std::string_view name);

}  // namespace forebay::foreign
