#include "tree/filter.hpp"

#include <algorithm>

#include "base/glob.hpp"
#include "base/show_text.hpp"

namespace forebay::tree {

namespace {

bool fits_any(const std::vector<std::string>& patterns, const Branch& branch, const std::string& name) {
    return std::ranges::any_of(patterns, [&](const std::string& pattern) {
        const bool is_path = pattern.find('/') != pattern.npos;
        return matches(pattern, is_path ? path_of(branch, name) : name, Wild::star_and_question);
    });
}

Result<> add_wish(WishedNames& names, std::string_view path) {
    if (path.starts_with('/'))
        return Error{ErrorKind::refused, "the list has " + show_text(path) + ": its paths are those below the source"};
    auto* at = &names;
    while (!path.empty()) {
        const auto name = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        if (name.empty() || name == ".") continue;
        if (name == "..") return Error{ErrorKind::refused, "the list has a path that leads upwards, by \"..\""};
        at = &at->below[std::string(name)];
    }
    at->is_whole = true;
    return {};
}

}  // namespace

Result<WishedNames> wished_names(std::string_view list, bool by_nul) {
    WishedNames names;
    while (!list.empty()) {
        const auto path = list.substr(0, list.find(by_nul ? '\0' : '\n'));
        list.remove_prefix(std::min(list.size(), path.size() + 1));
        if (path.empty()) continue;
        if (auto added = add_wish(names, path); !added) return added.error();
    }
    return names;
}

bool EntryFilter::takes(const Branch& branch, const std::string& name, sys::EntryKind kind) const {
    if (is_empty()) return true;
    if (fits_any(exclude, branch, name)) return false;
    return include.empty() || kind == sys::EntryKind::folder || fits_any(include, branch, name);
}

}  // namespace forebay::tree
