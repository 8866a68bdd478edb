#include "core/daos/object.hpp"

#include <cerrno>
#include <cstring>
#include <span>

#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/sys/tree_place.hpp"

namespace forebay::daos {

namespace {

constexpr int list_tries_max = 4;  // attributes may be added between the calls for the length and for the list

sys::EntryKind kind_of(mode_t mode) {
    if (S_ISREG(mode)) return sys::EntryKind::file;
    if (S_ISDIR(mode)) return sys::EntryKind::folder;
    return S_ISLNK(mode) ? sys::EntryKind::link : sys::EntryKind::unknown;
}

sys::FileTime time_of(const struct timespec& time) {
    return {.seconds = time.tv_sec, .nanoseconds = static_cast<std::uint32_t>(time.tv_nsec)};
}

sys::EntryId id_of(const daos_obj_id_t& id, const DfsContainer& container) {
    const std::uint64_t words[2] = {id.hi, id.lo};
    return {.device = container.number(), .number = siphash({}, std::as_bytes(std::span(words)))};
}

}  // namespace

sys::EntryStatus status_from(const struct stat& about, const daos_obj_id_t& id, const DfsContainer& container) {
    sys::EntryStatus status;
    status.kind = kind_of(about.st_mode);
    status.permissions = about.st_mode & 07777u;
    status.user = about.st_uid;
    status.group = about.st_gid;
    status.bytes = static_cast<std::uint64_t>(about.st_size);
    status.allocated_bytes = static_cast<std::uint64_t>(about.st_blocks) * 512;
    status.id = id_of(id, container);
    status.accessed = time_of(about.st_atim);
    status.modified = time_of(about.st_mtim);
    status.changed = time_of(about.st_ctim);
    return status;
}

Result<> DfsObject::done(const char* call, int number) const {
    if (number != 0) return sys::error_of_number(call, name_, number);
    return {};
}

mode_t DfsObject::mode() const {
    mode_t mode = 0;
    ::dfs_get_mode(object_, &mode);
    return mode;
}

sys::EntryId DfsObject::id() const {
    daos_obj_id_t id{};
    ::dfs_obj2id(object_, &id);
    return id_of(id, *container_);
}

Result<sys::EntryStatus> DfsObject::status() const {
    struct stat about {};
    daos_obj_id_t id{};
    FB_TRY(done("dfs_ostat", ::dfs_ostat(dfs(), object_, &about)));
    FB_TRY(done("dfs_obj2id", ::dfs_obj2id(object_, &id)));
    return status_from(about, id, *container_);
}

Result<std::vector<std::string>> DfsObject::attribute_names() const {
    std::string list;
    daos_size_t bytes = 0;
    for (int tries = 0; tries < list_tries_max; ++tries) {
        FB_TRY(done("dfs_listxattr", ::dfs_listxattr(dfs(), object_, list.empty() ? nullptr : list.data(), &bytes)));
        if (bytes <= list.size()) break;
        list.resize(bytes);
        if (tries + 1 == list_tries_max)
            return Error{ErrorKind::retry, "its attributes changed during each list: " + show_text(name_)};
    }
    std::vector<std::string> names;
    for (std::size_t at = 0; at < bytes; at += names.back().size() + 1) names.emplace_back(list.c_str() + at);
    return names;
}

Result<std::string> DfsObject::attribute(const std::string& attribute_name) const {
    std::string value(DFS_MAX_XATTR_LEN, '\0');
    daos_size_t bytes = value.size();
    FB_TRY(done("dfs_getxattr", ::dfs_getxattr(dfs(), object_, attribute_name.c_str(), value.data(), &bytes)));
    value.resize(std::min<std::size_t>(bytes, value.size()));
    return value;
}

// A value without bytes would remove the attribute.
Result<> DfsObject::set_attribute(const std::string& attribute_name, const std::string& value) const {
    const auto unsupported = [&](const char* why) {
        return Error{ErrorKind::unsupported,
                     "setxattr of " + show_text(attribute_name) + ": " + show_text(name_) + ": " + why};
    };
    if (attribute_name.starts_with("system.")) return unsupported("DAOS has no ACLs of files");
    if (value.empty()) return unsupported("DAOS keeps no attribute without a value");
    if (value.size() > DFS_MAX_XATTR_LEN || attribute_name.size() > DFS_MAX_XATTR_NAME)
        return unsupported("it is too long for DAOS");
    return done("dfs_setxattr", ::dfs_setxattr(dfs(), object_, attribute_name.c_str(), value.data(), value.size(), 0));
}

Result<> DfsObject::remove_attribute(const std::string& attribute_name) const {
    const int failed = ::dfs_removexattr(dfs(), object_, attribute_name.c_str());
    return done("dfs_removexattr", failed == ENOENT ? 0 : failed);
}

Result<> DfsObject::set(const char* call, struct stat& wanted, int flags) const {
    return done(call, ::dfs_osetattr(dfs(), object_, &wanted, flags));
}

Result<> DfsObject::set_owner(std::uint32_t user, std::uint32_t group) const {
    struct stat wanted {};
    wanted.st_uid = user;
    wanted.st_gid = group;
    const int flags = user == sys::same_user ? DFS_SET_ATTR_GID : DFS_SET_ATTR_UID | DFS_SET_ATTR_GID;
    return set("change of the owner", wanted, flags);
}

Result<> DfsObject::take_group_of(const DfsObject& directory) const {
    if ((directory.mode() & S_ISGID) == 0) return {};
    FB_TRY_ASSIGN(wanted, directory.status());
    FB_TRY_ASSIGN(own, status());
    return own.group == wanted.group ? Result<>() : set_owner(own.user, wanted.group);
}

Result<> DfsObject::set_permissions(std::uint32_t permissions) const {
    struct stat wanted {};
    wanted.st_mode = (mode() & static_cast<mode_t>(S_IFMT)) | (permissions & 06777u);
    FB_TRY(set("change of permissions", wanted, DFS_SET_ATTR_MODE));
    if ((permissions & S_ISVTX) == 0) return {};
    return Error{ErrorKind::unsupported, "DAOS has no sticky bit. The other permissions were set: " + show_text(name_)};
}

Result<> DfsObject::set_modified(sys::FileTime modified) const {
    struct stat wanted {};
    wanted.st_mtim.tv_sec = modified.seconds;
    wanted.st_mtim.tv_nsec = static_cast<long>(modified.nanoseconds);
    return set("change of the time", wanted, DFS_SET_ATTR_MTIME);
}

}  // namespace forebay::daos
