// The attribute "lustre.lov" as a Lustre client returns it, by the structures of lustre_user.h.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"

namespace forebay::test {

template <class T>
void put_le(std::vector<std::byte>& out, T value) {
    out.resize(out.size() + sizeof value);
    store_le(out.data() + out.size() - sizeof value, value);
}

/// A lov_user_md_v1; with a pool a lov_user_md_v3.
inline std::vector<std::byte> plain_layout(std::uint32_t stripe_bytes, const std::vector<std::uint32_t>& targets,
                                           bool pool) {
    std::vector<std::byte> out;
    put_le<std::uint32_t>(out, pool ? 0x0BD30BD0 : 0x0BD10BD0);
    put_le<std::uint32_t>(out, 1);  // RAID0
    out.resize(out.size() + 16);    // id of the file
    put_le(out, stripe_bytes);
    put_le(out, static_cast<std::uint16_t>(targets.size()));
    put_le<std::uint16_t>(out, 0);
    if (pool) out.resize(out.size() + 16, std::byte{'p'});
    for (const auto target : targets) {
        out.resize(out.size() + 20);  // id of the object, its generation
        put_le(out, target);
    }
    return out;
}

struct Component {
    std::uint64_t begin = 0, end = 0;
    std::vector<std::byte> layout;
};

/// A lov_comp_md_v1.
inline std::vector<std::byte> composite_layout(const std::vector<Component>& components) {
    std::vector<std::byte> out;
    put_le<std::uint32_t>(out, 0x0BD60BD0);
    put_le<std::uint32_t>(out, 0);  // total size, set below
    put_le<std::uint32_t>(out, 1);  // generation
    put_le<std::uint16_t>(out, 0);  // flags
    put_le(out, static_cast<std::uint16_t>(components.size()));
    out.resize(out.size() + 16);
    auto place = static_cast<std::uint32_t>(out.size() + 48 * components.size());
    for (std::uint32_t i = 0; i < components.size(); ++i) {
        put_le<std::uint32_t>(out, i + 1);
        put_le<std::uint32_t>(out, 0x10);  // the component has objects
        put_le(out, components[i].begin);
        put_le(out, components[i].end);
        put_le(out, place);
        put_le(out, static_cast<std::uint32_t>(components[i].layout.size()));
        out.resize(out.size() + 16);
        place += static_cast<std::uint32_t>(components[i].layout.size());
    }
    for (const auto& component : components) out.insert(out.end(), component.layout.begin(), component.layout.end());
    store_le(out.data() + 4, static_cast<std::uint32_t>(out.size()));
    return out;
}

}  // namespace forebay::test
