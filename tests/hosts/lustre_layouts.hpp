// File layouts of striped_fs, and the attribute "lustre.lov" that reports and sets them. The structures are those of
// Lustre's lustre_user.h: lov_user_md_v1 and v3 (v3 also with a list of targets), and lov_comp_md_v1.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace striped {

constexpr std::uint32_t magic_v1 = 0x0BD10BD0, magic_v3 = 0x0BD30BD0, magic_specific = 0x0BD50BD0;
constexpr std::uint32_t magic_composite = 0x0BD60BD0;
constexpr std::uint32_t raid0 = 1, on_metadata_server = 0x100, released = 0x80000000;
constexpr std::uint16_t all_targets = 65535;
constexpr std::size_t v1_bytes = 32, v3_bytes = 48, object_bytes = 24, head_bytes = 32, entry_bytes = 48;

struct Plain {
    std::uint32_t pattern = raid0, stripe_bytes = 0;
    std::uint16_t count = 0;
    std::string pool = {};
    std::vector<unsigned> targets = {};  // requested targets, or the targets of its objects
};

struct Component {
    std::uint64_t begin = 0, end = UINT64_MAX;
    Plain plain;
};

struct Layout {
    bool is_composite = false;
    std::vector<Component> components;
};

template <class T>
void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T get(const std::string& from, std::size_t at) {
    T value{};
    std::memcpy(&value, from.data() + at, sizeof value);
    return value;
}

// The pool "first4" has targets 0 to 3.
inline unsigned targets_of(const std::string& pool, unsigned targets) {
    const auto digits = pool.find_first_of("0123456789");
    const auto named = digits == pool.npos ? targets : static_cast<unsigned>(std::strtoul(&pool[digits], nullptr, 10));
    return std::clamp(named, 1u, targets);
}

// Gives a plain layout its objects, beginning at target `first`.
inline void lay(Plain& plain, unsigned targets, unsigned first) {
    if (!plain.targets.empty() || plain.pattern == on_metadata_server) return;
    const auto there = targets_of(plain.pool, targets);
    const auto wanted = plain.count == 0 ? 1u : plain.count;
    for (unsigned i = 0; i < std::min<unsigned>(wanted, there); ++i) plain.targets.push_back((first + i) % there);
    plain.count = static_cast<std::uint16_t>(plain.targets.size());
}

inline void lay(Layout& layout, unsigned targets, unsigned first) {
    // Only the first component of a composite layout gets objects now. Lustre adds the rest when they are written.
    for (auto& component : layout.components) {
        lay(component.plain, targets, first);
        if (component.plain.pattern != on_metadata_server) return;
    }
}

inline std::optional<Plain> plain_from(const std::string& from, unsigned targets) {
    if (from.size() < v1_bytes) return {};
    const auto magic = get<std::uint32_t>(from, 0);
    const auto bytes = magic == magic_v1 ? v1_bytes : v3_bytes;
    if ((magic != magic_v1 && magic != magic_v3 && magic != magic_specific) || from.size() < bytes) return {};
    Plain plain{.pattern = get<std::uint32_t>(from, 4) & ~released,
                .stripe_bytes = get<std::uint32_t>(from, 24),
                .count = get<std::uint16_t>(from, 28)};
    if (get<std::uint16_t>(from, 30) != 65535) return {};  // a first target is not supported here
    if (magic != magic_v1) plain.pool = from.substr(v1_bytes, 16).c_str();
    if (magic != magic_specific) return plain;
    if (plain.count == 0 || from.size() != bytes + object_bytes * plain.count) return {};
    for (std::size_t i = 0; i < plain.count; ++i) {
        plain.targets.push_back(get<std::uint32_t>(from, bytes + object_bytes * i + 20));
        if (plain.targets.back() >= targets) return {};
    }
    return plain;
}

// Empty if no Lustre server would accept it.
inline std::optional<Layout> layout_from(const std::string& from, unsigned targets) {
    if (from.size() < v1_bytes) return {};
    Layout layout;
    if (get<std::uint32_t>(from, 0) != magic_composite) {
        const auto plain = plain_from(from, targets);
        if (!plain) return {};
        layout.components.push_back({.plain = *plain});
        return layout;
    }
    layout.is_composite = true;
    const std::size_t entries = get<std::uint16_t>(from, 14);
    if (get<std::uint32_t>(from, 4) != from.size() || get<std::uint16_t>(from, 16) != 0 || entries == 0 ||
        from.size() < head_bytes + entries * entry_bytes)
        return {};
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < entries; ++i) {
        const auto at = head_bytes + i * entry_bytes;
        const std::size_t place = get<std::uint32_t>(from, at + 24), size = get<std::uint32_t>(from, at + 28);
        if (get<std::uint64_t>(from, at + 8) != end || get<std::uint32_t>(from, at + 4) != 0 || place > from.size() ||
            size > from.size() - place)
            return {};
        end = get<std::uint64_t>(from, at + 16);
        const auto plain = plain_from(from.substr(place, size), targets);
        if (!plain) return {};
        layout.components.push_back({get<std::uint64_t>(from, at + 8), end, *plain});
    }
    return layout;
}

inline std::string attribute_of(const Plain& plain, bool is_released) {
    std::string out;
    const bool has_pool = !plain.pool.empty();
    put(out, has_pool ? magic_v3 : magic_v1);
    put<std::uint32_t>(out, plain.pattern | (is_released ? released : 0));
    out.append(16, '\0');
    put(out, plain.stripe_bytes);
    put(out, plain.count);
    put<std::uint16_t>(out, 0);
    if (has_pool) {
        out += plain.pool.substr(0, 15);
        out.resize(v3_bytes);
    }
    if (is_released) return out;
    for (const auto target : plain.targets) {
        out.append(20, '\0');
        put(out, static_cast<std::uint32_t>(target));
    }
    return out;
}

inline std::string attribute_of(const Layout& layout, bool is_released) {
    if (!layout.is_composite) return attribute_of(layout.components.front().plain, is_released);
    std::string head, entries, blobs;
    const auto count = layout.components.size();
    for (const auto& [begin, end, plain] : layout.components) {
        const auto blob = attribute_of(plain, is_released);
        put(entries, static_cast<std::uint32_t>(entries.size() / entry_bytes + 1));
        put<std::uint32_t>(entries, plain.targets.empty() ? 0 : 0x10);  // the component has objects
        put(entries, begin);
        put(entries, end);
        put(entries, static_cast<std::uint32_t>(head_bytes + count * entry_bytes + blobs.size()));
        put(entries, static_cast<std::uint32_t>(blob.size()));
        entries.append(16, '\0');
        blobs += blob;
    }
    put(head, magic_composite);
    put(head, static_cast<std::uint32_t>(head_bytes + entries.size() + blobs.size()));
    head.append(6, '\0');
    put(head, static_cast<std::uint16_t>(count));
    head.append(16, '\0');
    return head + entries + blobs;
}

}  // namespace striped
