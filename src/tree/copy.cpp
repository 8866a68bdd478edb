#include "tree/copy.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/show_text.hpp"
#include "base/siphash.hpp"
#include "base/try.hpp"
#include "tree/copy_context.hpp"
#include "tree/copy_walk.hpp"
#include "tree/extra.hpp"
#include "tree/named_root.hpp"

namespace forebay::tree {

namespace {

// The same whenever the same two places are named, by whatever way there.
std::string places_of(const std::string& source, const std::string& target) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(source, ignored).string() + '\0' +
           std::filesystem::weakly_canonical(target, ignored).string();
}

std::string prefix_of(const std::string& places) {
    return fmt::format(".fb-{:08x}-", siphash({}, std::as_bytes(std::span(places))) & 0xffff'ffffu);
}

Result<> check_apart(const CopyRoots& roots, const std::string& source, const std::string& target) {
    FB_TRY_ASSIGN(source_status, roots.source->status());
    FB_TRY_ASSIGN(target_status, roots.target->status());
    FB_TRY_ASSIGN(target_lies_in, roots.target->lies_in(source_status.id));
    FB_TRY_ASSIGN(source_lies_in, roots.source->lies_in(target_status.id));
    if (!target_lies_in && !source_lies_in) return {};
    return Error{
        ErrorKind::refused,
        fmt::format("{} and {} lie in each other: a copy would copy itself", show_text(source), show_text(target)),
        "nothing was changed"};
}

// The folder above, in which the target is to be made, must not lie in the source either.
Result<> make_target(CopyRoots& roots, const std::string& source, const std::string& target, bool is_dry) {
    auto named = open_above(target);
    if (!named)
        return because(named.error(), fmt::format("{} cannot be made: {}", show_text(target), named.error().what), "",
                       "make the directory above it, or correct the path");
    const auto& [above, name] = *named;
    FB_TRY_ASSIGN(status, roots.source->status());
    FB_TRY_ASSIGN(lies_in, above->lies_in(status.id));
    if (lies_in)
        return Error{ErrorKind::refused,
                     fmt::format("{} lies in {}: a copy would copy itself", show_text(target), show_text(source))};
    roots.was_made = true;
    if (is_dry) return {};
    constexpr std::uint32_t closed_while_filled = 0700;
    FB_TRY(above->make_folder(name, closed_while_filled));
    FB_TRY_ASSIGN(opened, above->open_folder(name));
    roots.target = std::move(opened);
    return {};
}

bool has_looked_at_all(const TreeCopyOptions& options) {
    return options.preserve.attributes && !options.is_dry && !options.trusts_attributes && !options.one_file_system &&
           !options.wished && options.filter.is_empty();
}

Result<CopyRoots> open_roots(const std::string& source, const std::string& target, bool is_dry) {
    CopyRoots roots;
    FB_TRY_ASSIGN(opened, sys::open_posix_folder(source));
    roots.source = std::move(opened);
    auto existing = sys::open_posix_folder(target);
    if (existing) {
        roots.target = std::move(*existing);
        FB_TRY(check_apart(roots, source, target));
    } else if (existing.error().kind == ErrorKind::missing) {
        FB_TRY(make_target(roots, source, target, is_dry));
    } else {
        return existing.error();
    }
    if (roots.target && !is_dry) {
        FB_TRY_ASSIGN(is_ours, roots.target->lock_alone());
        if (!is_ours)
            return Error{ErrorKind::refused, fmt::format("another process copies to {}", show_text(target)),
                         "nothing was changed", "wait for it"};
    }
    roots.places = places_of(source, target);
    roots.temporary_prefix = prefix_of(roots.places);
    return roots;
}

Result<bool> is_empty(sys::Folder& folder) {
    bool has_names = false;
    FB_TRY(folder.list([&](std::span<const sys::NamedEntry> names) -> Result<> {
        has_names = has_names || !names.empty();
        return {};
    }));
    return !has_names;
}

// A file system that is not mounted leaves an empty folder in its place.
Result<> check_has_entries(const CopyRoots& roots, const std::string& source, const std::string& target) {
    if (!roots.target || roots.was_made) return {};
    FB_TRY_ASSIGN(source_empty, is_empty(*roots.source));
    if (!source_empty) return {};
    FB_TRY_ASSIGN(target_empty, is_empty(*roots.target));
    if (target_empty) return {};
    return Error{ErrorKind::refused,
                 fmt::format("{} has no entry at all, and {} has some: all of it would be removed", show_text(source),
                             show_text(target)),
                 "nothing was changed", "mount the source; or give --allow-empty, where it is empty on purpose"};
}

}  // namespace

Result<> copy_open_trees(const CopyRoots& roots, const TreeCopyOptions& options, Remarks& remarks, CopyCounts& counts) {
    CopyPlaces places{.temporary_prefix = roots.temporary_prefix};
    if (roots.target && options.preserve.attributes && !roots.places.empty()) {
        FB_TRY_ASSIGN(last, LastCopy::find(*roots.source, *roots.target, roots.places));
        places.last_copy = last;
    }
    CopyContext context(options, remarks, counts, places);
    const bool syncs = options.syncs && !options.is_dry;
    if (syncs) {
        FB_TRY_ASSIGN(about, roots.target->file_system());
        if (about.outlives_power) context.naming.sync_first(roots.target);
    }
    CopyWalk walk(context);
    FB_TRY(walk.run(roots.source, roots.target, roots.was_made));
    FB_TRY(walk.replace_folders());
    // An entry that could not be read may be one that the target alone seems to have.
    if (options.removes_extra && roots.target && !roots.was_made && !remarks.has_errors())
        FB_TRY(remove_extra(roots.source, roots.target, options, remarks, counts));
    if (syncs) FB_TRY(roots.target->sync_file_system());
    if (has_looked_at_all(options) && remarks.first().empty()) places.last_copy.keep();
    return remarks.taken();
}

Result<> copy_tree(const std::string& source, const std::string& target, const TreeCopyOptions& options,
                   Remarks& remarks, CopyCounts& counts) {
    if (options.removes_extra && options.wished)
        return Error{ErrorKind::refused,
                     "with a list of paths nothing can be removed: the list does not say what the "
                     "source has not"};
    FB_TRY_ASSIGN(roots, open_roots(source, target, options.is_dry));
    if (options.removes_extra && !options.allows_empty) FB_TRY(check_has_entries(roots, source, target));
    return copy_open_trees(roots, options, remarks, counts);
}

}  // namespace forebay::tree
