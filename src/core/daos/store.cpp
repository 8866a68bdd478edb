#include "core/daos/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/tree_place.hpp"

namespace forebay::daos {

namespace {

constexpr std::uint32_t listed_at_once = 512;
constexpr mode_t new_file_mode = 0666, new_directory_mode = 0777;

bool is_missing(int number) { return number == ENOENT || number == ENOTDIR; }

using IdNow = std::function<Result<std::optional<sys::EntryId>>()>;

class ContainerFile final : public sys::File {
public:
    /// `id_now` gives the identity of the entry that has the name of this file now.
    ContainerFile(std::shared_ptr<DfsQueues> queues, DfsObject file, std::string path, IdNow id_now)
        : queues_(std::move(queues)), file_(std::move(file)), path_(std::move(path)), id_now_(std::move(id_now)) {}

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return named(queues_->write(file_, offset, bytes));
    }
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        const auto got = queues_->read(file_, offset, bytes);
        if (!got) return named(got.error());
        if (*got == bytes.size()) return {};
        FB_TRY(check_still_there());
        return Error{ErrorKind::corrupt,
                     fmt::format("{} is truncated: it ends at {}, but bytes {} to {} are needed", show_text(path_),
                                 offset + *got, offset, offset + bytes.size() - 1)};
    }
    Result<std::uint64_t> size() override {
        daos_size_t bytes = 0;
        FB_TRY(named(file_.done("dfs_get_size", ::dfs_get_size(file_.dfs(), file_.get(), &bytes))));
        if (bytes == 0) FB_TRY(check_still_there());
        return std::uint64_t{bytes};
    }
    Result<> truncate(std::uint64_t size) override {
        return named(file_.done("dfs_punch", ::dfs_punch(file_.dfs(), file_.get(), size, DFS_MAX_FSIZE)));
    }
    void reserve(std::uint64_t, std::uint64_t) override {}
    Result<> sync() override { return {}; }
    bool direct() const override { return false; }
    Result<> close() override { return {}; }

private:
    // A rename over an open file, or its removal, removes its bytes.
    Result<> check_still_there() const {
        const auto now = id_now_();
        if (now && *now == std::optional(file_.id())) return {};
        return Error{ErrorKind::retry, show_text(path_) + " was replaced or removed while it was open"};
    }
    Result<> named(const Result<>& done) const {
        return done ? done : Result<>(with_context(done.error(), done.error().what + " (" + show_text(path_) + ")"));
    }

    const std::shared_ptr<DfsQueues> queues_;
    const DfsObject file_;
    const std::string path_;
    const IdNow id_now_;
};

}  // namespace

// "daos://tank/cont/a/b" becomes "/a/b", the container itself "/".
Result<std::string> DfsStore::below_root(const std::string& path) const {
    FB_TRY_ASSIGN(place, sys::daos_place_from(path));
    return place.path.empty() ? "/" : place.path;
}

Result<DfsObject> DfsStore::look(const std::string& path, int flags) const {
    FB_TRY_ASSIGN(below, below_root(path));
    dfs_obj_t* handle = nullptr;
    if (const int failed = ::dfs_lookup(container_->dfs(), below.c_str(), flags, &handle, nullptr, nullptr))
        return sys::error_of_number("dfs_lookup", path, failed);
    return DfsObject(container_, handle, leaf_of(below));
}

Result<DfsStore::Place> DfsStore::place_of(const std::string& path, int access) const {
    FB_TRY_ASSIGN(below, below_root(path));
    if (below == "/") return Error{ErrorKind::refused, show_text(path) + " is a container"};
    auto directory = look(container_->address() + directory_of(below), access);
    if (!directory) return directory.error();
    return Place{std::move(*directory), leaf_of(below)};
}

Result<struct stat> DfsStore::status_of(const Place& place, const std::string& path) const {
    struct stat about {};
    const auto& directory = place.directory;
    if (const int failed = ::dfs_stat(directory.dfs(), directory.get(), place.name.c_str(), &about))
        return sys::error_of_number("dfs_stat", path, failed);
    return about;
}

Result<std::unique_ptr<sys::File>> DfsStore::open(const std::string& path, sys::Access access) {
    const auto given = [&](DfsObject file) -> Result<std::unique_ptr<sys::File>> {
        if (!S_ISREG(file.mode())) return Error{ErrorKind::refused, "open: " + path + ": it is not a regular file"};
        return std::unique_ptr<sys::File>(std::make_unique<ContainerFile>(
            queues_, std::move(file), path, [this, path] { return id_for_cut_renames(path); }));
    };
    if (!sys::is_writing(access)) {
        FB_TRY_ASSIGN(file, look(path, O_RDONLY));
        return given(std::move(file));
    }
    FB_TRY_ASSIGN(place, place_of(path, O_RDWR));
    dfs_obj_t* handle = nullptr;
    const int flags = O_RDWR | O_CREAT | (sys::is_emptying(access) ? O_TRUNC : 0);
    const auto mode = container_->allowed(new_file_mode) | static_cast<mode_t>(S_IFREG);
    if (const int failed = ::dfs_open(place.directory.dfs(), place.directory.get(), place.name.c_str(), mode, flags, 0,
                                      0, nullptr, &handle))
        return sys::error_of_number("open for writing", path, failed);
    DfsObject file(container_, handle, place.name);
    FB_TRY(file.take_group_of(place.directory));
    return given(std::move(file));
}

Result<> DfsStore::make_directories(const std::string& path) {
    FB_TRY_ASSIGN(below, below_root(path));
    for (std::size_t end = below.find('/', 1); end != std::string::npos; end = below.find('/', end + 1))
        FB_TRY(make_directory(container_->address() + below.substr(0, end)));
    return below == "/" ? Result<>() : make_directory(path);
}

