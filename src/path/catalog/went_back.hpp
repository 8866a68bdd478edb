// The record that a run has gone back as `restart_from` of a stream says. The option stands in a configuration that the
// jobs of a chain share: without a record each job would go back again, and the chain would never get ahead.
//
//   RUN/forebay/restarts/STREAM/300.session-6      session 6 began at or below step 300 since restart_from was 300
//
// The record counts as long as the run goes on from what that session saved, or has gone back further since. It does
// not count if the session ended before its first save, or if its line was given up by `prune --line`. A snapshot
// remembers line_starts_max sessions: after as many the record counts, even if its session saved nothing.

#pragma once

#include <cstdint>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::catalog {

/// Whether the run has gone back so already.
Result<bool> has_gone_back(sys::Store& store, const std::string& run, const std::string& stream, std::int64_t from);

/// Notes durably that this session does; records of other steps go.
Result<> note_going_back(sys::Store& store, const std::string& run, const std::string& stream, std::int64_t from,
                         std::uint32_t session);

}  // namespace forebay::catalog
