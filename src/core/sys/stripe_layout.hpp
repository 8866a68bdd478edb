// Layouts of files over storage targets, read and requested by the attribute "lustre.lov" of Lustre. Its bytes are
// lov_user_md and lov_comp_md_v1 of lustre_user.h. Every reader of a file may read its layout. A new file without a
// layout takes the layout that you write.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/sys/stripe_map.hpp"

namespace forebay::sys {

/// The attribute's name. On a directory it holds the layout of new files.
inline constexpr const char* layout_attribute = "lustre.lov";

/// As a stripe count: one stripe on each target.
inline constexpr std::uint32_t all_targets = 65535;
inline constexpr std::uint32_t pattern_raid0 = 1, pattern_on_metadata_server = 0x100, pattern_overstriped = 0x200;

/// A stretch of a file with one layout.
struct StripeStretch {
    std::uint64_t begin = 0, end = UINT64_MAX;
    Stripes stripes{};        // 0 bytes: the file system's default
    std::uint32_t count = 0;  // used if no targets are listed; 0: the file system's default
    std::string pool{};       // the file system chooses among the targets of this pool
    std::uint32_t pattern = pattern_raid0;
};

/// The layout of a file, or of the new files of a directory.
struct StripeLayout {
    std::vector<StripeStretch> stretches{};  // a plain layout has one
    bool is_composite = false;
    bool is_released = false;       // only an archive (HSM) has the bytes: a read recalls them
    const char* no_wish = nullptr;  // the part that lustre_wish() cannot request: "mirrors"
    bool empty() const { return stretches.empty(); }
};

/// Empty if the bytes are no known layout. Counts and offsets are checked.
StripeLayout lustre_layout(std::span<const std::byte> attribute);
/// The attribute value that requests this layout.
std::vector<std::byte> lustre_wish(const StripeLayout& layout);

/// `count` of `targets`, at most all of them, from number `begin` on, in turn.
std::vector<std::uint32_t> targets_in_turn(const std::vector<std::uint32_t>& targets, std::uint64_t begin,
                                           std::size_t count);

}  // namespace forebay::sys
