#include "transfer/copy/requested_layout.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/try.hpp"
#include "core/sys/stripe_layout.hpp"

namespace forebay::tree {

namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

Result<std::vector<SizeRule>> rules_from(std::string_view words) {
    const Error refused{ErrorKind::refused, "a layout is auto, default, source, or rules with rising sizes", "",
                        "--layout 64M:1,1G:4,-1: one stripe up to 64 MiB, four up to 1 GiB, all for larger files"};
    std::vector<SizeRule> rules;
    for (bool is_last = false; !is_last;) {
        const auto rule = words.substr(0, words.find(','));
        is_last = rule.size() == words.size();
        words.remove_prefix(is_last ? words.size() : rule.size() + 1);
        const auto colon = rule.find(':');
        SizeRule read;
        std::int32_t stripes = 0;
        if ((colon == rule.npos) != is_last || !read_number(rule.substr(is_last ? 0 : colon + 1), stripes) ||
            stripes < -1 || stripes > static_cast<std::int32_t>(stripes_max) ||
            (!is_last && !read_number(rule.substr(0, colon), read.bytes_max)) ||
            (!rules.empty() && read.bytes_max <= rules.back().bytes_max))
            return refused;
        read.stripes = stripes < 0 ? sys::all_targets : static_cast<std::uint32_t>(stripes);
        rules.push_back(read);
    }
    return rules;
}

}  // namespace

Result<RequestedLayout> layout_from(std::string_view words) {
    RequestedLayout wish{.words = std::string(words)};
    if (words == "default") {
        wish.kind = LayoutKind::usual;
    } else if (words == "source") {
        wish.kind = LayoutKind::source;
    } else if (words != "auto") {
        wish.kind = LayoutKind::by_size;
        FB_TRY_ASSIGN(rules, rules_from(words));
        wish.sizes = std::move(rules);
    }
    return wish;
}

}  // namespace forebay::tree
