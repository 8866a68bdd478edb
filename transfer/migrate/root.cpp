#include "transfer/migrate/root.hpp"

#include "core/base/try.hpp"
#include "core/sys/tree_place.hpp"
#include "transfer/migrate/plan.hpp"

namespace forebay::migrate {

namespace {

Result<std::unique_ptr<sys::Folder>> open_place(std::string place) {
    while (is_remote(place) && place.ends_with('/')) place.pop_back();
    return sys::open_tree(place);
}

}  // namespace

Result<RootIdentity> identity_of(sys::Folder& folder) {
    FB_TRY_ASSIGN(status, folder.status());
    FB_TRY_ASSIGN(traits, folder.file_system());
    return RootIdentity{.inode = status.id.number, .file_system = traits.id, .born = status.born};
}

Result<std::optional<RootSight>> look_at_root(const std::string& place) {
    const auto folder = open_place(place);
    if (!folder && folder.error().kind == ErrorKind::missing) return std::optional<RootSight>();
    FB_TRY(folder);
    RootSight sight;
    // One name is enough.
    FB_TRY((*folder)->list([&](std::span<const sys::NamedEntry> names) {
        sight.has_entries = !names.empty();
        return sight.has_entries ? sys::TakerAnswer::enough() : sys::TakerAnswer();
    }));
    if (is_remote(place)) return std::optional(sight);
    FB_TRY_ASSIGN(identity, identity_of(**folder));
    sight.identity = identity;
    return std::optional(sight);
}

Result<bool> have_name_in_common(const std::string& source, const std::string& target) {
    FB_TRY_ASSIGN(from, open_place(source));
    FB_TRY_ASSIGN(to, open_place(target));
    bool is_found = false;
    FB_TRY(from->list([&](std::span<const sys::NamedEntry> names) -> sys::TakerAnswer {
        for (const auto& entry : names) {
            const auto there = to->status_of(std::string(entry.name));
            if (!there && there.error().kind != ErrorKind::missing) return there.error();
            is_found = there.has_value();
            if (is_found) return sys::TakerAnswer::enough();
        }
        return {};
    }));
    return is_found;
}

}  // namespace forebay::migrate
