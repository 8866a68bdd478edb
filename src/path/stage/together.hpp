// Agreement of the ranks before a layout: the same schema everywhere, boxes that are legal together. Made once per
// change of the description, not per save.

#pragma once

#include "core/comm/group.hpp"
#include "core/describe/binding.hpp"
#include "core/describe/schema.hpp"

namespace forebay::stage {

/// `refused` on every rank, with variable, ranks and boxes named, when schemas differ, a box lies outside its shape,
/// two boxes overlap or a variable with full coverage has holes. Collective over `world`; memory O(own boxes) as long
/// as all is right and coverage is full.
Result<> check_together(comm::Group& world, const Schema& schema, const describe::Binding& binding);

/// `refused` unless the box has the dimensions of the variable's global shape and lies inside it. Local.
Result<> check_box(const Variable& variable, const Box& box);

/// `refused` when the stream cannot be shared as readers of H5Part look for it. Local, and alike on all ranks.
Result<> check_h5part(const Schema& schema);

}  // namespace forebay::stage
