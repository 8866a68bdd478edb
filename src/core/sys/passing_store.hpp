// A Store and a File that pass every call on. Derive from them to observe some calls or to change a call. The Store
// that gets the calls must outlive them. Threads: as that Store.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/sys/store.hpp"

namespace forebay::sys {

class PassingStore : public Store {
public:
    explicit PassingStore(Store& store) : store_(store) {}

    Result<std::unique_ptr<File>> open(const std::string& path, Access access) override {
        return next().open(path, access);
    }
    Result<> make_directories(const std::string& path) override { return next().make_directories(path); }
    Result<> make_directory(const std::string& path) override { return next().make_directory(path); }
    Result<> rename(const std::string& from, const std::string& to) override { return next().rename(from, to); }
    Result<> remove(const std::string& path) override { return next().remove(path); }
    Result<> remove_tree(const std::string& path) override { return next().remove_tree(path); }
    Result<> sync_directory(const std::string& path) override { return next().sync_directory(path); }
    Result<std::vector<Entry>> list(const std::string& path) override { return next().list(path); }
    Result<bool> exists(const std::string& path) override { return next().exists(path); }
    Result<std::optional<std::int64_t>> changed_unix_ns(const std::string& path) override {
        return next().changed_unix_ns(path);
    }
    Result<std::optional<EntryId>> id_for_cut_renames(const std::string& path) override {
        return next().id_for_cut_renames(path);
    }
    std::optional<StripeDefault> default_stripes(const std::string& directory) override {
        return next().default_stripes(directory);
    }
    Result<> make_striped(const std::string& path, const Stripes& stripes) override {
        return next().make_striped(path, stripes);
    }

protected:
    /// The store for a call; asked once before each call.
    virtual Store& next() { return store_; }

private:
    Store& store_;
};

class PassingFile : public File {
public:
    explicit PassingFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return file_->write(offset, bytes);
    }
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override { return file_->read(offset, bytes); }
    Result<std::uint64_t> size() override { return file_->size(); }
    Result<> truncate(std::uint64_t size) override { return file_->truncate(size); }
    void reserve(std::uint64_t offset, std::uint64_t bytes) override { file_->reserve(offset, bytes); }
    void leave_zeros(std::uint64_t offset, std::uint64_t bytes) override { file_->leave_zeros(offset, bytes); }
    Result<> sync() override { return file_->sync(); }
    bool direct() const override { return file_->direct(); }
    StripeMap stripes() override { return file_->stripes(); }
    Result<> close() override { return file_->close(); }

protected:
    std::unique_ptr<File> file_;
};

}  // namespace forebay::sys
