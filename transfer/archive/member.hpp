// One entry of an archive: the values of its head, and the places of its bytes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/tree.hpp"

namespace forebay::archive {

/// Blocks of tar. Heads and stored bytes are padded to whole blocks.
inline constexpr std::uint64_t block_bytes = 512;

struct MemberAttribute {
    std::string name;   // as in the kernel: an ACL is system.posix_acl_access
    std::string value;  // the kernel's bytes
};

/// A stretch of a file in an archive, with its place among the stored bytes. Holes are not stored.
struct StoredStretch {
    std::uint64_t begin = 0, end = 0;  // offsets in the file
    std::uint64_t stored = 0;          // after the map, if there is one
};

/// A sum over the entries of an archive, independent of their order. A lost or replaced entry changes it.
struct EntrySum {
    std::uint64_t entries = 0, sum = 0;
    void add(std::uint64_t place, std::uint32_t head_sum) {
        ++entries;
        sum += head_sum * (place / block_bytes);
    }
    bool operator==(const EntrySum&) const = default;
};

/// A value of a head that this program cannot set.
struct Unread {
    enum class Is { owner, permissions, times, attribute } is;
    std::string text;  // "user 4294967296"
};

struct Member {
    std::string path;         // below the archive's root: "a/b"; "." is the root itself
    sys::EntryStatus status;  // kind, size and all values of the head
    std::string link_text;    // text of a symbolic link
    std::string same_as;      // path of the inode's first name: then the entry has nothing else
    std::vector<MemberAttribute> attributes;
    std::vector<Unread> unread;

    bool has_holes = false;             // a map comes before the bytes
    std::uint64_t map_bytes = 0;        // of that map
    std::uint64_t stored_bytes = 0;     // with the map, without padding
    std::vector<StoredStretch> stored;  // stretches after the map, in order
    std::optional<std::uint32_t> sum;   // CRC32C of the stored bytes
    std::optional<EntrySum> end;        // only in the last entry: sum of all entries before it
};

}  // namespace forebay::archive
