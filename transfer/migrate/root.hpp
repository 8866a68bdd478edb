// The identity of a source or target directory. A path can change its meaning: weeks later nothing may be mounted
// there, and the contents of the mount point, such as a note, would be taken for the whole project.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/sys/tree.hpp"
#include "forebay/result.hpp"

namespace forebay::migrate {

/// Equal on all machines and after reboots. A file system's number may not be, so it only counts if there is no
/// creation time to distinguish two roots with one inode number.
struct RootIdentity {
    std::uint64_t inode = 0, file_system = 0;
    sys::FileTime born;  // 0 if unknown
    /// False if two roots could look equal: NFS reports neither a creation time nor the number.
    bool is_known() const { return born != sys::FileTime() || file_system != 0; }
    friend bool operator==(const RootIdentity& identity, const RootIdentity& other) {
        const bool tells_birth = identity.born != sys::FileTime() && other.born != sys::FileTime();
        return identity.inode == other.inode &&
               (tells_birth ? identity.born == other.born : identity.file_system == other.file_system);
    }
};

struct RootSight {
    bool has_entries = false;
    std::optional<RootIdentity> identity;  // only for a directory of this machine
};

Result<RootIdentity> identity_of(sys::Folder& folder);

/// Returns nothing if there is no such directory, or no key with that prefix.
Result<std::optional<RootSight>> look_at_root(const std::string& place);

/// True if the top of `target` has a name that the top of `source` has too.
Result<bool> have_name_in_common(const std::string& source, const std::string& target);

}  // namespace forebay::migrate
