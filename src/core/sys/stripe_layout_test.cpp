// Goal: layouts are read and requested in Lustre's form, and the parts that cannot be requested are reported.
// Method: attributes built field by field, by the structures of lustre_user.h.

#include "core/sys/stripe_layout.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/base/bytes.hpp"
#include "support/lustre_layout.hpp"

using namespace forebay;
using test::composite_layout;
using test::plain_layout;

TEST_CASE("a wish asks for what the attribute of a file says, and is that of another file system too") {
    auto pooled = plain_layout(1u << 20, {4, 5}, true);
    auto layout = sys::lustre_layout(composite_layout({{0, 4u << 20, plain_layout(1u << 20, {1}, false)},
                                                       {4u << 20, 64u << 20, pooled},
                                                       {64u << 20, ~0ull, plain_layout(1u << 20, {}, false)}}));
    REQUIRE(layout.stretches.size() == 3);
    CHECK(layout.is_composite);
    CHECK(layout.no_wish == nullptr);
    CHECK_FALSE(layout.is_released);
    CHECK(layout.stretches[1].pool == std::string(16, 'p'));
    CHECK(layout.stretches[1].stripes.targets == std::vector<std::uint32_t>{4, 5});
    for (auto& stretch : layout.stretches) stretch.stripes.targets.clear();
    layout.stretches[2].count = sys::all_targets;
    const auto wish = sys::lustre_wish(layout);
    const auto again = sys::lustre_layout(wish);
    REQUIRE(again.stretches.size() == 3);
    CHECK(sys::lustre_wish(again) == wish);
    CHECK(load_le<std::uint32_t>(wish.data() + 4) == wish.size());
    CHECK(load_le<std::uint16_t>(wish.data() + 14) == 3);
    // Three entries of 48 bytes behind 32, then the plain requests: of 32 bytes, and of 48 with a pool.
    const std::size_t first = 32 + 3 * 48;
    CHECK(wish.size() == first + 32 + 48 + 32);
    CHECK(load_le<std::uint32_t>(wish.data() + first) == 0x0BD10BD0u);
    CHECK(load_le<std::uint32_t>(wish.data() + first + 32) == 0x0BD30BD0u);
    CHECK(load_le<std::uint16_t>(wish.data() + first + 32 + 28) == 2);
    CHECK(load_le<std::uint16_t>(wish.data() + first + 32 + 30) == 65535);  // no first target
    CHECK(again.stretches[1].begin == 4u << 20);
    CHECK(again.stretches[1].end == 64u << 20);
    CHECK(again.stretches[2].count == sys::all_targets);
    // With targets, the request has their list.
    layout.stretches[0].stripes.targets = {7};
    CHECK(load_le<std::uint32_t>(sys::lustre_wish(layout).data() + first) == 0x0BD50BD0u);
    CHECK(sys::lustre_wish(sys::Stripes{1u << 20, {7, 9}}).size() == 48 + 2 * 24);
}

TEST_CASE("what no wish can ask for is said, and a file whose bytes an archive has") {
    const auto plain = plain_layout(1u << 20, {1, 2}, false);
    const auto with = [&](std::size_t at, std::byte value) {
        auto composite = composite_layout({{0, 4u << 20, plain}, {4u << 20, ~0ull, plain}});
        composite[at] = value;
        return sys::lustre_layout(composite);
    };
    CHECK(with(16, std::byte{0}).no_wish == nullptr);
    CHECK(with(16, std::byte{1}).no_wish != nullptr);               // a mirror
    CHECK(with(32 + 4, std::byte{0x50}).no_wish != nullptr);        // extends itself
    CHECK(with(32 + 4, std::byte{0x90}).no_wish != nullptr);        // parity
    CHECK(with(32 + 5, std::byte{1}).no_wish != nullptr);           // compressed
    CHECK(with(14, std::byte{3}).no_wish != nullptr);               // more stretches than there are
    CHECK(with(32 + 2 * 48 + 4, std::byte{8}).no_wish != nullptr);  // another pattern
    CHECK(with(32 + 2 * 48, std::byte{0}).stretches.size() == 1);
    CHECK_FALSE(with(16, std::byte{0}).is_released);
    CHECK(with(32 + 2 * 48 + 7, std::byte{0x80}).is_released);
    auto released = plain;
    released[7] = std::byte{0x80};
    released.resize(32);
    CHECK(sys::lustre_layout(released).is_released);
    CHECK(sys::lustre_layout(released).stretches[0].count == 2);
    CHECK(sys::lustre_layout(released).stretches[0].pattern == sys::pattern_raid0);
}

TEST_CASE("targets come in turns") {
    const std::vector<std::uint32_t> targets{3, 5, 8};
    CHECK(sys::targets_in_turn(targets, 0, 2) == std::vector<std::uint32_t>{3, 5});
    CHECK(sys::targets_in_turn(targets, 2, 2) == std::vector<std::uint32_t>{8, 3});
    CHECK(sys::targets_in_turn(targets, 7, 9) == std::vector<std::uint32_t>{5, 8, 3});
    CHECK(sys::targets_in_turn({}, 7, 9).empty());
}
