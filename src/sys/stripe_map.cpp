#include "sys/stripe_map.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes.hpp"

namespace forebay::sys {

namespace {

constexpr std::uint32_t magic_v1 = 0x0BD10BD0, magic_v3 = 0x0BD30BD0, magic_composite = 0x0BD60BD0;
// lov_user_md_v1: magic, pattern, 16 bytes of identity, stripe size, stripe count, offset; v3 has a pool's name of 16
// bytes more. Then 24 bytes an object, of which the last 4 number the OST.
constexpr std::size_t plain_bytes = 32, pool_bytes = 16, stripe_size_at = 24, stripe_count_at = 28;
constexpr std::size_t object_bytes = 24, object_target_at = 20;
// lov_comp_md_v1: 32 bytes, at 14 the number of entries of 48 bytes: the stretch from byte 8 on, the place of its plain
// layout at 24 and the size of that at 28.
constexpr std::size_t composite_bytes = 32, entry_count_at = 14, entry_bytes = 48;
constexpr std::size_t entry_begin_at = 8, entry_end_at = 16, entry_place_at = 24, entry_size_at = 28;
// Of a wish with a list of targets; its stripe offset is that of none, 65535.
constexpr std::uint32_t magic_specific = 0x0BD50BD0, pattern_raid0 = 1;
constexpr std::size_t pattern_at = 4, stripe_offset_at = 30;
constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

}  // namespace

std::vector<std::byte> lustre_wish(const Stripes& stripes) {
    std::vector<std::byte> wish(plain_bytes + pool_bytes + stripes.targets.size() * object_bytes);
    store_le(wish.data(), magic_specific);
    store_le(wish.data() + pattern_at, pattern_raid0);
    store_le(wish.data() + stripe_size_at, stripes.stripe_bytes);
    store_le(wish.data() + stripe_count_at, static_cast<std::uint16_t>(stripes.targets.size()));
    store_le(wish.data() + stripe_offset_at, std::uint16_t{65535});
    for (std::size_t i = 0; i < stripes.targets.size(); ++i)
        store_le(wish.data() + plain_bytes + pool_bytes + i * object_bytes + object_target_at, stripes.targets[i]);
    return wish;
}

std::optional<StripeDefault> lustre_default(std::span<const std::byte> attribute) {
    if (attribute.size() < plain_bytes) return {};
    const auto magic = load_le<std::uint32_t>(attribute.data());
    if (magic == magic_composite) {
        const std::size_t entries = load_le<std::uint16_t>(attribute.data() + entry_count_at);
        if (entries == 0 || composite_bytes + entries * entry_bytes > attribute.size()) return {};
        const auto* entry = attribute.data() + composite_bytes + (entries - 1) * entry_bytes;
        const std::size_t place = load_le<std::uint32_t>(entry + entry_place_at);
        if (place < composite_bytes || place > attribute.size()) return {};  // never into itself
        const auto plain = attribute.subspan(place);
        if (plain.size() < plain_bytes || load_le<std::uint32_t>(plain.data()) == magic_composite) return {};
        return lustre_default(plain);
    }
    if (magic != magic_v1 && magic != magic_v3) return {};
    return StripeDefault{load_le<std::uint32_t>(attribute.data() + stripe_size_at),
                         load_le<std::uint16_t>(attribute.data() + stripe_count_at)};
}

Stripes StripeMap::last() const {
    if (stretches_.empty()) return {};
    const auto& last = stretches_.back();
    return {static_cast<std::uint32_t>(std::min<std::uint64_t>(last.stripe_bytes, UINT32_MAX)), last.targets};
}

StripeMap StripeMap::of_lustre(std::span<const std::byte> attribute) {
    StripeMap map;
    if (attribute.size() < composite_bytes) return map;
    if (load_le<std::uint32_t>(attribute.data()) != magic_composite) {
        map.add(attribute, 0, no_end);
        return map;
    }
    const std::size_t entries = load_le<std::uint16_t>(attribute.data() + entry_count_at);
    for (std::size_t i = 0; i < entries && composite_bytes + (i + 1) * entry_bytes <= attribute.size(); ++i) {
        const auto* entry = attribute.data() + composite_bytes + i * entry_bytes;
        const std::size_t place = load_le<std::uint32_t>(entry + entry_place_at);
        const std::size_t size = load_le<std::uint32_t>(entry + entry_size_at);
        if (place > attribute.size() || size > attribute.size() - place) continue;
        map.add(attribute.subspan(place, size), load_le<std::uint64_t>(entry + entry_begin_at),
                load_le<std::uint64_t>(entry + entry_end_at));
    }
    return map;
}

void StripeMap::add(std::span<const std::byte> plain, std::uint64_t begin, std::uint64_t end) {
    if (plain.size() < plain_bytes || end <= begin) return;
    const auto magic = load_le<std::uint32_t>(plain.data());
    if (magic != magic_v1 && magic != magic_v3) return;
    const std::size_t head_bytes = plain_bytes + (magic == magic_v3 ? pool_bytes : 0);
    Stretch stretch{.begin = begin,
                    .end = end,
                    .stripe_bytes = load_le<std::uint32_t>(plain.data() + stripe_size_at),
                    .targets = {}};
    const std::size_t count = load_le<std::uint16_t>(plain.data() + stripe_count_at);
    // A stretch that nobody has written to has no objects, and a count of 65535 means all targets then.
    if (stretch.stripe_bytes == 0 || count == 0 || plain.size() < head_bytes ||
        (plain.size() - head_bytes) / object_bytes < count)
        return;
    for (std::size_t i = 0; i < count; ++i)
        stretch.targets.push_back(
            load_le<std::uint32_t>(plain.data() + head_bytes + i * object_bytes + object_target_at));
    stretches_.push_back(std::move(stretch));
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
