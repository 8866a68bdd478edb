#include "migrate/root.hpp"

#include "base/try.hpp"
#include "migrate/plan.hpp"
#include "sys/tree_place.hpp"

namespace forebay::migrate {

Result<RootIdentity> identity_of(sys::Folder& folder) {
    FB_TRY_ASSIGN(status, folder.status());
    FB_TRY_ASSIGN(traits, folder.file_system());
    return RootIdentity{.inode = status.id.number, .file_system = traits.id, .born = status.born};
}

Result<std::optional<RootSight>> look_at_root(const std::string& place) {
    auto address = place;
    while (is_remote(address) && address.ends_with('/')) address.pop_back();
    const auto folder = sys::open_tree(address);
    if (!folder && folder.error().kind == ErrorKind::missing) return std::optional<RootSight>();
    FB_TRY(folder);
    RootSight sight;
    // The first names are enough.
    const auto listed = (*folder)->list([&](std::span<const sys::NamedEntry> names) -> Result<> {
        sight.has_entries = !names.empty();
        if (!sight.has_entries) return {};
        return Error{ErrorKind::refused, "enough"};
    });
    if (!sight.has_entries) FB_TRY(listed);
    if (is_remote(address)) return std::optional(sight);
    FB_TRY_ASSIGN(identity, identity_of(**folder));
    sight.identity = identity;
    return std::optional(sight);
}

}  // namespace forebay::migrate
