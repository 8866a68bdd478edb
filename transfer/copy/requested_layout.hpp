// The requested storage targets for the files of a copy: --layout and --exclude-targets.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::tree {

enum class LayoutKind : std::uint8_t {
    automatic,  // the directory's layout, except for files too large for its one target
    usual,      // the directory's layout
    source,     // the source file's layout, if it has one
    by_size,
};

/// LOV_MAX_STRIPE_COUNT of Lustre's lustre_user.h.
inline constexpr std::uint32_t stripes_max = 2000;

/// Files of at most this size get this number of stripes.
struct SizeRule {
    std::uint64_t bytes_max = UINT64_MAX;
    std::uint32_t stripes = 0;  // sys::all_targets: all; 0: the directory's layout
};

struct RequestedLayout {
    LayoutKind kind = LayoutKind::automatic;
    std::vector<SizeRule> sizes{};  // smallest first; the last rule has no limit
    std::vector<std::uint32_t> excluded_targets{};
    std::string words = "auto";  // text that layout_from() parses to kind and sizes

    /// True if it needs a target file system with a choice of layouts.
    bool needs_layouts() const {
        return kind == LayoutKind::source || kind == LayoutKind::by_size || !excluded_targets.empty();
    }
};

/// "auto", "default", "source", or rules like "67108864:1,1073741824:4,-1": files of at most 64 MiB get one stripe, of
/// at most 1 GiB four, larger files one on each target. Returns `refused` for any other text; the error does not quote
/// it.
Result<RequestedLayout> layout_from(std::string_view words);

}  // namespace forebay::tree
