// Conditions that the application has yet to be given, kept in the run: an agent writes one when it finds it, the
// session takes it away when it has given it. So what is found after the last Session::job() of a session, or before a
// kill, is there for the next session.
//
//   RUN/forebay/conditions/00000000000000f3-1a2b3c4d.json
//
// Any process may call these at any time; none of them makes the run's directory.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/format/flagged.hpp"
#include "core/sys/store.hpp"

namespace forebay::catalog {

/// A session is given one a step. An application that never asks would let them pile up.
inline constexpr std::size_t flagged_kept_max = 64;

/// Durable; one that is kept already is fine. `full` where flagged_kept_max others are kept.
Result<> keep_flagged(sys::Store& store, const std::string& run, const format::Flagged& flagged);

/// Those that are kept, the earliest step first. Damaged ones are left out; `problem` says of one of them why.
Result<std::vector<format::Flagged>> kept_flagged(sys::Store& store, const std::string& run, std::string& problem);

/// Takes one away; missing is fine.
Result<> drop_flagged(sys::Store& store, const std::string& run, const format::Flagged& flagged);

}  // namespace forebay::catalog
