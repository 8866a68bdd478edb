// Which storage target holds which bytes of a file, where the file system tells it: Lustre does, to everybody who may
// read the file, by the attribute "lustre.lov". Its bytes are those of lov_user_md and lov_comp_md_v1 in Lustre's
// lustre_user.h: plain layouts (versions 1 and 3), and composite ones, which have another layout a stretch of the file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace forebay::sys {

/// How a new file is to lie: stripes of so many bytes go round the targets, in their order.
struct Stripes {
    std::uint32_t stripe_bytes = 0;
    std::vector<std::uint32_t> targets;
};

/// How many stripes of how many bytes new files of a directory get.
struct StripeDefault {
    std::uint32_t stripe_bytes = 0, count = 0;  // 65535: one on each target
};
/// Of the attribute "lustre.lov" of a directory: a plain layout, or the last one of a composite layout; nothing where
/// the bytes are none.
std::optional<StripeDefault> lustre_default(std::span<const std::byte> attribute);

/// The value of "lustre.lov" that asks for it: lov_user_md_v3 with LOV_USER_MAGIC_SPECIFIC.
std::vector<std::byte> lustre_wish(const Stripes& stripes);

class StripeMap {
public:
    /// Nothing in it where the bytes are no layout, or none that is known. Counts and offsets are checked.
    static StripeMap of_lustre(std::span<const std::byte> attribute);

    bool empty() const { return stretches_.empty(); }
    /// Of its last stretch, which holds most of a large file; no targets where nothing is known.
    Stripes last() const;
    /// The number of the OST that holds all of these bytes; nothing where several do, or none yet.
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
