// A Store and a File that pass every call on: what tests derive from to be slow, or wrong, at one of them.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "sys/store.hpp"

namespace forebay::test {

class PassingStore : public sys::Store {
public:
    explicit PassingStore(sys::Store& store) : store_(store) {}

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        return next().open(path, access);
    }
    Result<> make_directories(const std::string& path) override { return next().make_directories(path); }
    Result<> make_directory(const std::string& path) override { return next().make_directory(path); }
    Result<> rename(const std::string& from, const std::string& to) override { return next().rename(from, to); }
    Result<> remove(const std::string& path) override { return next().remove(path); }
    Result<> remove_tree(const std::string& path) override { return next().remove_tree(path); }
    Result<> sync_directory(const std::string& path) override { return next().sync_directory(path); }
    Result<std::vector<sys::Entry>> list(const std::string& path) override { return next().list(path); }
    Result<bool> exists(const std::string& path) override { return next().exists(path); }
    std::optional<sys::StripeDefault> default_stripes(const std::string& directory) override {
        return next().default_stripes(directory);
    }
    Result<> make_striped(const std::string& path, const sys::Stripes& stripes) override {
        return next().make_striped(path, stripes);
    }

protected:
    /// Before each call, once.
    virtual sys::Store& next() { return store_; }

private:
    sys::Store& store_;
};

/// Lets `other` run to its end before its own operation number `at`: an agent that is slow there.
class InterruptedStore final : public PassingStore {
public:
    InterruptedStore(sys::Store& store, int at, std::function<void()> other)
        : PassingStore(store), at_(at), other_(std::move(other)) {}
    int operations() const { return operations_; }

private:
    sys::Store& next() override {
        if (operations_++ == at_) other_();
        return PassingStore::next();
    }
    int at_;
    std::function<void()> other_;
    int operations_ = 0;
};

class PassingFile : public sys::File {
public:
    explicit PassingFile(std::unique_ptr<sys::File> file) : file_(std::move(file)) {}

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return file_->write(offset, bytes);
    }
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override { return file_->read(offset, bytes); }
    Result<std::uint64_t> size() override { return file_->size(); }
    Result<> truncate(std::uint64_t size) override { return file_->truncate(size); }
    void reserve(std::uint64_t offset, std::uint64_t bytes) override { file_->reserve(offset, bytes); }
    Result<> sync() override { return file_->sync(); }
    bool direct() const override { return file_->direct(); }
    Result<> close() override { return file_->close(); }

protected:
    std::unique_ptr<sys::File> file_;
};

}  // namespace forebay::test
