// Names for a file without groups. Programs that know only netCDF's classic model, such as cdo, do not see inside
// groups. Pure; does not use HDF5.

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/describe/schema.hpp"
#include "insight/outline/dimensions.hpp"

namespace forebay::outline {

/// The names in use in one group of a file.
class TakenNames {
public:
    bool has(std::string_view name) const { return names_.contains(name); }
    void add(std::string name) { names_.insert(std::move(name)); }
    /// The name, or the next free name, with `_` appended.
    std::string take(std::string name);

private:
    std::set<std::string, std::less<>> names_;
};

/// The names of all variables in the letters allowed by CF: "fields/u" becomes "fields_u". Paths of dimensions become
/// names too: "fields/x" becomes "x", or "fields_x" if another dimension or a variable has that name. A coordinate has
/// the name of its dimension. Dimensions of equal name, length and grid are merged, except rows of tables and
/// dimensions with a coordinate.
std::vector<std::string> flatten(const Schema& schema, Dimensions& dimensions, TakenNames& taken);

}  // namespace forebay::outline
