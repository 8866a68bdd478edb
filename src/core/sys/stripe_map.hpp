// The storage target of each byte of a file, if the file system reports it. Lustre does, to every reader of the file,
// by the attribute "lustre.lov". Its bytes are lov_user_md and lov_comp_md_v1 of Lustre's lustre_user.h: plain layouts
// (versions 1 and 3), and composite layouts with another layout for each stretch.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace forebay::sys {

/// The requested layout of a new file: stripes of this size go round the targets, in their order.
struct Stripes {
    std::uint32_t stripe_bytes = 0;
    std::vector<std::uint32_t> targets;
};

/// Size and count of the stripes of new files in a directory.
struct StripeDefault {
    std::uint32_t stripe_bytes = 0, count = 0;  // 65535: one on each target
};
/// Reads the attribute "lustre.lov" of a directory: a plain layout, or the last part of a composite layout. Empty if
/// the bytes are neither.
std::optional<StripeDefault> lustre_default(std::span<const std::byte> attribute);

/// The value of "lustre.lov" that requests these stripes: lov_user_md_v3 with LOV_USER_MAGIC_SPECIFIC.
std::vector<std::byte> lustre_wish(const Stripes& stripes);

class StripeMap {
public:
    /// Empty if the bytes are no known layout. Counts and offsets are checked.
    static StripeMap of_lustre(std::span<const std::byte> attribute);

    bool empty() const { return stretches_.empty(); }
    /// The stripes of the last stretch, which holds most of a large file; no targets if unknown.
    Stripes last() const;
    /// The number of the OST that holds all of these bytes; empty if several hold them, or none yet.
    std::optional<std::uint32_t> target_of(std::uint64_t offset, std::uint64_t bytes) const;

private:
    // Stripes of `stripe_bytes` go round the targets, from the file's beginning on.
    struct Stretch {
        std::uint64_t begin = 0, end = 0;
        std::uint64_t stripe_bytes = 0;
        std::vector<std::uint32_t> targets;
    };

    std::vector<Stretch> stretches_;
};

}  // namespace forebay::sys
