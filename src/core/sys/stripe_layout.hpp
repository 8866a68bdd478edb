// Layouts of files over storage targets, read and wished for: the attribute "lustre.lov" of Lustre, whose bytes are
// those of lov_user_md and lov_comp_md_v1 in its lustre_user.h. Who may read a file may read it; a new file that lies
// nowhere yet takes it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/sys/stripe_map.hpp"

namespace forebay::sys {

/// The attribute's name. Of a directory it says how new files in it lie.
inline constexpr const char* layout_attribute = "lustre.lov";

/// In place of a count of stripes: one on each target.
inline constexpr std::uint32_t all_targets = 65535;
inline constexpr std::uint32_t pattern_raid0 = 1, pattern_on_metadata_server = 0x100, pattern_overstriped = 0x200;

/// A stretch of a file that lies alike.
struct StripeStretch {
    std::uint64_t begin = 0, end = UINT64_MAX;
    Stripes stripes{};        // of 0 bytes: as the file system has them
    std::uint32_t count = 0;  // where no targets are named, on so many; 0: as the file system has it
    std::string pool{};       // of targets, among which the file system chooses
    std::uint32_t pattern = pattern_raid0;
};

/// The layout of a file, or of the new files of a directory.
struct StripeLayout {
    std::vector<StripeStretch> stretches{};  // of a plain layout one
    bool is_composite = false;
    bool is_released = false;       // an archive alone has the bytes (HSM): who reads the file has them recalled
    const char* no_wish = nullptr;  // what of it lustre_wish() cannot ask for: "mirrors"
    bool empty() const { return stretches.empty(); }
};

/// Nothing in it where the bytes are no layout, or none that is known. Counts and offsets are checked.
StripeLayout lustre_layout(std::span<const std::byte> attribute);
/// The value that asks for it.
std::vector<std::byte> lustre_wish(const StripeLayout& layout);

/// `count` of `targets`, at most all of them, from the one at `begin` on, round and round.
std::vector<std::uint32_t> targets_in_turn(const std::vector<std::uint32_t>& targets, std::uint64_t begin,
                                           std::size_t count);

}  // namespace forebay::sys
