// Attempts that a run has given up: a session goes back, saves in streams that are never restored, such as output, and
// ends before it saves what restarts read. The next session goes on from the newest snapshot as if that attempt had
// never been; so the attempt's lines in those streams do not count either, and what they had abandoned lives again.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "catalog/history.hpp"

namespace forebay::catalog {

/// The snapshot from which a session goes on, in a stream that it has restored: its step, and its lines.
struct WentOn {
    std::int64_t step = 0;
    std::vector<format::LineStart> lines = {};
};
using WentOnByStream = std::map<std::string, WentOn>;

/// Whether there were sessions from which this one does not go on. Else nothing was given up, and nobody has to look.
bool may_have_given_up(const WentOnByStream& from, std::uint32_t session);

/// Before the first save of a stream that the session has not restored: says durably that lines of it do not count
/// (mark_dropped) if their sessions are none of those from which this one goes on, in any stream of `from`, and if they
/// have abandoned what the run goes on from. Their snapshots stay, as abandoned ones. Nothing while a manifest of the
/// stream cannot be read. Costs what history() costs. The lines that were dropped.
Result<std::vector<format::Line>> drop_given_up(sys::Store& store, const std::string& run, const std::string& stream,
                                                const WentOnByStream& from, std::uint32_t session);

}  // namespace forebay::catalog
