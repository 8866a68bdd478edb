// What PALM's sources say of names in its restart files, which have no types: the same in both formats.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::foreign {

/// What an array is by its name.
struct PalmArray {
    enum class Kind {
        line,      // numbers that belong to no grid; the same on all processes where PALM writes them once
        profiles,  // the same, over all levels and then over quantities
        grid,      // a field over the grid
        surface,   // values of surfaces, as many as each column has
        records,   // a derived type, whose layout is the compiler's
    } kind = Kind::line;
    Type type;

    /// Whether every process has all of it.
    bool is_whole() const { return kind == Kind::line || kind == Kind::profiles; }
};

/// Nothing for names that are not known, as those of a user's own module, and for real fields over the grid, which
/// their size tells.
std::optional<PalmArray> palm_array(std::string_view name);

/// The shape of a `line` or of `profiles` of so many bytes; nothing when it is no whole number of elements.
std::optional<Extents> palm_shape(const PalmArray& array, std::string_view name, std::uint64_t bytes,
                                  std::uint64_t levels);

/// The variables whose records follow one name in fortran_binary: one of that name, or two.
std::vector<std::string_view> palm_records(std::string_view name);

}  // namespace forebay::foreign
