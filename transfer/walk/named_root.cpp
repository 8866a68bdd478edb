#include "transfer/walk/named_root.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/sys/tree_place.hpp"

namespace forebay::tree {

Result<NamedRoot> open_above(const std::string& path) {
    const auto end = path.find_last_not_of('/');
    const auto own = path.substr(0, end == path.npos ? 0 : end + 1);
    auto name = leaf_of(own);
    if (name.empty() || name == "." || name == "..")
        return Error{ErrorKind::refused, "\"" + show_text(path) + "\" does not end with the name of a directory"};
    if (sys::is_whole_store(own))
        return Error{ErrorKind::refused,
                     show_text(path) + " is a whole bucket or container, and these are not made or removed here", "",
                     show_text(own) + "/NAME"};
    FB_TRY_ASSIGN(opened, sys::open_tree_above(directory_of(own)));
    return NamedRoot{.above = std::move(opened), .name = std::move(name)};
}

Result<NamedRoot> open_above_new(const std::string& path) {
    auto named = open_above(path);
    if (named) return named;
    return with_context(named.error(), fmt::format("{} cannot be made: {}", show_text(path), named.error().what), "",
                        !named.error().next.empty() ? ""
                        : named.error().kind == ErrorKind::missing
                            ? "make the directory above it, or correct the path"
                            : "give a path in a directory that you may write to");
}

std::string places_of(const std::string& source, const std::string& target) {
    const auto canonical = [](const std::string& place) {
        std::error_code ignored;
        return sys::is_far(place)
                   ? place
                   : std::filesystem::weakly_canonical(std::filesystem::absolute(place, ignored), ignored).string();
    };
    return canonical(source) + '\0' + canonical(target);
}

std::string temporary_prefix(const std::string& source, const std::string& target) {
    const auto places = places_of(source, target);
    return fmt::format("{}{:08x}-", any_temporary, siphash({}, std::as_bytes(std::span(places))) & 0xffff'ffffu);
}

}  // namespace forebay::tree
