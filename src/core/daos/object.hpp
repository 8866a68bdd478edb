// An open entry of a container.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/daos/container.hpp"

namespace forebay::daos {

sys::EntryStatus status_from(const struct stat& about, const daos_obj_id_t& id, const DfsContainer& container);

/// Implements OpenEntry. DAOS stores attributes by the entry's name in its directory: after a rename an open entry
/// cannot reach them.
class DfsObject {
public:
    DfsObject(std::shared_ptr<DfsContainer> container, dfs_obj_t* object, std::string name)
        : container_(std::move(container)), object_(object), name_(std::move(name)) {}
    DfsObject(DfsObject&& other) noexcept
        : container_(std::move(other.container_)),
          object_(std::exchange(other.object_, nullptr)),
          name_(std::move(other.name_)) {}
    DfsObject& operator=(DfsObject&&) = delete;
    ~DfsObject() {
        if (object_ != nullptr) ::dfs_release(object_);
    }

    const std::shared_ptr<DfsContainer>& container() const { return container_; }
    dfs_t* dfs() const { return container_->dfs(); }
    dfs_obj_t* get() const { return object_; }
    const std::string& name() const { return name_; }

    mode_t mode() const;
    sys::EntryId id() const;
    Result<sys::EntryStatus> status() const;
    Result<std::vector<std::string>> attribute_names() const;
    Result<std::string> attribute(const std::string& attribute_name) const;
    Result<> set_attribute(const std::string& attribute_name, const std::string& value) const;
    Result<> remove_attribute(const std::string& attribute_name) const;
    Result<> set_owner(std::uint32_t user, std::uint32_t group) const;
    Result<> set_permissions(std::uint32_t permissions) const;
    /// Sets the mtime. DAOS has no access time.
    Result<> set_modified(sys::FileTime modified) const;
    /// In a setgid directory POSIX gives new entries the directory's group. DAOS leaves that to its callers.
    Result<> take_group_of(const DfsObject& directory) const;
    /// Returns no error if `number`, an errno value, is 0.
    Result<> done(const char* call, int number) const;

private:
    Result<> set(const char* call, struct stat& wanted, int flags) const;

    std::shared_ptr<DfsContainer> container_;
    dfs_obj_t* object_;
    std::string name_;
};

/// Implements the OpenEntry part of an interface.
template <class Interface>
class DfsEntry : public Interface {
public:
    explicit DfsEntry(DfsObject object) : object_(std::move(object)) {}

    Result<sys::EntryStatus> status() override { return object_.status(); }
    Result<std::vector<std::string>> attribute_names() override { return object_.attribute_names(); }
    Result<std::string> attribute(const std::string& name) override { return object_.attribute(name); }
    Result<> set_attribute(const std::string& name, const std::string& value) override {
        return object_.set_attribute(name, value);
    }
    Result<> remove_attribute(const std::string& name) override { return object_.remove_attribute(name); }
    Result<> set_owner(std::uint32_t user, std::uint32_t group) override { return object_.set_owner(user, group); }
    Result<> set_permissions(std::uint32_t permissions) override { return object_.set_permissions(permissions); }
    Result<> set_times(sys::FileTime, sys::FileTime modified) override { return object_.set_modified(modified); }

protected:
    const DfsObject& object() const { return object_; }

private:
    DfsObject object_;
};

/// An open regular file; file.cpp.
std::unique_ptr<sys::OpenFile> open_dfs_file(DfsObject object);

}  // namespace forebay::daos
