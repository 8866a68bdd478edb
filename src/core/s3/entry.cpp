#include "core/s3/entry.hpp"

#include <algorithm>

#include "core/s3/made_object.hpp"

namespace forebay::s3 {

namespace {

// About the most stretches of data that fit into the metadata of a file with holes.
constexpr std::size_t stretches_max = 64;

std::string prefix_of_key(const std::string& key) { return key.substr(0, key.rfind('/') + 1); }

class WrittenObject final : public ObjectEntry<sys::OpenFile> {
public:
    WrittenObject(Bucket& bucket, std::shared_ptr<MadeObject> object) : bucket_(bucket), object_(std::move(object)) {}

    bool begins_with_attributes() const override { return true; }
    Result<std::uint64_t> begin(const std::string& final_name, OpenFile& source,
                                const sys::EntryStatus& status) override;
    Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        return object_->read(offset, bytes);
    }
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return object_->write(offset, bytes);
    }
    Result<> resize(std::uint64_t bytes) override { return object_->resize(bytes); }
    Result<std::optional<sys::ByteStretch>> next_data(std::uint64_t offset) override {
        const auto bytes = object_->status().bytes;
        if (offset >= bytes) return std::optional<sys::ByteStretch>();
        return std::optional(sys::ByteStretch{offset, bytes});
    }
    Result<std::uint64_t> copy_from(OpenFile& source, std::uint64_t offset, std::uint64_t bytes) override {
        return object_->copy_from(source, offset, bytes);
    }
    std::uint64_t held_at(std::uint64_t offset) override { return object_->held_at(offset); }
    Result<std::string> written_parts() override { return object_->sent_parts(); }
    Result<> take_parts(const std::string& parts) override { return object_->take_sent(parts); }
    Result<std::optional<std::uint32_t>> checksum() override { return std::optional(object_->checksum()); }
    Result<> sync() override { return {}; }
    void forget_cached() override {}

private:
    ObjectInfo& info() override { return object_->info; }
    std::mutex& lock_of_info() override { return object_->mutex; }
    std::uint64_t device() const override { return bucket_.number(); }

    Bucket& bucket_;
    std::shared_ptr<MadeObject> object_;
};

Result<std::uint64_t> WrittenObject::begin(const std::string& final_name, OpenFile& source,
                                           const sys::EntryStatus& status) {
    // A file with fewer bytes on disk has holes, and the metadata keep their places.
    if (status.allocated_bytes < status.bytes) {
        std::vector<sys::ByteStretch> data;
        for (std::uint64_t at = 0; at < status.bytes && data.size() <= stretches_max;) {
            FB_TRY_ASSIGN(next, source.next_data(at));
            if (!next || next->begin >= status.bytes) break;
            data.push_back({next->begin, std::min(next->end, status.bytes)});
            at = next->end;
        }
        const std::lock_guard lock(object_->mutex);
        if (data.size() <= stretches_max) object_->info.state.data = std::move(data);
    }
    FB_TRY(object_->begin(prefix_of_key(object_->info.key) + key_part_of(final_name), status));
    return object_->present_bytes();
}

class OtherEntry final : public ObjectEntry<sys::OpenEntry> {
public:
    OtherEntry(Bucket& bucket, ObjectInfo object) : bucket_(bucket), info_(std::move(object)), kept_(info_.state) {}

    Result<> keep_set() override {
        const std::lock_guard lock(mutex_);
        if (info_.state == kept_) return {};
        // S3 cannot change metadata in place, so the object is copied onto itself.
        FB_TRY(bucket_.copy(info_, info_.key));
        kept_ = info_.state;
        return {};
    }

private:
    ObjectInfo& info() override { return info_; }
    std::mutex& lock_of_info() override { return mutex_; }
    std::uint64_t device() const override { return bucket_.number(); }

    Bucket& bucket_;
    std::mutex mutex_;
    ObjectInfo info_;
    ObjectState kept_;
};

}  // namespace

std::unique_ptr<sys::OpenFile> open_made(Bucket& bucket, std::shared_ptr<MadeObject> object) {
    return std::make_unique<WrittenObject>(bucket, std::move(object));
}
std::unique_ptr<sys::OpenEntry> open_other(Bucket& bucket, ObjectInfo object) {
    return std::make_unique<OtherEntry>(bucket, std::move(object));
}

}  // namespace forebay::s3
