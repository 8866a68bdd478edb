// Goal: an error leaves the control page in the same parts that went in, and never exceeds its place.
// Method: parts that fit, absent parts and parts that are too long, each over the text of a longer error.

#include "path/node/control.hpp"

#include <doctest/doctest.h>

using namespace forebay;

namespace {

Error through_page(node::ErrorText& page, const Error& error) {
    node::set_error(page, error);
    return node::error_in(static_cast<std::uint32_t>(error.kind), page);
}

}  // namespace

TEST_CASE("an error crosses the control page in its parts") {
    node::ErrorText page{};
    for (const auto& error : {Error{ErrorKind::full, "no room on the target", "step 3, staged", "forebay drain all"},
                              Error{ErrorKind::retry, "busy", "", "wait."}, Error{ErrorKind::corrupt, "bad", "all"},
                              Error{ErrorKind::broken, "oh"}, Error{ErrorKind::missing}}) {
        const auto back = through_page(page, error);
        CHECK(back.kind == error.kind);
        CHECK(back.what == error.what);
        CHECK(back.safe == error.safe);
        CHECK(back.next == error.next);
    }
}

TEST_CASE("what does not fit is cut") {
    node::ErrorText page{};
    const std::string long_text(node::error_text_max, 'x');
    const auto cut = through_page(page, {ErrorKind::full, long_text, "step 3", "forebay drain all"});
    CHECK(cut.what == long_text.substr(0, node::error_text_max - 3));
    CHECK(cut.safe.empty());
    CHECK(cut.next.empty());
    const auto half = through_page(page, {ErrorKind::full, "no room", long_text, "forebay drain all"});
    CHECK(half.what == "no room");
    CHECK(half.safe == long_text.substr(0, node::error_text_max - 3 - 7));
    CHECK(half.next.empty());
}

TEST_CASE("a page without an end is read to its last byte") {
    node::ErrorText page;
    page.fill('x');
    CHECK(node::error_in(1, page).what == std::string(page.size(), 'x'));
}
