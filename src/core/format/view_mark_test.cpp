// Goal: the mark of a view is valid only at the end of the file for which it was written.

#include "core/format/view_mark.hpp"

#include <doctest/doctest.h>

using namespace forebay;

namespace {

bool is_marked(const std::string& file) {
    if (file.size() < format::view_mark_bytes) return format::is_view_mark(file, file.size());
    return format::is_view_mark(std::string_view(file).substr(file.size() - format::view_mark_bytes), file.size());
}

}  // namespace

TEST_CASE("a file with its mark is a view, of any size") {
    for (const std::uint64_t bytes : {0ull, 1ull, 6224ull, 1ull << 40})
        CHECK(format::is_view_mark(format::view_mark(bytes), bytes + format::view_mark_bytes));
    CHECK(format::view_mark(6224) == "forebay view 1\nbytes 0000000000001850\n");
    CHECK(format::view_mark(0).size() == format::view_mark_bytes);
}

TEST_CASE("a mark that was written over, cut, continued or moved is none") {
    const std::string bytes(100, 'x');
    const auto file = bytes + format::view_mark(bytes.size());
    REQUIRE(is_marked(file));
    for (std::size_t at = bytes.size(); at < file.size(); ++at) {
        auto other = file;
        other[at] = static_cast<char>(other[at] ^ 1);
        CHECK_FALSE(is_marked(other));
        CHECK_FALSE(is_marked(file.substr(0, at)));
    }
    CHECK_FALSE(is_marked(file + "\n"));
    CHECK_FALSE(is_marked("x" + file));
    CHECK_FALSE(is_marked(file.substr(1)));
    CHECK_FALSE(is_marked(""));
}
