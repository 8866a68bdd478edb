#include "core/daos/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/tree_place.hpp"

namespace forebay::daos {

namespace {

// A record of a name has 280 bytes, so a batch has 140 KB.
constexpr std::uint32_t names_at_once = 512;

Result<> check_name(const std::string& name) {
    if (sys::is_entry_name(name) && name.size() <= DFS_MAX_NAME) return {};
    return Error{ErrorKind::refused, "\"" + show_text(name) + "\" is not a valid name"};
}

Result<> done(const char* call, const std::string& name, int number) {
    if (number != 0) return sys::error_of_number(call, name, number);
    return {};
}

Error is_no(const std::string& name, const char* kind) {
    return {ErrorKind::refused, show_text(name) + " is not a " + kind};
}

}  // namespace

Result<DfsObject> DfsFolder::look(const std::string& name, int access, struct stat* about) const {
    FB_TRY(check_name(name));
    dfs_obj_t* handle = nullptr;
    FB_TRY(done(
        "dfs_lookup_rel", name,
        ::dfs_lookup_rel(object().dfs(), object().get(), name.c_str(), access | O_NOFOLLOW, &handle, nullptr, about)));
    return DfsObject(object().container(), handle, name);
}

// DAOS lists no kinds. Callers that need a kind read the status.
Result<> DfsFolder::list(const NameTaker& take) {
    std::vector<struct dirent> listed(names_at_once);
    std::vector<sys::NamedEntry> names;
    daos_anchor_t anchor{};
    while (!::daos_anchor_is_eof(&anchor)) {
        std::uint32_t count = names_at_once;
        FB_TRY(object().done("dfs_readdir",
                             ::dfs_readdir(object().dfs(), object().get(), &anchor, &count, listed.data())));
        names.clear();
        for (std::uint32_t i = 0; i < count; ++i) names.push_back({.name = listed[i].d_name});
        if (names.empty()) continue;
        const auto taken = take(names);
        if (!taken || taken.is_enough()) return taken;
    }
    return {};
}

Result<sys::EntryStatus> DfsFolder::status_of(const std::string& name) {
    struct stat about {};
    FB_TRY_ASSIGN(entry, look(name, O_RDONLY, &about));
    daos_obj_id_t id{};
    FB_TRY(entry.done("dfs_obj2id", ::dfs_obj2id(entry.get(), &id)));
    return status_from(about, id, *entry.container());
}

Result<std::string> DfsFolder::link_text(const std::string& name) {
    FB_TRY_ASSIGN(entry, look(name, O_RDONLY));
    if (!S_ISLNK(entry.mode())) return is_no(name, "symbolic link");
    std::array<char, DFS_MAX_PATH> text;
    daos_size_t bytes = text.size();
    FB_TRY(entry.done("dfs_get_symlink_value", ::dfs_get_symlink_value(entry.get(), text.data(), &bytes)));
    if (bytes == 0 || bytes > text.size())
        return Error{ErrorKind::broken, "the text of a link is too long: " + show_text(name)};
    return std::string(text.data(), bytes - 1);
}

Result<std::vector<std::string>> DfsFolder::attribute_names_of(const std::string& name) {
    FB_TRY_ASSIGN(entry, look(name, O_RDONLY));
    return entry.attribute_names();
}

Result<std::string> DfsFolder::attribute_of(const std::string& name, const std::string& attribute_name) {
    FB_TRY_ASSIGN(entry, look(name, O_RDONLY));
    return entry.attribute(attribute_name);
}

Result<std::unique_ptr<sys::Folder>> DfsFolder::open_folder(const std::string& name) {
    FB_TRY_ASSIGN(entry, look(name, object().container()->access()));
    if (!S_ISDIR(entry.mode())) return is_no(name, "directory");
    return std::unique_ptr<Folder>(std::make_unique<DfsFolder>(std::move(entry), ancestry_));
}

Result<std::unique_ptr<sys::OpenFile>> DfsFolder::open_regular(const std::string& name, int access) const {
    FB_TRY_ASSIGN(entry, look(name, access));
    if (!S_ISREG(entry.mode())) return is_no(name, "file");
    return open_dfs_file(std::move(entry));
}

Result<std::unique_ptr<sys::OpenFile>> DfsFolder::open_file(const std::string& name) {
    return open_regular(name, O_RDONLY);
}

Result<std::unique_ptr<sys::OpenFile>> DfsFolder::reopen_file(const std::string& name) {
    return open_regular(name, O_RDWR);
}

Result<std::unique_ptr<sys::OpenEntry>> DfsFolder::open_entry(const std::string& name) {
    FB_TRY_ASSIGN(entry, look(name, object().container()->access()));
    return std::unique_ptr<sys::OpenEntry>(std::make_unique<DfsEntry<sys::OpenEntry>>(std::move(entry)));
}

Result<std::unique_ptr<sys::OpenFile>> DfsFolder::make_file(const std::string& name, std::uint32_t permissions) {
    FB_TRY(check_name(name));
    dfs_obj_t* handle = nullptr;
    const auto mode = object().container()->allowed(permissions) | static_cast<mode_t>(S_IFREG);
    FB_TRY(done("dfs_open", name,
                ::dfs_open(object().dfs(), object().get(), name.c_str(), mode, O_RDWR | O_CREAT | O_EXCL, 0, 0, nullptr,
                           &handle)));
    DfsObject file(object().container(), handle, name);
    FB_TRY(file.take_group_of(object()));
    return open_dfs_file(std::move(file));
}

Result<> DfsFolder::make_folder(const std::string& name, std::uint32_t permissions) {
    FB_TRY(check_name(name));
    FB_TRY(
        done("dfs_mkdir", name,
             ::dfs_mkdir(object().dfs(), object().get(), name.c_str(), object().container()->allowed(permissions), 0)));
    if ((object().mode() & S_ISGID) == 0) return {};
    FB_TRY_ASSIGN(entry, look(name, O_RDWR));
    return entry.take_group_of(object());
}

Result<> DfsFolder::make_link(const std::string& name, const std::string& text) {
    FB_TRY(check_name(name));
    if (text.find('\0') != text.npos) return done("dfs_open", name, EINVAL);
    dfs_obj_t* handle = nullptr;
    FB_TRY(done("dfs_open", name,
                ::dfs_open(object().dfs(), object().get(), name.c_str(), S_IFLNK | 0777, O_RDWR | O_CREAT | O_EXCL, 0,
                           0, text.c_str(), &handle)));
    return DfsObject(object().container(), handle, name).take_group_of(object());
}

Result<> DfsFolder::make_special(const std::string& name, const sys::EntryStatus&) {
    return Error{ErrorKind::unsupported, "DAOS holds only files, directories and symbolic links: " + show_text(name)};
}

Result<> DfsFolder::make_hard_link(const std::string& name, Folder&, const std::string&) {
    return Error{ErrorKind::unsupported, "DAOS has no hard links: " + show_text(name)};
}

Result<> DfsFolder::rename(const std::string& name, const std::string& new_name) {
    FB_TRY(check_name(name));
    FB_TRY(check_name(new_name));
    FB_TRY_ASSIGN(before, status_of(name));
    if (before.kind == sys::EntryKind::link) return replace_by_link(name, new_name, before);
    const int failed =
        ::dfs_move(object().dfs(), object().get(), name.c_str(), object().get(), new_name.c_str(), nullptr);
    // dfs_move() returns EINVAL if the new name is a directory.
    FB_TRY(done("dfs_move", new_name, failed == EINVAL ? EISDIR : failed));
    // dfs_move() sets the time to now.
    FB_TRY_ASSIGN(entry, look(new_name, O_RDWR));
    return entry.set_modified(before.modified);
}

// dfs_move() of a link returns 0 and moves nothing in a mount of the mode "balanced" (measured, DAOS 2.8). So a link is
// made again. If this process dies in between, the new name may be missing, and the old name is there.
Result<> DfsFolder::replace_by_link(const std::string& name, const std::string& new_name,
                                    const sys::EntryStatus& before) {
    FB_TRY_ASSIGN(text, link_text(name));
    const auto there = status_of(new_name);
    if (!there && there.error().kind != ErrorKind::missing) return there.error();
    if (there) FB_TRY(remove(new_name));
    FB_TRY(make_link(new_name, text));
    FB_TRY_ASSIGN(link, look(new_name, O_RDWR));
    FB_TRY(link.set_owner(before.user, before.group));
    FB_TRY(link.set_modified(before.modified));
    return remove_entry(name);
}

// dfs_remove() removes any kind, also an empty directory.
Result<> DfsFolder::remove(const std::string& name) {
    FB_TRY_ASSIGN(entry, look(name, O_RDONLY));
    if (S_ISDIR(entry.mode())) return Error{ErrorKind::refused, show_text(name) + " is a directory"};
    return remove_entry(name);
}

Result<> DfsFolder::remove_folder(const std::string& name) {
    FB_TRY_ASSIGN(entry, look(name, O_RDONLY));
    if (!S_ISDIR(entry.mode())) return is_no(name, "directory");
    return remove_entry(name);
}

Result<> DfsFolder::remove_entry(const std::string& name) {
    return done("dfs_remove", name, ::dfs_remove(object().dfs(), object().get(), name.c_str(), false, nullptr));
}

Result<sys::FileSystemTraits> DfsFolder::file_system() {
    return sys::FileSystemTraits{.outlives_power = true, .id = object().container()->number(), .cuts_renames = true};
}

Result<> DfsFolder::sync_file_system() { return done("dfs_sync", object().name(), ::dfs_sync(object().dfs())); }

Result<bool> DfsFolder::lies_in(const sys::EntryId& id) {
    for (const auto* at = ancestry_.get(); at != nullptr; at = at->above.get())
        if (at->id == id) return true;
    return false;
}

Result<bool> DfsFolder::lock_alone() {
    const auto& id = ancestry_->id;
    const auto path = fmt::format("/dev/shm/forebay-daos-{}-{:016x}{:016x}", sys::user_id(), id.device, id.number);
    auto taken = sys::FileLock::take(path);
    if (!taken && taken.error().kind == ErrorKind::retry) return false;
    if (!taken) return taken.error();
    lock_ = std::move(*taken);
    lock_path_ = path;
    return true;
}

// The file is removed while the lock is held: a process that waits for it then sees that the file has no name.
void DfsFolder::unlock() {
    std::error_code ignored;
    if (lock_.held()) std::filesystem::remove(lock_path_, ignored);
    lock_.release();
}

Result<std::unique_ptr<sys::Folder>> open_dfs_folder(const std::shared_ptr<DfsContainer>& container,
                                                     const std::string& path) {
    dfs_obj_t* root = nullptr;
    FB_TRY(done("dfs_lookup", "/", ::dfs_lookup(container->dfs(), "/", container->access(), &root, nullptr, nullptr)));
    std::unique_ptr<sys::Folder> folder = std::make_unique<DfsFolder>(DfsObject(container, root, "/"), nullptr);
    for (std::size_t at = 1; at < path.size();) {
        const auto end = std::min(path.find('/', at), path.size());
        FB_TRY_ASSIGN(below, folder->open_folder(path.substr(at, end - at)));
        folder = std::move(below);
        at = end + 1;
    }
    return folder;
}

}  // namespace forebay::daos
