// Any bytes as the attribute of a Lustre layout: no crash, no more targets than the bytes hold, and a map that agrees
// with the layout. A request for a layout reads back as that layout.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/sys/stripe_layout.hpp"

using namespace forebay::sys;

namespace {

constexpr std::size_t object_bytes = 24;    // of lov_user_ost_data_v1
constexpr std::size_t pool_bytes_max = 15;  // LOV_MAXPOOLNAME; a request holds no more

bool is_same(const StripeStretch& stretch, const StripeStretch& other) {
    return stretch.begin == other.begin && stretch.end == other.end &&
           stretch.stripes.stripe_bytes == other.stripes.stripe_bytes &&
           stretch.stripes.targets == other.stripes.targets && stretch.count == other.count &&
           stretch.pattern == other.pattern &&
           stretch.pool.substr(0, pool_bytes_max) == other.pool.substr(0, pool_bytes_max);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto layout = lustre_layout(bytes);
    const auto map = StripeMap::of_lustre(bytes);
    for (const auto& stretch : layout.stretches)
        if (stretch.begin >= stretch.end || stretch.stripes.targets.size() > size / object_bytes) std::abort();
    for (const auto& stretch : layout.stretches)
        if (const auto target = map.target_of(stretch.begin, 1); target && layout.stretches.size() == 1)
            if (std::ranges::find(stretch.stripes.targets, *target) == stretch.stripes.targets.end()) std::abort();
    if (lustre_default(bytes).has_value() == layout.empty()) std::abort();
    if (layout.empty() || layout.no_wish != nullptr) return 0;
    const auto again = lustre_layout(lustre_wish(layout));
    if (again.is_composite != layout.is_composite || again.no_wish != nullptr) std::abort();
    if (!std::ranges::equal(again.stretches, layout.stretches, is_same)) std::abort();
    return 0;
}
