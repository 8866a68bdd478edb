#include "core/s3/key_pages.hpp"

#include "core/base/bytes.hpp"
#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"

namespace forebay::s3 {

namespace {

// A server that keeps versions returns empty pages for removed objects, because it reads some thousands of versions for
// each page. A server that reads keys in batches may return one directory on every page that its keys fill. So such
// pages may repeat, up to this limit.
constexpr int poor_pages_max = 10'000;

}  // namespace

// Pages are compared by their keys. The token may differ each time that the server sends the same page.
Result<KeyPage> KeyPages::next() {
    FB_TRY_ASSIGN(page, bucket_.list({.prefix = prefix_, .from = from_, .is_deep = is_deep_}));
    from_ = page.next;
    has_more_ = page.is_truncated;
    if (!has_more_) return page;
    std::string ends;
    if (!page.objects.empty()) ends = page.objects.front().key + '\n' + page.objects.back().key;
    ends += '\n';
    if (!page.prefixes.empty()) ends += page.prefixes.front() + '\n' + page.prefixes.back();
    if (given_.insert(siphash({}, bytes_of(ends))).second) {
        poor_ = 0;
        return page;
    }
    const bool is_poor = page.objects.empty() && page.prefixes.size() <= 1;
    if (is_poor && ++poor_ <= poor_pages_max) return page;
    return Error{ErrorKind::corrupt,
                 "the server's listing of s3://" + bucket_.name() + "/" + show_text(prefix_) + " repeats a page"};
}

}  // namespace forebay::s3
