#include "transfer/walk/filter.hpp"

#include <algorithm>

#include "core/base/glob.hpp"
#include "core/base/show_text.hpp"

namespace forebay::tree {

namespace {

template <class Path>
bool fits(const std::string& pattern, const Path& path, std::string_view name) {
    if (pattern.find('/') == pattern.npos) return matches(pattern, name, Wild::star_and_question);
    if (pattern.starts_with('/'))  // as many slashes in both, so a star cannot match a slash
        return std::ranges::count(pattern, '/') == std::ranges::count(path(), '/') + 1 &&
               matches(std::string_view(pattern).substr(1), path(), Wild::star_and_question);
    return matches(pattern, path(), Wild::star_and_question);
}

/// The include or the exclude patterns of a filter.
struct Patterns {
    const std::vector<std::string>& all;
    PatternUse* use;
    std::size_t first;  // index of the first in `use`
};

template <class Path>
bool fits_any(const Patterns& patterns, const Path& path, std::string_view name) {
    bool is_found = false;
    for (std::size_t i = 0; i < patterns.all.size(); ++i) {
        const auto at = patterns.first + i;
        auto* use = patterns.use != nullptr && at < patterns.use->size() ? &(*patterns.use)[at] : nullptr;
        // A counted pattern is not counted again. After a first match only uncounted patterns are compared.
        if (use != nullptr && use->load(std::memory_order_relaxed) != 0) use = nullptr;
        if (is_found && use == nullptr) continue;
        const auto& pattern = patterns.all[i];
        if (!fits(pattern, path, name)) continue;
        is_found = true;
        if (use != nullptr) ++*use;
    }
    return is_found;
}

}  // namespace

Result<> check_pattern(const std::string& pattern) {
    if (!pattern.empty() && !pattern.starts_with('/') && !pattern.starts_with("./") && !pattern.ends_with('/'))
        return {};
    return Error{ErrorKind::refused, "the pattern \"" + show_text(pattern) + "\" matches no entry",
                 "nothing was changed",
                 "give a name as in 'tmp' or '*.o', or a path below the tree as in 'a/tmp', without a slash at its "
                 "beginning or end"};
}

std::vector<std::atomic<std::uint64_t>*> EntryFilter::uses() const {
    std::vector<std::atomic<std::uint64_t>*> uses;
    if (use)
        for (auto& rule : *use) uses.push_back(&rule);
    return uses;
}

bool EntryFilter::takes(const DirNode& dir_node, const std::string& name, sys::EntryKind kind) const {
    if (is_empty()) return true;
    const auto path = [&] { return path_of(dir_node, name); };
    if (fits_any({exclude, use.get(), include.size()}, path, name)) return false;
    return include.empty() || kind == sys::EntryKind::folder || fits_any({include, use.get(), 0}, path, name);
}

bool EntryFilter::takes(const std::string& path, sys::EntryKind kind) const {
    if (is_empty() || path == ".") return true;
    // The path may lie in an excluded directory, so each directory on the way is matched too.
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
