#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/try.hpp"
#include "core/sys/store.hpp"

namespace forebay::sys {

namespace {

class StretchFile final : public File {
public:
    StretchFile(File& file, std::unique_ptr<File> owned, std::uint64_t offset, std::uint64_t bytes)
        : owned_(std::move(owned)), file_(file), offset_(offset), bytes_(bytes) {}

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        if (!holds(offset, bytes.size())) return outside(ErrorKind::broken, "write", offset, bytes.size());
        return file_.write(offset_ + offset, bytes);
    }
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        if (!holds(offset, bytes.size())) return outside(ErrorKind::corrupt, "read", offset, bytes.size());
        return file_.read(offset_ + offset, bytes);
    }
    Result<std::uint64_t> size() override {
        FB_TRY_ASSIGN(size, file_.size());
        return size < offset_ ? std::uint64_t{0} : std::min(size - offset_, bytes_);
    }
    Result<> truncate(std::uint64_t size) override {
        return Error{ErrorKind::broken,
                     fmt::format("truncate to {} bytes: the size of a shared file cannot change", size)};
    }
    void reserve(std::uint64_t offset, std::uint64_t bytes) override {
        if (holds(offset, bytes)) file_.reserve(offset_ + offset, bytes);
    }
    Result<> sync() override { return file_.sync(); }
    bool direct() const override { return file_.direct(); }
    Result<> close() override { return file_.close(); }

private:
    bool holds(std::uint64_t offset, std::uint64_t bytes) const { return offset <= bytes_ && bytes <= bytes_ - offset; }
    Error outside(ErrorKind kind, const char* call, std::uint64_t offset, std::uint64_t bytes) const {
        return {kind,
                fmt::format("{} of {} bytes at {}: outside of the {} bytes at {} that belong to this part of the file",
                            call, bytes, offset, bytes_, offset_)};
    }

    const std::unique_ptr<File> owned_;  // null: the caller keeps it
    File& file_;
    const std::uint64_t offset_, bytes_;
};

}  // namespace

std::unique_ptr<File> stretch_of(std::unique_ptr<File> file, std::uint64_t offset, std::uint64_t bytes) {
    auto& all = *file;
    return std::make_unique<StretchFile>(all, std::move(file), offset, bytes);
}

std::unique_ptr<File> stretch_of(File& file, std::uint64_t offset, std::uint64_t bytes) {
    return std::make_unique<StretchFile>(file, nullptr, offset, bytes);
}

}  // namespace forebay::sys
