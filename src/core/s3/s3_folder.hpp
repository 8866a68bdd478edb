// The directory of a prefix. folder.cpp has the calls that look, folder_change.cpp the calls that make and remove.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/s3/directories.hpp"
#include "core/s3/entry.hpp"
#include "core/s3/listed_names.hpp"
#include "core/s3/made_object.hpp"

namespace forebay::s3 {

class S3Folder final : public ObjectEntry<sys::Folder> {
public:
    S3Folder(std::shared_ptr<Bucket> bucket, std::string prefix, ObjectInfo object, bool is_new)
        : bucket_(std::move(bucket)),
          prefix_(std::move(prefix)),
          info_(std::move(object)),
          kept_(info_.state),
          is_new_(is_new) {}

    Result<> keep_set() override;

    Result<> list(const NameTaker& take) override;
    Result<> tell_unnamed(const UnnamedTaker& take) override;
    Result<sys::EntryStatus> status_of(const std::string& name) override;
    Result<std::string> link_text(const std::string& name) override;
    Result<std::vector<std::string>> attribute_names_of(const std::string& name) override;
    Result<std::string> attribute_of(const std::string& name, const std::string& attribute_name) override;

    Result<std::unique_ptr<Folder>> open_folder(const std::string& name) override;
    Result<std::unique_ptr<Folder>> open_made_folder(const std::string& name) override;
    void expect_new() override;
    Result<std::unique_ptr<sys::OpenFile>> open_file(const std::string& name) override;
    Result<std::unique_ptr<sys::OpenFile>> reopen_file(const std::string& name) override;
    Result<std::unique_ptr<sys::OpenEntry>> open_entry(const std::string& name) override;

    Result<std::unique_ptr<sys::OpenFile>> make_file(const std::string& name, std::uint32_t permissions) override;
    Result<> make_folder(const std::string& name, std::uint32_t permissions) override;
    Result<> make_link(const std::string& name, const std::string& text) override;
    Result<> make_special(const std::string& name, const sys::EntryStatus& like) override;
    Result<> make_hard_link(const std::string&, Folder&, const std::string&) override { return can_link(); }
    Result<> can_link() override { return Error{ErrorKind::unsupported, "an object of S3 has one key"}; }

    Result<> rename(const std::string& name, const std::string& new_name) override;
    Result<> remove(const std::string& name) override;
    Result<> remove_folder(const std::string& name) override;
    void remove_each(std::span<const std::string> names, const RemovedTaker& taker) override;
    std::size_t removed_at_once() const override { return Bucket::keys_max; }
    Result<> sync_file_system() override { return {}; }
    Result<sys::FileSystemTraits> file_system() override { return sys::FileSystemTraits{.names_change_times = false}; }
    Result<bool> lock_alone() override { return true; }
    Result<bool> lies_in(const sys::EntryId& id) override;

private:
    ObjectInfo& info() override { return info_; }
    std::mutex& lock_of_info() override { return mutex_; }
    std::uint64_t device() const override { return bucket_->number(); }

    /// A key of the last listing that is not an entry name, or a common prefix of such keys.
    struct Unnamed {
        std::string key;
        bool is_beginning = false, is_twice = false;
    };

    Result<std::string> key_of(const std::string& name) const;
    /// Adds the uploads whose marks are in this page of the listing.
    Result<> add_uploads(ListedNames& names, std::vector<ListedEntry>& portion);
    Result<bool> is_named(const ListedEntry& entry);
    /// Returns the entry under a name, or nothing.
    Result<std::optional<ObjectInfo>> find(const std::string& name);
    /// The same, but the answer may be older.
    Result<ObjectInfo> recent(const std::string& name);
    void remember(const std::string& name, const std::optional<ObjectInfo>& object);
    std::shared_ptr<MadeObject> making(const std::string& key, bool takes_it = false);
    Result<> add_made(const std::string& name, ObjectState state);
    Result<bool> names_folder(const std::string& name, const std::string& key);
    Result<> rename_upload(const std::string& name, const std::string& new_name);

    const std::shared_ptr<Bucket> bucket_;
    const std::string prefix_;
    std::mutex mutex_;  // guards the members below
    ObjectInfo info_;
    ObjectState kept_;
    bool is_new_;  // empty except for entries of this process, or entries that others make under other names
    ListedNames names_;
    std::vector<Unnamed> unnamed_;  // the first of them, up to a limit
    std::unordered_map<std::string, ObjectInfo> looked_at_;
};

/// The error text for a directory whose object has bytes.
std::string bytes_of_folder(const ObjectInfo& folder);
/// The error "there is no NAME".
Error missing_name(const std::string& name);

}  // namespace forebay::s3
