// The record that a run went back as the stream's option `restart_from` asks. The jobs of a chain share this option in
// one configuration. Without a record each job would go back again, and the chain would never advance.
//
//   RUN/forebay/restarts/STREAM/300.session-6      with restart_from 300, session 6 began at or below step 300
//
// The record counts while the run goes on from that session's saves, or has gone back further since. It does not count
// if the session ended before its first save, or if `prune --line` dropped its line. A snapshot remembers
// line_starts_max sessions: after that many the record counts even if its session saved nothing.

#pragma once

#include <cstdint>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::catalog {

/// True if the run has already gone back to `from`.
Result<bool> has_gone_back(sys::Store& store, const std::string& run, const std::string& stream, std::int64_t from);

/// Records durably that this session goes back. Removes records of other steps.
Result<> note_going_back(sys::Store& store, const std::string& run, const std::string& stream, std::int64_t from,
                         std::uint32_t session);

}  // namespace forebay::catalog
