// One entry of an archive: what its head says, and where its bytes lie.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/tree.hpp"

namespace forebay::archive {

/// Tar counts in these; heads and stored bytes are filled up to whole ones.
inline constexpr std::uint64_t block_bytes = 512;

struct MemberAttribute {
    std::string name;   // as the kernel has it: an ACL is system.posix_acl_access
    std::string value;  // the kernel's bytes
};

/// Bytes of a file that an archive has, and where among the stored bytes: holes are not stored.
struct StoredStretch {
    std::uint64_t begin = 0, end = 0;  // in the file
    std::uint64_t stored = 0;          // behind the map, where there is one
};

/// Of the entries of an archive, whatever order they were written in: one that is lost, or another in its place, makes
/// it differ.
struct EntrySum {
    std::uint64_t entries = 0, sum = 0;
    void add(std::uint64_t place, std::uint32_t head_sum) {
        ++entries;
        sum += head_sum * (place / block_bytes);
    }
    bool operator==(const EntrySum&) const = default;
};

/// What a head has of an entry, and this program cannot give to one.
struct Unread {
    enum class Is { owner, permissions, times, attribute } is;
    std::string text;  // "user 4294967296"
};

struct Member {
    std::string path;         // below the root of the archive: "a/b"; "." is the root itself
    sys::EntryStatus status;  // its kind, size and all that the head has of it
    std::string link_text;    // of a symbolic link
    std::string same_as;      // the path of the inode's first name: then there is nothing else
    std::vector<MemberAttribute> attributes;
    std::vector<Unread> unread;

    bool has_holes = false;             // a map comes before the bytes
    std::uint64_t map_bytes = 0;        // of that map
    std::uint64_t stored_bytes = 0;     // with the map; the rest of the last block is not counted
    std::vector<StoredStretch> stored;  // what lies behind the map, in order
    std::optional<std::uint32_t> sum;   // CRC32C of the stored bytes
    std::optional<EntrySum> end;        // it is the last entry: of all before it
};

}  // namespace forebay::archive
