// Which directory a source or target is. A path says that for a moment: weeks later nothing may be mounted there, and
// what is below the mount point, a note as a rule, would be taken for all that a project has.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/sys/tree.hpp"
#include "forebay/result.hpp"

namespace forebay::migrate {

/// Equal on all machines, and after they were started anew. The number of a file system need not be, so that it counts
/// only where no time of birth tells two roots of one number apart.
struct RootIdentity {
    std::uint64_t inode = 0, file_system = 0;
    sys::FileTime born;  // 0 where it is not told
    /// Else two roots may be equal: NFS tells neither a birth nor the number.
    bool is_known() const { return born != sys::FileTime() || file_system != 0; }
    friend bool operator==(const RootIdentity& identity, const RootIdentity& other) {
        const bool tells_birth = identity.born != sys::FileTime() && other.born != sys::FileTime();
        return identity.inode == other.inode &&
               (tells_birth ? identity.born == other.born : identity.file_system == other.file_system);
    }
};

struct RootSight {
    bool has_entries = false;
    std::optional<RootIdentity> identity;  // none of what is no directory of this machine
};

Result<RootIdentity> identity_of(sys::Folder& folder);

/// Nothing where there is no such directory, or no key with that prefix.
Result<std::optional<RootSight>> look_at_root(const std::string& place);

/// Whether `target` has a name that `source` has, too, right below both.
Result<bool> have_name_in_common(const std::string& source, const std::string& target);

}  // namespace forebay::migrate
