// DAOS addresses: "daos://POOL/CONTAINER/PATH", and the extended attribute by which a path of another file system
// stands for a container. Nothing is looked up.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::sys {

inline constexpr std::string_view daos_scheme = "daos://";
/// On a path that stands for a container, and on the root of each container that dfuse shows.
inline constexpr const char* daos_link_attribute = "user.daos";
/// The kernel's name for the kind of dfuse mounts.
inline constexpr std::string_view dfuse_kind = "fuse.daos";

struct DaosPlace {
    std::string pool, container;  // labels, or UUIDs
    std::string path;             // below the container's root: "", or "/a/b"

    std::string address() const { return std::string(daos_scheme) + pool + "/" + container + path; }
};

/// `refused` if the address has no container, or its path has "." or "..".
Result<DaosPlace> daos_place_from(std::string_view address);

/// Reads the attribute's value, "DAOS.POSIX://UUID/UUID". `unsupported` for containers without files, `refused` for
/// other texts.
Result<DaosPlace> daos_place_of_link(std::string_view value);

/// 8-4-4-4-12 hexadecimal digits.
bool is_uuid(std::string_view text);

/// The object classes of a container for simulations. A pool needs a rank for each cell of a stripe.
struct DaosProfile {
    std::uint32_t ranks_min = 0;
    const char* file_class = "";
    const char* directory_class = "";
    std::uint32_t losses = 0;  // lost ranks that the container survives
};
/// The safest and widest classes that fit a pool of so many ranks. 0: unknown, then for large pools.
const DaosProfile& daos_profile_for(std::uint32_t ranks);
inline constexpr std::uint64_t daos_chunk_bytes = 2u << 20, daos_cell_bytes = 128u << 10;

/// The command that makes such a container. In a pool of 18 ranks or more, files are spread over all targets with
/// erasure code 16+2, directories have three copies. DAOS checksums are on.
std::string daos_create_command(const DaosPlace& place, std::uint32_t ranks);

}  // namespace forebay::sys