Result<> DfsStore::make_directory(const std::string& path) {
    FB_TRY_ASSIGN(place, place_of(path, O_RDWR));
    const auto& directory = place.directory;
    const int failed =
        ::dfs_mkdir(directory.dfs(), directory.get(), place.name.c_str(), container_->allowed(new_directory_mode), 0);
    if (failed == EEXIST) {
        FB_TRY_ASSIGN(about, status_of(place, path));
        if (S_ISDIR(about.st_mode)) return {};
    }
    if (failed != 0) return sys::error_of_number("dfs_mkdir", path, failed);
    if ((directory.mode() & S_ISGID) == 0) return {};
    FB_TRY_ASSIGN(own, look(path, O_RDWR));
    return own.take_group_of(directory);
}

Result<> DfsStore::rename(const std::string& from, const std::string& to) {
    FB_TRY_ASSIGN(old_place, place_of(from, O_RDWR));
    FB_TRY_ASSIGN(new_place, place_of(to, O_RDWR));
    // dfs_move() would remove the entry that it then moves. rename(2) does nothing.
    FB_TRY_ASSIGN(old_id, id_for_cut_renames(from));
    const auto new_id = id_for_cut_renames(to);
    if (new_id && *new_id == old_id) return {};
    const int failed = ::dfs_move(container_->dfs(), old_place.directory.get(), old_place.name.c_str(),
                                  new_place.directory.get(), new_place.name.c_str(), nullptr);
    // dfs_move() returns EINVAL if a file would replace a directory.
    if (failed != 0) return sys::error_of_number("dfs_move to " + to, from, failed == EINVAL ? EISDIR : failed);
    return {};
}

Result<> DfsStore::remove_any(const std::string& path, bool is_tree) {
    const auto place = place_of(path, O_RDWR);
    if (!place && place.error().kind == ErrorKind::missing) return {};
    FB_TRY(place);
    const auto about = status_of(*place, path);
    if (!about && about.error().kind == ErrorKind::missing) return {};
    FB_TRY(about);
    // dfs_remove() removes any kind.
    if (!is_tree && S_ISDIR(about->st_mode)) return sys::error_of_number("dfs_remove", path, EISDIR);
    if (is_tree && S_ISREG(about->st_mode)) return sys::error_of_number("dfs_remove", path, ENOTDIR);
    const int failed = ::dfs_remove(container_->dfs(), place->directory.get(), place->name.c_str(), is_tree, nullptr);
    if (failed != 0 && failed != ENOENT) return sys::error_of_number("dfs_remove", path, failed);
    return {};
}

Result<> DfsStore::remove(const std::string& path) { return remove_any(path, false); }
Result<> DfsStore::remove_tree(const std::string& path) { return remove_any(path, true); }

Result<std::vector<sys::Entry>> DfsStore::list(const std::string& path) {
    FB_TRY_ASSIGN(directory, look(path, O_RDONLY));
    std::vector<struct dirent> listed(listed_at_once);
    std::vector<sys::Entry> entries;
    daos_anchor_t anchor{};
    while (!::daos_anchor_is_eof(&anchor)) {
        std::uint32_t count = listed_at_once;
        if (const int failed = ::dfs_readdir(directory.dfs(), directory.get(), &anchor, &count, listed.data()))
            return sys::error_of_number("dfs_readdir", path, failed);
        for (const auto& entry : std::span(listed).first(count)) {
            struct stat about {};
            const int failed = ::dfs_stat(directory.dfs(), directory.get(), entry.d_name, &about);
            if (failed == ENOENT) continue;  // it vanished since its name was read
            if (failed != 0) return sys::error_of_number("dfs_stat", path + "/" + entry.d_name, failed);
            const bool is_directory = S_ISDIR(about.st_mode);
            entries.push_back({.name = entry.d_name,
                               .is_directory = is_directory,
                               .size = is_directory ? 0 : static_cast<std::uint64_t>(about.st_size),
                               .is_link = S_ISLNK(about.st_mode)});
        }
    }
    std::ranges::sort(entries, {}, &sys::Entry::name);
    return entries;
}

Result<bool> DfsStore::exists(const std::string& path) {
    FB_TRY_ASSIGN(below, below_root(path));
    if (below == "/") return true;
    const auto place = place_of(path, O_RDONLY);
    if (!place && place.error().kind == ErrorKind::missing) return false;
    FB_TRY(place);
    struct stat about {};
    const int failed = ::dfs_stat(container_->dfs(), place->directory.get(), place->name.c_str(), &about);
    if (failed != 0 && !is_missing(failed)) return sys::error_of_number("dfs_stat", path, failed);
    return failed == 0;
}

Result<std::optional<std::int64_t>> DfsStore::changed_unix_ns(const std::string& path) {
    FB_TRY_ASSIGN(place, place_of(path, O_RDONLY));
    FB_TRY_ASSIGN(about, status_of(place, path));
    return std::optional<std::int64_t>(std::int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec);
}

Result<std::optional<sys::EntryId>> DfsStore::id_for_cut_renames(const std::string& path) {
    FB_TRY_ASSIGN(place, place_of(path, O_RDONLY));
    dfs_obj_t* handle = nullptr;
    if (const int failed = ::dfs_lookup_rel(container_->dfs(), place.directory.get(), place.name.c_str(),
                                            O_RDONLY | O_NOFOLLOW, &handle, nullptr, nullptr))
        return sys::error_of_number("dfs_lookup_rel", path, failed);
    return std::optional(DfsObject(container_, handle, place.name).id());
}

}  // namespace forebay::daos
