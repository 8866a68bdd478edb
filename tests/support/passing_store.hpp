// What tests derive from to be slow, or wrong, at one call: a Store and a File that pass every call on.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "sys/passing_store.hpp"

namespace forebay::test {

using sys::PassingStore;

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
