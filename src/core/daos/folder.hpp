// A directory of a container.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/daos/object.hpp"
#include "core/sys/lock.hpp"

namespace forebay::daos {

/// The ids of a directory and all its parents, up to the container's root.
struct DfsAncestry {
    sys::EntryId id;
    std::shared_ptr<const DfsAncestry> above;
};

class DfsFolder final : public DfsEntry<sys::Folder> {
public:
    DfsFolder(DfsObject object, std::shared_ptr<const DfsAncestry> above)
        : DfsEntry(std::move(object)),
          ancestry_(std::make_shared<const DfsAncestry>(DfsAncestry{this->object().id(), std::move(above)})) {}
    ~DfsFolder() override { DfsFolder::unlock(); }

    Result<> list(const NameTaker& take) override;
    Result<sys::EntryStatus> status_of(const std::string& name) override;
    Result<std::string> link_text(const std::string& name) override;
    Result<std::vector<std::string>> attribute_names_of(const std::string& name) override;
    Result<std::string> attribute_of(const std::string& name, const std::string& attribute_name) override;

    Result<std::unique_ptr<Folder>> open_folder(const std::string& name) override;
    Result<std::unique_ptr<sys::OpenFile>> open_file(const std::string& name) override;
    Result<std::unique_ptr<sys::OpenFile>> reopen_file(const std::string& name) override;
    Result<std::unique_ptr<sys::OpenEntry>> open_entry(const std::string& name) override;

    Result<std::unique_ptr<sys::OpenFile>> make_file(const std::string& name, std::uint32_t permissions) override;
    Result<> make_folder(const std::string& name, std::uint32_t permissions) override;
    Result<> make_link(const std::string& name, const std::string& text) override;
    Result<> make_special(const std::string& name, const sys::EntryStatus& like) override;
    Result<> make_hard_link(const std::string& name, Folder& other, const std::string& other_name) override;

    Result<> rename(const std::string& name, const std::string& new_name) override;
    Result<> remove(const std::string& name) override;
    Result<> remove_folder(const std::string& name) override;
    Result<sys::FileSystemTraits> file_system() override;
    Result<> sync_file_system() override;
    Result<bool> lies_in(const sys::EntryId& id) override;
    /// DAOS has no locks: this excludes only processes of this host.
    Result<bool> lock_alone() override;
    void unlock() override;

private:
    Result<DfsObject> look(const std::string& name, int access, struct stat* about = nullptr) const;
    Result<std::unique_ptr<sys::OpenFile>> open_regular(const std::string& name, int access) const;
    Result<> remove_entry(const std::string& name);
    Result<> replace_by_link(const std::string& name, const std::string& new_name, const sys::EntryStatus& before);

    std::shared_ptr<const DfsAncestry> ancestry_;
    std::string lock_path_;
    sys::FileLock lock_;
};

/// Opens a path below the container's root, "" or "/a/b". No part may be a link.
Result<std::unique_ptr<sys::Folder>> open_dfs_folder(const std::shared_ptr<DfsContainer>& container,
                                                     const std::string& path);

}  // namespace forebay::daos
