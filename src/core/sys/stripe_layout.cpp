#include "core/sys/stripe_layout.hpp"

#include <algorithm>
#include <utility>

#include "core/base/bytes.hpp"

namespace forebay::sys {

namespace {

constexpr std::uint32_t magic_v1 = 0x0BD10BD0, magic_v3 = 0x0BD30BD0, magic_composite = 0x0BD60BD0;
// lov_user_md_v1: magic, pattern, 16 bytes of identity, stripe size, stripe count, offset; v3 adds the name of a pool,
// 16 bytes. Then each object has 24 bytes; the last 4 are the number of its OST.
constexpr std::size_t plain_bytes = 32, pool_bytes = 16, pattern_at = 4, stripe_size_at = 24, stripe_count_at = 28;
constexpr std::size_t object_bytes = 24, object_target_at = 20;
// lov_comp_md_v1: 32 bytes, with the number of entries at 14 and the number of further mirrors at 16. Each entry has 48
// bytes: its number, flags, the stretch from byte 8 on, the place of its plain layout at 24 and the size of that at 28.
constexpr std::size_t composite_bytes = 32, composite_size_at = 4, entry_count_at = 14, mirrors_at = 16;
constexpr std::size_t entry_bytes = 48, entry_flags_at = 4;
constexpr std::size_t entry_begin_at = 8, entry_end_at = 16, entry_place_at = 24, entry_size_at = 28;
constexpr std::uint32_t flag_extends = 0x40, flag_parity = 0x80, flag_compressed = 0x100;
// The magic number of a request with a list of targets; its stripe offset is 65535, which means none.
constexpr std::uint32_t magic_specific = 0x0BD50BD0;
constexpr std::size_t stripe_offset_at = 30;
// LOV_PATTERN_F_RELEASED, and the bits of the lower half that a request may have.
constexpr std::uint32_t pattern_released = 0x8000'0000, pattern_mask = 0xffff;
constexpr std::uint32_t patterns_known = pattern_raid0 | pattern_on_metadata_server | pattern_overstriped;

std::size_t wish_bytes(const StripeStretch& stretch) {
    const auto& targets = stretch.stripes.targets;
    const bool has_pool = !targets.empty() || !stretch.pool.empty();
    return plain_bytes + (has_pool ? pool_bytes : 0) + targets.size() * object_bytes;
}

void put_wish(std::span<std::byte> to, const StripeStretch& stretch) {
    const auto& [stripe_bytes, targets] = stretch.stripes;
    const bool is_listed = !targets.empty();
    store_le(to.data(), is_listed ? magic_specific : stretch.pool.empty() ? magic_v1 : magic_v3);
    store_le(to.data() + pattern_at, stretch.pattern);
    store_le(to.data() + stripe_size_at, stripe_bytes);
    store_le(to.data() + stripe_count_at, static_cast<std::uint16_t>(is_listed ? targets.size() : stretch.count));
    store_le(to.data() + stripe_offset_at, std::uint16_t{65535});
    const auto pool = std::as_bytes(std::span(stretch.pool)).first(std::min(stretch.pool.size(), pool_bytes - 1));
    std::ranges::copy(pool, to.begin() + plain_bytes);
    for (std::size_t i = 0; i < targets.size(); ++i)
        store_le(to.data() + plain_bytes + pool_bytes + i * object_bytes + object_target_at, targets[i]);
}

void add_stretch(StripeLayout& layout, std::span<const std::byte> plain, std::uint64_t begin, std::uint64_t end) {
    const auto magic = plain.size() < plain_bytes ? 0 : load_le<std::uint32_t>(plain.data());
    if (end <= begin || (magic != magic_v1 && magic != magic_v3 && magic != magic_specific)) {
        layout.no_wish = "an unknown kind of component";
        return;
    }
    const bool has_pool = magic != magic_v1;
    const std::size_t head_bytes = plain_bytes + (has_pool ? pool_bytes : 0);
    const auto pattern = load_le<std::uint32_t>(plain.data() + pattern_at);
    layout.is_released = layout.is_released || (pattern & pattern_released) != 0;
    if ((pattern & pattern_mask & ~patterns_known) != 0) layout.no_wish = "an unknown pattern";
    StripeStretch stretch{.begin = begin,
                          .end = end,
                          .stripes = {load_le<std::uint32_t>(plain.data() + stripe_size_at), {}},
                          .count = load_le<std::uint16_t>(plain.data() + stripe_count_at),
                          .pattern = pattern & pattern_mask};
    if (has_pool && plain.size() >= head_bytes) {
        const auto* name = reinterpret_cast<const char*>(plain.data() + plain_bytes);
        stretch.pool.assign(name, std::find(name, name + pool_bytes, '\0'));
    }
    // A stretch without written bytes has no objects. Then a count of 65535 means all targets.
    if (plain.size() >= head_bytes && (plain.size() - head_bytes) / object_bytes >= stretch.count)
        for (std::size_t i = 0; i < stretch.count; ++i)
            stretch.stripes.targets.push_back(
                load_le<std::uint32_t>(plain.data() + head_bytes + i * object_bytes + object_target_at));
    layout.stretches.push_back(std::move(stretch));
}

}  // namespace

std::vector<std::uint32_t> targets_in_turn(const std::vector<std::uint32_t>& targets, std::uint64_t begin,
                                           std::size_t count) {
    std::vector<std::uint32_t> chosen;
    for (std::size_t i = 0; i < std::min(count, targets.size()); ++i)
        chosen.push_back(targets[(begin + i) % targets.size()]);
    return chosen;
}

StripeLayout lustre_layout(std::span<const std::byte> attribute) {
    StripeLayout layout;
    if (attribute.size() < composite_bytes) return layout;
    if (load_le<std::uint32_t>(attribute.data()) != magic_composite) {
        add_stretch(layout, attribute, 0, UINT64_MAX);
        return layout;
    }
    layout.is_composite = true;
    if (load_le<std::uint16_t>(attribute.data() + mirrors_at) != 0) layout.no_wish = "mirrors";
    const std::size_t entries = load_le<std::uint16_t>(attribute.data() + entry_count_at);
    for (std::size_t i = 0; i < entries && composite_bytes + (i + 1) * entry_bytes <= attribute.size(); ++i) {
        const auto* entry = attribute.data() + composite_bytes + i * entry_bytes;
        const auto flags = load_le<std::uint32_t>(entry + entry_flags_at);
        if ((flags & flag_extends) != 0) layout.no_wish = "a self-extending component";
        if ((flags & (flag_parity | flag_compressed)) != 0) layout.no_wish = "parity or compression";
        const std::size_t place = load_le<std::uint32_t>(entry + entry_place_at);
        const std::size_t size = load_le<std::uint32_t>(entry + entry_size_at);
        // Place and size come from storage, so they may be wrong.
        if (place > attribute.size() || size > attribute.size() - place) continue;
        add_stretch(layout, attribute.subspan(place, size), load_le<std::uint64_t>(entry + entry_begin_at),
                    load_le<std::uint64_t>(entry + entry_end_at));
    }
    if (layout.stretches.size() != entries && layout.no_wish == nullptr) layout.no_wish = "a component that is cut off";
    return layout;
}

std::vector<std::byte> lustre_wish(const StripeLayout& layout) {
    const auto& stretches = layout.stretches;
    if (!layout.is_composite && stretches.size() == 1) {
        std::vector<std::byte> wish(wish_bytes(stretches.front()));
        put_wish(wish, stretches.front());
        return wish;
    }
    std::vector<std::byte> wish(composite_bytes + stretches.size() * entry_bytes);
    store_le(wish.data(), magic_composite);
    store_le(wish.data() + entry_count_at, static_cast<std::uint16_t>(stretches.size()));
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        const auto& stretch = stretches[i];
        const auto place = wish.size(), bytes = wish_bytes(stretch);
        wish.resize(place + bytes);
        put_wish(std::span(wish).subspan(place), stretch);
        auto* entry = wish.data() + composite_bytes + i * entry_bytes;
        store_le(entry + entry_begin_at, stretch.begin);
        store_le(entry + entry_end_at, stretch.end);
        store_le(entry + entry_place_at, static_cast<std::uint32_t>(place));
        store_le(entry + entry_size_at, static_cast<std::uint32_t>(bytes));
    }
    store_le(wish.data() + composite_size_at, static_cast<std::uint32_t>(wish.size()));
    return wish;
}

}  // namespace forebay::sys
