// Snapshots that a restart skipped, with reasons, and the error of a restart that skipped all of them. Plain values,
// equal on all ranks.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::restart {

/// A snapshot that exists and was skipped.
struct NotTaken {
    std::int64_t step = 0;
    Error why = {};  // `corrupt`: damaged; `refused`: marked, or of another run; `missing`: removed, or never whole
};

/// The place of a stream, for texts.
struct StreamPlace {
    std::string run, stream;
};

/// How people begin anew on purpose.
inline constexpr const char* begin_anew = "FOREBAY_RESTART=none begins anew on purpose";

/// The error of a restart that skipped every snapshot: `corrupt` if any is damaged, else `refused`. Never `missing`,
/// because an application may read that as "no snapshot". `among` limits the snapshots, as " at or below step 300", or
/// is "".
Error none_usable(const StreamPlace& place, const std::vector<NotTaken>& all, const std::string& among);

/// The error of a restart that met a snapshot which exists and cannot be read now. It keeps the kind of `why`, except
/// that `missing` becomes `retry`, because the storage may come back. `before` is the step of the next older snapshot
/// that a restart would try, if any.
Error cannot_be_read_now(const StreamPlace& place, std::int64_t step, const Error& why,
                         const std::optional<std::int64_t>& before);

/// The same for a snapshot that only nodes' memory has. `why` has the nodes.
Error not_committed_now(const StreamPlace& place, std::int64_t step, Error why,
                        const std::optional<std::int64_t>& before);

}  // namespace forebay::restart
