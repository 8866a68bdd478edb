#include "transfer/walk/single_file.hpp"

#include <filesystem>
#include <utility>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/tree_place.hpp"
#include "transfer/copy/make_file.hpp"

namespace forebay::tree {

namespace {

using sys::EntryStatus;

class FolderOfOne final : public sys::Folder {
public:
    FolderOfOne(NamedRoot file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

    Result<EntryStatus> status() override { return EntryStatus{.kind = sys::EntryKind::folder}; }
    Result<std::vector<std::string>> attribute_names() override { return std::vector<std::string>(); }
    Result<std::string> attribute(const std::string&) override { return nothing(); }
    Result<> set_attribute(const std::string&, const std::string&) override { return closed(); }
    Result<> remove_attribute(const std::string&) override { return closed(); }
    Result<> set_owner(std::uint32_t, std::uint32_t) override { return closed(); }
    Result<> set_permissions(std::uint32_t) override { return closed(); }
    Result<> set_times(sys::FileTime, sys::FileTime) override { return closed(); }

    Result<> list(const NameTaker& take) override {
        const sys::NamedEntry entry{.name = name_};
        return take({&entry, 1});
    }
    Result<EntryStatus> status_of(const std::string& name) override {
        return name == name_ ? file_.above->status_of(file_.name) : nothing();
    }
    Result<std::string> link_text(const std::string&) override { return nothing(); }
    Result<std::vector<std::string>> attribute_names_of(const std::string& name) override {
        if (name != name_) return nothing();
        return file_.above->attribute_names_of(file_.name);
    }
    Result<std::string> attribute_of(const std::string& name, const std::string& attribute_name) override {
        if (name != name_) return nothing();
        return file_.above->attribute_of(file_.name, attribute_name);
    }
    Result<std::unique_ptr<Folder>> open_folder(const std::string&) override { return nothing(); }
    Result<std::unique_ptr<sys::OpenFile>> open_file(const std::string& name) override {
        if (name != name_) return nothing();
        return file_.above->open_file(file_.name);
    }
    Result<std::unique_ptr<sys::OpenFile>> reopen_file(const std::string&) override { return closed(); }
    Result<std::unique_ptr<sys::OpenEntry>> open_entry(const std::string&) override { return closed(); }
    Result<std::unique_ptr<sys::OpenFile>> make_file(const std::string&, std::uint32_t) override { return closed(); }
    Result<> make_folder(const std::string&, std::uint32_t) override { return closed(); }
    Result<> make_link(const std::string&, const std::string&) override { return closed(); }
    Result<> make_special(const std::string&, const EntryStatus&) override { return closed(); }
    Result<> make_hard_link(const std::string&, Folder&, const std::string&) override { return closed(); }
    Result<> rename(const std::string&, const std::string&) override { return closed(); }
    Result<> remove(const std::string&) override { return closed(); }
    Result<> remove_folder(const std::string&) override { return closed(); }
    Result<sys::FileSystemTraits> file_system() override { return file_.above->file_system(); }
    Result<> sync_file_system() override { return closed(); }
    Result<bool> lies_in(const sys::EntryId& id) override { return file_.above->lies_in(id); }

private:
    static Error closed() {
        return {ErrorKind::refused, "the directory of a single file is not changed during a read"};
    }
    Error nothing() const {
        return {ErrorKind::missing,
                "this directory shows only " + show_text(name_) + ": it is restricted to a single file"};
    }

    const NamedRoot file_;
    const std::string name_;
};

std::string without_slashes(std::string place) {
    while (place.size() > 1 && place.ends_with('/')) place.pop_back();
    return place;
}

}  // namespace

Result<std::optional<NamedRoot>> file_at(const std::string& place) {
    std::optional<NamedRoot> file;
    std::error_code none;
    auto real = place;
    if (sys::is_far(place)) {
        const auto tree = sys::open_tree(place);
        if (tree || tree.error().kind != ErrorKind::missing) return file;
    } else {
        if (!std::filesystem::is_regular_file(place, none)) return file;
        real = std::filesystem::canonical(place, none).string();
        if (none) return file;
    }
    auto named = open_above(real);
    if (!named && !sys::is_far(place)) return named.error();
    if (!named) return file;  // a whole bucket
    const auto status = named->above->status_of(named->name);
    if (!status && status.error().kind != ErrorKind::missing) return status.error();
    if (status && status->kind == sys::EntryKind::file) file = std::move(*named);
    return file;
}

FolderRef folder_of_one(NamedRoot file, std::string name) {
    return std::make_shared<FolderOfOne>(std::move(file), std::move(name));
}

Result<NamedRoot> target_of_file(const NamedRoot& file, const std::string& source, const std::string& target) {
    if (target.ends_with('/') || sys::open_tree(target))
        return Error{ErrorKind::refused,
                     show_text(target) + " is a directory, and " + show_text(source) +
                         " is a file: give the name of the copy as target",
                     "nothing was changed", show_text(without_slashes(target) + "/" + file.name)};
    FB_TRY_ASSIGN(named, open_above_new(target));
    FB_TRY_ASSIGN(status, file.above->status_of(file.name));
    const auto existing = named.above->status_of(named.name);
    if (existing && existing->id == status.id)
        return Error{ErrorKind::refused, show_text(source) + " and " + show_text(target) + " are the same file",
                     "nothing was changed"};
    if (existing && existing->kind != sys::EntryKind::file && existing->kind != sys::EntryKind::link)
        return Error{ErrorKind::refused, show_text(target) + " is a " + word_of(existing->kind) + ", not a file",
                     "choose another name, or remove it first", "another name, or remove it first"};
    return named;
}

Result<ComparedRoots> open_compared(const std::string& source, const std::string& target) {
    ComparedRoots roots;
    FB_TRY_ASSIGN(file, file_at(source));
    FB_TRY_ASSIGN(other, file ? file_at(target) : Result<std::optional<NamedRoot>>(std::nullopt));
    if (!file || !other) {
        FB_TRY_ASSIGN(first, sys::open_tree(source));
        FB_TRY_ASSIGN(second, sys::open_tree(target));
        roots.source = std::move(first);
        roots.target = std::move(second);
        return roots;
    }
    roots.source = folder_of_one(*file, other->name);
    roots.target = folder_of_one(*other, other->name);
    return roots;
}

// A file that is no longer under its name was removed by its holder. A lock on it protects nothing, so try again.
Result<CopyLock> CopyLock::take(FolderRef folder, const std::string& name) {
    constexpr int lock_tries_max = 10;
    for (int tries = 0; tries < lock_tries_max; ++tries) {
        auto file = folder->reopen_file(name);
        if (!file && file.error().kind == ErrorKind::missing) file = folder->make_file(name, 0600);
        if (!file && file.error().kind == ErrorKind::refused && tries + 1 < lock_tries_max) continue;
        if (!file) return file.error();
        FB_TRY_ASSIGN(is_ours, (*file)->lock_alone());
        if (!is_ours) break;
        FB_TRY_ASSIGN(status, (*file)->status());
        const auto named = folder->status_of(name);
        if (named && named->id == status.id) return CopyLock(std::move(folder), name, std::move(*file));
    }
    return Error{ErrorKind::refused, "another process makes the same copy", "nothing was changed", "wait for it"};
}

}  // namespace forebay::tree
