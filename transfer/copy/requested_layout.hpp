// On which storage targets the files of a copy are to lie, as --layout and --exclude-targets say it.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::tree {

enum class LayoutKind : std::uint8_t {
    automatic,  // as their directory says, but files that are too large for the one target that it gives them
    usual,      // as their directory says
    source,     // as the source's, where it has one
    by_size,
};

/// LOV_MAX_STRIPE_COUNT of Lustre's lustre_user.h.
inline constexpr std::uint32_t stripes_max = 2000;

/// Files of up to so many bytes get so many stripes.
struct SizeRule {
    std::uint64_t bytes_max = UINT64_MAX;
    std::uint32_t stripes = 0;  // sys::all_targets: over all; 0: as their directory says
};

struct RequestedLayout {
    LayoutKind kind = LayoutKind::automatic;
    std::vector<SizeRule> sizes{};  // the smallest first; the last one for all others
    std::vector<std::uint32_t> excluded_targets{};
    std::string words = "auto";  // from which layout_from() makes kind and sizes

    /// It cannot be fulfilled where the target's file system does not let one choose.
    bool needs_layouts() const {
        return kind == LayoutKind::source || kind == LayoutKind::by_size || !excluded_targets.empty();
    }
};

/// "auto", "default", "source", or rules like "67108864:1,1073741824:4,-1": files of at most 64 MiB get one stripe, of
/// at most 1 GiB four, larger ones one on each target. `refused`, without the words, for anything else.
Result<RequestedLayout> layout_from(std::string_view words);

}  // namespace forebay::tree
