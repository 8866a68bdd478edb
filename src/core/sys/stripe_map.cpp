#include "core/sys/stripe_map.hpp"

#include <algorithm>
#include <utility>

#include "core/sys/stripe_layout.hpp"

namespace forebay::sys {

std::vector<std::byte> lustre_wish(const Stripes& stripes) {
    return lustre_wish(StripeLayout{.stretches = {{.stripes = stripes}}});
}

std::optional<StripeDefault> lustre_default(std::span<const std::byte> attribute) {
    const auto layout = lustre_layout(attribute);
    if (layout.empty()) return {};
    const auto& last = layout.stretches.back();
    return StripeDefault{last.stripes.stripe_bytes, last.count};
}

Stripes StripeMap::last() const {
    if (stretches_.empty()) return {};
    const auto& last = stretches_.back();
    return {static_cast<std::uint32_t>(last.stripe_bytes), last.targets};
}

StripeMap StripeMap::of_lustre(std::span<const std::byte> attribute) {
    StripeMap map;
    for (auto& [begin, end, stripes, count, pool, pattern] : lustre_layout(attribute).stretches)
        if (stripes.stripe_bytes > 0 && !stripes.targets.empty())
            map.stretches_.push_back({begin, end, stripes.stripe_bytes, std::move(stripes.targets)});
    return map;
}

std::optional<std::uint32_t> StripeMap::target_of(std::uint64_t offset, std::uint64_t bytes) const {
    for (const auto& stretch : stretches_) {
        if (offset < stretch.begin || offset >= stretch.end) continue;
        const auto last = offset + (bytes > 0 ? bytes - 1 : 0);
        const bool is_in_one =
            stretch.targets.size() == 1 || offset / stretch.stripe_bytes == last / stretch.stripe_bytes;
        if (last < offset || last >= stretch.end || !is_in_one) return {};
        return stretch.targets[offset / stretch.stripe_bytes % stretch.targets.size()];
    }
    return {};
}

}  // namespace forebay::sys
