// Conditions that the application has not received yet, kept in the run. An agent writes a condition when it finds it.
// The session removes it after it passes it to the application. So a condition found after the last Session::job() of a
// session, or before a kill, waits for the next session.
//
//   RUN/forebay/conditions/00000000000000f3-1a2b3c4d.json
//
// Any process may call these functions at any time. They never make the run's directory.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/format/flagged.hpp"
#include "core/sys/store.hpp"

namespace forebay::catalog {

/// A session gets one condition a step. If the application never asks, they would pile up.
inline constexpr std::size_t flagged_kept_max = 64;

/// Writes a condition, durably. If it exists already, that is fine. `full` if flagged_kept_max others exist.
Result<> keep_flagged(sys::Store& store, const std::string& run, const format::Flagged& flagged);

/// The kept conditions by rising step. Damaged files are skipped; `problem` describes one of them.
Result<std::vector<format::Flagged>> kept_flagged(sys::Store& store, const std::string& run, std::string& problem);

/// Removes a condition; a missing condition is fine.
Result<> drop_flagged(sys::Store& store, const std::string& run, const format::Flagged& flagged);

}  // namespace forebay::catalog
