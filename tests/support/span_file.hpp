// Readable files in memory, as input of decoders in tests and fuzz targets.

#pragma once

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/sys/store.hpp"

namespace forebay::test {

/// A file over a piece of memory.
class SpanFile : public sys::File {
public:
    explicit SpanFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
    Result<> read(std::uint64_t offset, std::span<std::byte> out) override {
        if (offset > bytes_.size() || bytes_.size() - offset < out.size())
            return Error{ErrorKind::corrupt, "truncated"};
        if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
        return {};
    }
    Result<std::uint64_t> size() override { return std::uint64_t{bytes_.size()}; }
    Result<> write(std::uint64_t, std::span<const std::byte>) override { return no(); }
    Result<> truncate(std::uint64_t) override { return no(); }
    void reserve(std::uint64_t, std::uint64_t) override {}
    Result<> sync() override { return no(); }
    bool direct() const override { return false; }
    Result<> close() override { return {}; }

private:
    static Error no() { return {ErrorKind::refused, "for reading"}; }
    std::span<const std::byte> bytes_;
};

/// Files in memory by name.
class SpanStore : public sys::Store {
public:
    std::map<std::string, std::vector<std::byte>> files;

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        if (access != sys::Access::read) return no();
        const auto file = files.find(path);
        if (file == files.end()) return Error{ErrorKind::missing, path + " is missing"};
        return std::unique_ptr<sys::File>(std::make_unique<SpanFile>(file->second));
    }
    Result<bool> exists(const std::string& path) override { return files.contains(path); }
    Result<> make_directories(const std::string&) override { return no(); }
    Result<> make_directory(const std::string&) override { return no(); }
    Result<> rename(const std::string&, const std::string&) override { return no(); }
    Result<> remove(const std::string&) override { return no(); }
    Result<> remove_tree(const std::string&) override { return no(); }
    Result<> sync_directory(const std::string&) override { return no(); }
    Result<std::vector<sys::Entry>> list(const std::string&) override { return no(); }

private:
    static Error no() { return {ErrorKind::refused, "for reading"}; }
};

}  // namespace forebay::test
