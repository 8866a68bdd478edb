// Attempts given up by a run. A session goes back, saves output, and ends before its first restart save. The next
// session goes on from the newest snapshot and ignores the attempt. Then the lines of the attempt do not count in the
// output either, and the snapshots that they had abandoned are living again.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "path/catalog/history.hpp"

namespace forebay::catalog {

/// A restored snapshot: the session goes on from its step and its lines.
struct WentOn {
    std::int64_t step = 0;
    std::vector<format::LineStart> lines = {};
};
using WentOnByStream = std::map<std::string, WentOn>;

/// True if an earlier session may have been given up. If false, nobody has to look.
bool may_have_given_up(const WentOnByStream& from, std::uint32_t session);

/// Call it before the first save of a stream without a restart. It marks lines as dropped (mark_dropped), durably, and
/// returns them. A line is dropped if the session goes on from no snapshot of its session, in any stream of `from`, and
/// if the line has abandoned snapshots of the run. The snapshots of the line stay, as abandoned snapshots. While a
/// manifest of the stream cannot be read, no line is dropped. The cost is that of history().
Result<std::vector<format::Line>> drop_given_up(sys::Store& store, const std::string& run, const std::string& stream,
                                                const WentOnByStream& from, std::uint32_t session);

}  // namespace forebay::catalog
