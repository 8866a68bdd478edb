// Checks of variables and domain, shared by the analyses of particles.

#pragma once

#include <array>
#include <span>
#include <string>

#include "insight/insitu/analyser.hpp"

namespace forebay::insitu {

/// The table of a column "TABLE/COLUMN".
std::string table_of(const Variable& column);

/// `refused` unless all variables are columns of one table.
Result<> check_columns(const Analysis& analysis, std::span<const Variable> variables);

/// The three lengths of the domain, from one or three given lengths. `refused` unless they are above 0.
Result<std::array<double, 3>> domain_of(const Analysis& analysis);

}  // namespace forebay::insitu
