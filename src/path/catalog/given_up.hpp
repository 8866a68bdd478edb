// Attempts that a run gave up. Example: a session goes back, saves output, and ends before its first restart save. The
// next session goes on from the newest snapshot and ignores the attempt. Then the attempt's lines do not count in the
// output either, and the snapshots that they abandoned are living again.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "path/catalog/history.hpp"

namespace forebay::catalog {

/// A restored snapshot. The session goes on from its step and its lines.
struct WentOn {
    std::int64_t step = 0;
    std::vector<format::LineStart> lines = {};
};
using WentOnByStream = std::map<std::string, WentOn>;

/// True if the run may have given up an earlier session. If false, you need not call drop_given_up().
bool may_have_given_up(const WentOnByStream& from, std::uint32_t session);

/// Call it before the first save of a stream without a restart. It drops lines of given up attempts durably
/// (mark_dropped) and returns them. It drops a line if the line abandoned snapshots of the run, and if in each stream
/// of `from` the session goes on from no snapshot of the line's session. Snapshots of the line stay, as abandoned.
/// While a manifest of the stream cannot be read, it drops no line. Costs the same as history().
Result<std::vector<format::Line>> drop_given_up(sys::Store& store, const std::string& run, const std::string& stream,
                                                const WentOnByStream& from, std::uint32_t session);

}  // namespace forebay::catalog
