// Snapshots that a restart did not take, each with its reason, and the error of a restart that took none of them. Plain
// values, equal on all ranks.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::restart {

/// One snapshot that is there and was not taken.
struct NotTaken {
    std::int64_t step = 0;
    Error why = {};  // `corrupt`: damaged; `refused`: marked, or of another run; `missing`: removed, or never whole
};

/// Of a stream, for texts.
struct StreamPlace {
    std::string run, stream;
};

/// How people begin anew on purpose.
inline constexpr const char* begin_anew = "FOREBAY_RESTART=none begins anew on purpose";

/// The error of a restart that has passed over everything there is: `corrupt` if anything is damaged, else `refused`.
/// Never `missing`, which an application may take for "nothing there". `among` says which snapshots were looked at, as
/// in " at or below step 300", or is empty.
Error none_usable(const StreamPlace& place, const std::vector<NotTaken>& all, const std::string& among);

/// The error of a restart that has come to a snapshot which is there and cannot be read now. It keeps the kind of
/// `why`, but for `missing`: a part that is missing is `retry`, since its storage may come back. `before` is the step
/// of the next older snapshot that a restart would try, if there is one.
Error cannot_be_read_now(const StreamPlace& place, std::int64_t step, const Error& why,
                         const std::optional<std::int64_t>& before);

/// The same for one that lies in the memory of nodes alone, and `why` says where.
Error not_committed_now(const StreamPlace& place, std::int64_t step, Error why,
                        const std::optional<std::int64_t>& before);

}  // namespace forebay::restart
