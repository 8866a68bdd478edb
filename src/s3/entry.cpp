#include "s3/entry.hpp"

#include <algorithm>
#include <cstring>

#include "s3/made_object.hpp"

namespace forebay::s3 {

namespace {

// Of a source's holes so many stretches of data fit into the metadata, about.
constexpr std::size_t stretches_max = 64;

std::string prefix_of_key(const std::string& key) { return key.substr(0, key.rfind('/') + 1); }

class ReadObject final : public ObjectEntry<sys::OpenFile> {
public:
    ReadObject(Bucket& bucket, ObjectInfo object, std::string first_bytes)
        : bucket_(bucket), info_(std::move(object)), first_bytes_(std::move(first_bytes)) {}

    Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        return take(offset, bytes.size(), [&](std::uint64_t at, std::span<const std::byte> part) -> Result<> {
            std::memcpy(bytes.data() + at, part.data(), part.size());
            return {};
        });
    }
    Result<std::uint64_t> copy_to(OpenFile& target, std::uint64_t offset, std::uint64_t bytes) override {
        return take(offset, bytes,
                    [&](std::uint64_t at, std::span<const std::byte> part) { return target.write(offset + at, part); });
    }
    Result<std::optional<sys::ByteStretch>> next_data(std::uint64_t offset) override {
        const std::lock_guard lock(mutex_);
        const auto all = std::vector<sys::ByteStretch>{{0, info_.bytes}};
        for (const auto& one : info_.state.data ? *info_.state.data : all)
            if (one.end > offset) return std::optional(sys::ByteStretch{std::max(one.begin, offset), one.end});
        return std::optional<sys::ByteStretch>();
    }
    Result<std::optional<std::uint32_t>> checksum() override {
        const std::lock_guard lock(mutex_);
        if (first_bytes_.size() == info_.bytes) return std::optional<std::uint32_t>();  // they are here to be compared
        if (!info_.crc32c) {
            FB_TRY_ASSIGN(looked, bucket_.look(info_.key));
            if (looked && looked->etag == info_.etag) info_.crc32c = looked->crc32c;
        }
        return info_.crc32c;
    }
    Result<> write(std::uint64_t, std::span<const std::byte>) override { return to_read(); }
    Result<> resize(std::uint64_t) override { return to_read(); }
    Result<std::uint64_t> copy_from(OpenFile&, std::uint64_t, std::uint64_t) override { return to_read(); }
    Result<> sync() override { return {}; }
    void forget_cached() override {
        const std::lock_guard lock(mutex_);
        first_bytes_.clear();
    }

private:
    ObjectInfo& info() override { return info_; }
    std::mutex& lock_of_info() override { return mutex_; }
    std::uint64_t device() const override { return bucket_.number(); }
    static Error to_read() { return {ErrorKind::refused, "the object was opened to be read"}; }

    Result<std::uint64_t> take(std::uint64_t offset, std::uint64_t bytes, const Bucket::Take& take) {
        for (;;) {
            ObjectInfo object;
            {
                const std::lock_guard lock(mutex_);
                if (offset >= info_.bytes) return std::uint64_t{0};
                bytes = std::min(bytes, info_.bytes - offset);
                if (offset < first_bytes_.size()) {
                    bytes = std::min<std::uint64_t>(bytes, first_bytes_.size() - offset);
                    FB_TRY(take(0, std::as_bytes(std::span(first_bytes_)).subspan(offset, bytes)));
                    return bytes;
                }
                object = info_;
            }
            FB_TRY_ASSIGN(was_same, bucket_.read(object, {offset, offset + bytes}, take));
            if (was_same) return bytes;
            // Somebody has put another object there: it is what is read from here on, and status() tells.
            FB_TRY_ASSIGN(now, bucket_.look(object.key));
            if (!now) return Error{ErrorKind::missing, "it was removed while it was read"};
            const std::lock_guard lock(mutex_);
            info_ = *now;
            first_bytes_.clear();
        }
    }

    Bucket& bucket_;
    std::mutex mutex_;
    ObjectInfo info_;
    std::string first_bytes_;
};

class WrittenObject final : public ObjectEntry<sys::OpenFile> {
public:
    WrittenObject(Bucket& bucket, std::shared_ptr<MadeObject> made) : bucket_(bucket), made_(std::move(made)) {}

    bool begins_with_attributes() const override { return true; }
    Result<std::uint64_t> begin(const std::string& final_name, OpenFile& source,
                                const sys::EntryStatus& status) override;
    Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        return made_->read(offset, bytes);
    }
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return made_->write(offset, bytes);
    }
    Result<> resize(std::uint64_t bytes) override { return made_->resize(bytes); }
    Result<std::optional<sys::ByteStretch>> next_data(std::uint64_t offset) override {
        const auto bytes = made_->status().bytes;
        if (offset >= bytes) return std::optional<sys::ByteStretch>();
        return std::optional(sys::ByteStretch{offset, bytes});
    }
    Result<std::uint64_t> copy_from(OpenFile& source, std::uint64_t offset, std::uint64_t bytes) override {
        return made_->copy_from(source, offset, bytes);
    }
    Result<std::string> written_parts() override { return made_->sent_parts(); }
    Result<> take_parts(const std::string& parts) override { return made_->take_sent(parts); }
    Result<std::optional<std::uint32_t>> checksum() override { return std::optional(made_->checksum()); }
    Result<> sync() override { return {}; }
    void forget_cached() override {}

private:
    ObjectInfo& info() override { return made_->info; }
    std::mutex& lock_of_info() override { return made_->mutex; }
    std::uint64_t device() const override { return bucket_.number(); }

    Bucket& bucket_;
    std::shared_ptr<MadeObject> made_;
};

Result<std::uint64_t> WrittenObject::begin(const std::string& final_name, OpenFile& source,
                                           const sys::EntryStatus& status) {
    if (status.allocated_bytes < status.bytes) {
        std::vector<sys::ByteStretch> data;
        for (std::uint64_t at = 0; at < status.bytes && data.size() <= stretches_max;) {
            FB_TRY_ASSIGN(next, source.next_data(at));
            if (!next || next->begin >= status.bytes) break;
            data.push_back({next->begin, std::min(next->end, status.bytes)});
            at = next->end;
        }
        const std::lock_guard lock(made_->mutex);
        if (data.size() <= stretches_max) made_->info.state.data = std::move(data);
    }
    FB_TRY(made_->begin(prefix_of_key(made_->info.key) + key_part_of(final_name), status));
    return made_->present_bytes();
}

class OtherEntry final : public ObjectEntry<sys::OpenEntry> {
public:
    OtherEntry(Bucket& bucket, ObjectInfo object) : bucket_(bucket), info_(std::move(object)), kept_(info_.state) {}

    Result<> keep_set() override {
        const std::lock_guard lock(mutex_);
        if (info_.state == kept_) return {};
        FB_TRY(bucket_.give_state(info_));
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

std::unique_ptr<sys::OpenFile> open_object(Bucket& bucket, ObjectInfo object, std::string first_bytes) {
    return std::make_unique<ReadObject>(bucket, std::move(object), std::move(first_bytes));
}
std::unique_ptr<sys::OpenFile> open_made(Bucket& bucket, std::shared_ptr<MadeObject> made) {
    return std::make_unique<WrittenObject>(bucket, std::move(made));
}
std::unique_ptr<sys::OpenEntry> open_other(Bucket& bucket, ObjectInfo object) {
    return std::make_unique<OtherEntry>(bucket, std::move(object));
}

}  // namespace forebay::s3
