// The agreement of the ranks before a layout: the same schema everywhere, and boxes that fit together. Once for each
// change of the description, not for each save.

#pragma once

#include "core/comm/group.hpp"
#include "core/describe/binding.hpp"
#include "core/describe/schema.hpp"

namespace forebay::stage {

/// `refused` on every rank, with variable, ranks and boxes, if schemas differ, a box lies outside its shape, two boxes
/// overlap or a variable with full coverage has holes. Collective over `world`. Memory is O(own boxes) if there is no
/// error and coverage is full.
Result<> check_together(comm::Group& world, const Schema& schema, const describe::Binding& binding);

/// `refused` unless the box has the dimensions of the variable's global shape and lies inside it. Local.
Result<> check_box(const Variable& variable, const Box& box);

/// `refused` if H5Part readers could not find the stream's data in a shared file. Local, and alike on all ranks.
Result<> check_h5part(const Schema& schema);

}  // namespace forebay::stage
