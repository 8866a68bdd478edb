#include "tree/copy.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/show_text.hpp"
#include "base/siphash.hpp"
#include "base/try.hpp"
#include "sys/tree_place.hpp"
#include "tree/copy_context.hpp"
#include "tree/copy_walk.hpp"
#include "tree/extra.hpp"
#include "tree/named_root.hpp"

namespace forebay::tree {

namespace {

struct Roots {
    FolderRef source, target;  // no target: in a dry run, where it is missing
    bool was_made = false;
    std::string temporary_prefix;
};

// The same whenever the same two places are named, by whatever way there.
std::string prefix_of(const std::string& source, const std::string& target) {
    const auto canonical = [](const std::string& place) {
        std::error_code ignored;
        return sys::is_far(place) ? place : std::filesystem::weakly_canonical(place, ignored).string();
    };
    const auto places = canonical(source) + '\0' + canonical(target);
    return fmt::format(".fb-{:08x}-", siphash({}, std::as_bytes(std::span(places))) & 0xffff'ffffu);
}

Result<> check_apart(const Roots& roots, const std::string& source, const std::string& target) {
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
Result<> make_target(Roots& roots, const std::string& source, const std::string& target, bool is_dry) {
    auto named = open_above(target);
    if (!named)
        return because(named.error(), fmt::format("{} cannot be made: {}", show_text(target), named.error().what), "",
                       named.error().next.empty() ? "make the directory above it, or correct the path" : "");
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

Result<Roots> open_roots(const std::string& source, const std::string& target, bool is_dry) {
    Roots roots;
    FB_TRY_ASSIGN(opened, sys::open_tree(source));
    roots.source = std::move(opened);
    auto existing = sys::open_tree(target);
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
    roots.temporary_prefix = prefix_of(source, target);
    return roots;
}

}  // namespace

Result<> copy_tree(const std::string& source, const std::string& target, const TreeCopyOptions& options,
                   Remarks& remarks, CopyCounts& counts) {
    if (options.removes_extra && options.wished)
        return Error{ErrorKind::refused,
                     "with a list of paths nothing can be removed: the list does not say what the "
                     "source has not"};
    FB_TRY_ASSIGN(roots, open_roots(source, target, options.is_dry));
    CopyContext context(options, remarks, counts, roots.temporary_prefix);
    CopyWalk walk(context);
    FB_TRY(walk.run(roots.source, roots.target, roots.was_made));
    FB_TRY(walk.replace_folders());
    // An entry that could not be read may be one that the target alone seems to have.
    if (options.removes_extra && roots.target && !roots.was_made && !remarks.has_errors())
        FB_TRY(remove_extra(roots.source, roots.target, options, remarks, counts));
    if (options.syncs && !options.is_dry) FB_TRY(roots.target->sync_file_system());
    return remarks.taken();
}

}  // namespace forebay::tree
