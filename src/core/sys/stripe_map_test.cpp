// Goal: the target of each byte follows Lustre's layouts; bytes that are no layout give no target.
// Method: attributes built field by field, by the structures of lustre_user.h.

#include "core/sys/stripe_map.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/base/bytes.hpp"
#include "support/lustre_layout.hpp"

using namespace forebay;
using sys::StripeMap;
using test::composite_layout;
using test::plain_layout;

TEST_CASE("stripes go round the targets") {
    for (const bool pool : {false, true}) {
        const auto map = StripeMap::of_lustre(plain_layout(1u << 20, {7, 3, 12}, pool));
        CHECK(map.target_of(0, 1u << 20) == 7u);
        CHECK(map.target_of((1u << 20) - 1, 1) == 7u);
        CHECK(map.target_of(1u << 20, 4096) == 3u);
        CHECK(map.target_of(5u << 20, 1u << 20) == 12u);
        CHECK(map.target_of(3u << 20, 1) == 7u);
        CHECK_FALSE(map.target_of((1u << 20) - 1, 2).has_value());  // on two targets
        CHECK_FALSE(map.target_of(~0ull, 2).has_value());
    }
    CHECK(StripeMap::of_lustre(plain_layout(1u << 20, {9}, false)).target_of(12345, 99u << 20) == 9u);
}

TEST_CASE("a composite layout has another one a stretch; what has no objects yet has no target") {
    const auto map = StripeMap::of_lustre(composite_layout({{0, 4u << 20, plain_layout(1u << 20, {1}, false)},
                                                            {4u << 20, 64u << 20, plain_layout(1u << 20, {2, 3}, true)},
                                                            {64u << 20, ~0ull, plain_layout(1u << 20, {}, false)}}));
    CHECK(map.target_of(0, 1) == 1u);
    CHECK(map.target_of((4u << 20) - 1, 1) == 1u);
    CHECK_FALSE(map.target_of((4u << 20) - 1, 2).has_value());
    CHECK(map.target_of(4u << 20, 1) == 2u);
    CHECK(map.target_of(5u << 20, 1) == 3u);
    CHECK_FALSE(map.target_of(64u << 20, 1).has_value());
}

TEST_CASE("bytes that are no layout are an empty map, wherever they are cut") {
    CHECK(StripeMap::of_lustre({}).empty());
    CHECK(StripeMap::of_lustre(bytes_of(std::string(1000, 'x'))).empty());
    const auto whole = composite_layout({{0, ~0ull, plain_layout(1u << 20, {1, 2, 3, 4}, true)}});
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
        CHECK(StripeMap::of_lustre(std::span(whole).first(bytes)).empty());
    auto none = plain_layout(0, {1, 2}, false);  // stripes of 0 bytes
    CHECK(StripeMap::of_lustre(none).empty());
}

TEST_CASE("the default of a directory: stripes and their bytes, of the last stretch where there are several") {
    const auto plain = sys::lustre_default(plain_layout(4u << 20, {0, 0, 0}, false));
    REQUIRE(plain);
    CHECK(plain->count == 3);
    CHECK(plain->stripe_bytes == 4u << 20);
    const auto composite = sys::lustre_default(composite_layout(
        {{0, 4u << 20, plain_layout(1u << 20, {1}, false)}, {4u << 20, ~0ull, plain_layout(2u << 20, {2, 3}, true)}}));
    REQUIRE(composite);
    CHECK(composite->count == 2);
    CHECK(composite->stripe_bytes == 2u << 20);
    CHECK_FALSE(sys::lustre_default(std::vector<std::byte>(48)));
    CHECK_FALSE(sys::lustre_default({}));
}
