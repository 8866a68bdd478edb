#include "s3/key_pages.hpp"

#include "base/bytes.hpp"
#include "base/show_text.hpp"
#include "base/siphash.hpp"
#include "base/try.hpp"

namespace forebay::s3 {

namespace {

// Pages of what was removed are empty where a server keeps versions, of which it looks at some thousands for each.
constexpr int empty_pages_max = 1'000;

}  // namespace

// Not by its token, which may be another one each time that it is given.
Result<KeyPage> KeyPages::next() {
    FB_TRY_ASSIGN(page, bucket_.list({.prefix = prefix_, .from = from_}));
    from_ = page.next;
    has_more_ = page.is_truncated;
    if (!has_more_) return page;
    std::string first;
    if (!page.objects.empty()) first = page.objects.front().key;
    first += '\n';
    if (!page.prefixes.empty()) first += page.prefixes.front();
    const bool is_empty = page.objects.empty() && page.prefixes.empty();
    if (is_empty ? ++empty_ <= empty_pages_max : begun_.insert(siphash({}, bytes_of(first))).second) return page;
    return Error{ErrorKind::corrupt, "the server's listing of s3://" + bucket_.name() + "/" + show_text(prefix_) +
                                         " goes back to a page that it has given before"};
}

}  // namespace forebay::s3
