// Names for a file without groups. Programs that know netCDF's classic model alone, as cdo does, see nothing of what is
// in groups. Pure; knows no HDF5.

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/describe/schema.hpp"
#include "insight/outline/dimensions.hpp"

namespace forebay::outline {

/// What one group of a file has names of, each once.
class TakenNames {
public:
    bool has(std::string_view name) const { return names_.contains(name); }
    void add(std::string name) { names_.insert(std::move(name)); }
    /// The name, or the next that is free: with `_` behind it.
    std::string take(std::string name);

private:
    std::set<std::string, std::less<>> names_;
};

/// The names of all variables, in the letters that CF has: "fields/u" is "fields_u". The paths of dimensions become
/// names too, "fields/x" becomes "x", or "fields_x" where another dimension or a variable is called so; a coordinate
/// has the name of its dimension. Dimensions of one name, length and grid become one, but not rows of tables and
/// dimensions with a coordinate.
std::vector<std::string> flatten(const Schema& schema, Dimensions& dimensions, TakenNames& taken);

}  // namespace forebay::outline
