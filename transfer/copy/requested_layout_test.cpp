// Goal: --layout accepts the documented texts and refuses all others. Method: valid and invalid texts.

#include "transfer/copy/requested_layout.hpp"

#include <doctest/doctest.h>

#include "core/sys/stripe_layout.hpp"

using namespace forebay;
using tree::layout_from;
using tree::LayoutKind;

TEST_CASE("layout_wish: words") {
    CHECK(tree::RequestedLayout().kind == LayoutKind::automatic);
    CHECK(layout_from(tree::RequestedLayout().words).value().kind == LayoutKind::automatic);
    CHECK(layout_from("default").value().kind == LayoutKind::usual);
    CHECK(layout_from("source").value().kind == LayoutKind::source);
    CHECK(layout_from("source").value().needs_layouts());
    CHECK_FALSE(layout_from("default").value().needs_layouts());
    auto excludes = layout_from("auto").value();
    excludes.excluded_targets = {3};
    CHECK(excludes.needs_layouts());
}

TEST_CASE("layout_wish: rules for sizes") {
    const auto wish = layout_from("67108864:1,1073741824:0,-1").value();
    CHECK(wish.kind == LayoutKind::by_size);
    CHECK(wish.words == "67108864:1,1073741824:0,-1");
    REQUIRE(wish.sizes.size() == 3);
    CHECK(wish.sizes[0].bytes_max == 64u << 20);
    CHECK(wish.sizes[0].stripes == 1);
    CHECK(wish.sizes[1].stripes == 0);
    CHECK(wish.sizes[2].bytes_max == UINT64_MAX);
    CHECK(wish.sizes[2].stripes == sys::all_targets);
    CHECK(layout_from("7").value().sizes.size() == 1);
    CHECK(layout_from("2000").value().sizes[0].stripes == 2000);
}

TEST_CASE("layout_wish: anything else is refused") {
    for (const auto* words : {"",    ",",         "1,",        "1:1",    "1:1,",
                              "1,1", "2:1,1:1,1", "1:1,1:2,1", "-1:1,1", "1:-2,1",
                              "-2",  "2001",      "1:x,1",     "x:1,1",  "1:1:1,1",
                              " 1",  "1 ",        "64M:1,1",   "mirror", "99999999999999999999:1,1"}) {
        CAPTURE(words);
        const auto wish = layout_from(words);
        REQUIRE(!wish);
        CHECK(wish.error().kind == ErrorKind::refused);
    }
}
