// What analyses of particles say about their variables and their domain before they look at particles.

#pragma once

#include <array>
#include <span>
#include <string>

#include "insight/insitu/analyser.hpp"

namespace forebay::insitu {

/// The table of a column "TABLE/COLUMN".
std::string table_of(const Variable& column);

/// `refused` unless all are columns of one table.
Result<> check_columns(const Analysis& analysis, std::span<const Variable> variables);

/// The three lengths of the domain, one a dimension or one for all; `refused` where they are not, or not above 0.
Result<std::array<double, 3>> domain_of(const Analysis& analysis);

}  // namespace forebay::insitu
