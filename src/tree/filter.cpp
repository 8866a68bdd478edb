#include "tree/filter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/glob.hpp"
#include "base/show_text.hpp"

namespace forebay::tree {

namespace {

// WishedNames are looked at and let go by recursion, a call for each folder: 100,000 fit on a stack of 8 MiB, two
// million do not.
constexpr std::size_t wished_folders_max = 10'000;
constexpr std::size_t shown_bytes_max = 100;

/// The patterns of a filter to include, or to exclude.
struct Patterns {
    const std::vector<std::string>& all;
    PatternUse* use;
    std::size_t first;  // of them in `use`
};

template <class Path>
bool fits_any(const Patterns& patterns, const Path& path, std::string_view name) {
    bool fits = false;
    for (std::size_t i = 0; i < patterns.all.size(); ++i) {
        const auto at = patterns.first + i;
        auto* use = patterns.use != nullptr && at < patterns.use->size() ? &(*patterns.use)[at] : nullptr;
        if (use != nullptr && use->load(std::memory_order_relaxed) != 0) use = nullptr;
        if (fits && use == nullptr) continue;
        const auto& pattern = patterns.all[i];
        const bool is_path = pattern.find('/') != pattern.npos;
        if (!matches(pattern, is_path ? std::string_view(path()) : name, Wild::star_and_question)) continue;
        fits = true;
        if (use != nullptr) ++*use;
    }
    return fits;
}

Result<> add_wish(WishedNames& names, std::string_view path) {
    if (path.starts_with('/'))
        return Error{ErrorKind::refused, "the list has " + show_text(path) + ": its paths are those below the source"};
    auto* at = &names;
    const auto whole = path;
    std::size_t folders = 0;
    while (!path.empty()) {
        const auto name = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), name.size() + 1));
        if (name.empty() || name == ".") continue;
        if (name == "..") return Error{ErrorKind::refused, "the list has a path that leads upwards, by \"..\""};
        if (++folders > wished_folders_max)
            return Error{ErrorKind::refused,
                         fmt::format("the list has a path of more than {} folders: {}...", wished_folders_max,
                                     show_text(whole.substr(0, shown_bytes_max))),
                         "nothing was changed", "name a folder above it, which stands for all that is in it"};
        at = &at->below[std::string(name)];
    }
    at->is_whole = true;
    return {};
}

}  // namespace

Result<WishedNames> wished_names(std::string_view list, bool by_nul) {
    if (!by_nul && list.find('\0') != list.npos)
        return Error{ErrorKind::refused, "the list has a zero byte, which no name has", "nothing was changed",
                     "--null, where each of its paths ends with one"};
    WishedNames names;
    while (!list.empty()) {
        const auto path = list.substr(0, list.find(by_nul ? '\0' : '\n'));
        list.remove_prefix(std::min(list.size(), path.size() + 1));
        if (path.empty()) continue;
        if (auto added = add_wish(names, path); !added) return added.error();
    }
    return names;
}

Result<> check_pattern(const std::string& pattern) {
    if (!pattern.empty() && !pattern.starts_with('/') && !pattern.starts_with("./") && !pattern.ends_with('/'))
        return {};
    return Error{
        ErrorKind::refused, "the pattern \"" + show_text(pattern) + "\" fits no entry", "nothing was changed",
        "a name as in 'tmp' or '*.o', or a path below the tree as in 'a/tmp': without a slash at its begin or end"};
}

std::vector<std::atomic<std::uint64_t>*> EntryFilter::uses() const {
    std::vector<std::atomic<std::uint64_t>*> uses;
    for (std::size_t i = 0; use && i < std::min(include.size() + exclude.size(), use->size()); ++i)
        uses.push_back(&(*use)[i]);
    return uses;
}

bool EntryFilter::takes(const Branch& branch, const std::string& name, sys::EntryKind kind) const {
    if (is_empty()) return true;
    const auto path = [&] { return path_of(branch, name); };
    if (fits_any({exclude, use.get(), include.size()}, path, name)) return false;
    return include.empty() || kind == sys::EntryKind::folder || fits_any({include, use.get(), 0}, path, name);
}

bool EntryFilter::takes(const std::string& path, sys::EntryKind kind) const {
    if (is_empty() || path == ".") return true;
    for (std::size_t begin = 0; begin < path.size();) {
        const auto end = std::min(path.find('/', begin), path.size());
        const auto whole = [&] { return std::string_view(path).substr(0, end); };
        const auto name = whole().substr(begin);
        if (fits_any({exclude, use.get(), include.size()}, whole, name)) return false;
        if (end == path.size())
            return include.empty() || kind == sys::EntryKind::folder || fits_any({include, use.get(), 0}, whole, name);
        begin = end + 1;
    }
    return true;
}

}  // namespace forebay::tree
