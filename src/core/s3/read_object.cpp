// An object that is read. Compares the checksum of all read bytes with the checksum that the server keeps.

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>

#include "core/base/crc32c.hpp"
#include "core/base/show_text.hpp"
#include "core/s3/entry.hpp"

namespace forebay::s3 {

namespace {

// The checksums of the stretches that were read, in any order. Adjacent stretches are joined.
class ReadSums {
public:
    void add(std::uint64_t begin, std::uint64_t bytes, std::uint32_t crc) {
        const auto after = stretches_.upper_bound(begin);
        const bool overlaps = (after != stretches_.end() && after->first < begin + bytes) ||
                              (after != stretches_.begin() && std::prev(after)->second.end > begin);
        if (bytes == 0 || overlaps) return;  // a repeated read
        auto [at, unused] = stretches_.emplace(begin, Stretch{begin + bytes, crc});
        if (at != stretches_.begin() && std::prev(at)->second.end == begin) at = join(std::prev(at));
        if (std::next(at) != stretches_.end() && std::next(at)->first == at->second.end) join(at);
    }
    /// Returns nothing if some data of the object was not read. Holes need not be read.
    std::optional<std::uint32_t> of_all(const ObjectInfo& object) const {
        std::uint64_t end = 0;
        std::uint32_t crc = 0;
        const auto pass_hole = [&](std::uint64_t to) {
            const auto is_data = [&](const sys::ByteStretch& data) { return data.begin < to && data.end > end; };
            if (end < to && (!object.state.data || std::ranges::any_of(*object.state.data, is_data))) return false;
            crc = crc32c_join(crc, of_zeros(to - end), to - end);
            return true;
        };
        for (const auto& [begin, stretch] : stretches_) {
            if (!pass_hole(begin)) return std::nullopt;
            crc = crc32c_join(crc, stretch.crc, stretch.end - begin);
            end = stretch.end;
        }
        if (!pass_hole(object.bytes)) return std::nullopt;
        return crc;
    }

private:
    struct Stretch {
        std::uint64_t end;
        std::uint32_t crc;
    };
    using Stretches = std::map<std::uint64_t, Stretch>;

    Stretches::iterator join(Stretches::iterator first) {
        const auto second = std::next(first);
        first->second.crc = crc32c_join(first->second.crc, second->second.crc, second->second.end - second->first);
        first->second.end = second->second.end;
        stretches_.erase(second);
        return first;
    }
    static std::uint32_t of_zeros(std::uint64_t bytes) {
        // Halving joins equal halves, so a hole of any length costs few steps.
        if (bytes == 0) return 0;
        if (bytes == 1) return crc32c(std::array{std::byte{0}});
        const auto half = of_zeros(bytes / 2);
        const auto crc = crc32c_join(half, half, bytes / 2);
        return bytes % 2 == 0 ? crc : crc32c_join(crc, of_zeros(1), 1);
    }

    Stretches stretches_;
};

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
        for (const auto& stretch : info_.state.data ? *info_.state.data : all)
            if (stretch.end > offset)
                return std::optional(sys::ByteStretch{std::max(stretch.begin, offset), stretch.end});
        return std::optional<sys::ByteStretch>();
    }
    Result<std::optional<std::uint32_t>> checksum() override {
        FB_TRY(ask_checksum());
        const std::lock_guard lock(mutex_);
        return info_.crc32c;
    }
    Result<bool> is_read_checked() override;
    Result<> write(std::uint64_t, std::span<const std::byte>) override { return to_read(); }
    Result<> resize(std::uint64_t) override { return to_read(); }
    Result<std::uint64_t> copy_from(OpenFile&, std::uint64_t, std::uint64_t) override { return to_read(); }
    Result<> sync() override { return {}; }
    void forget_cached() override {
        const std::lock_guard lock(mutex_);
        first_bytes_.clear();
        sums_ = {};
    }

private:
    ObjectInfo& info() override { return info_; }
    std::mutex& lock_of_info() override { return mutex_; }
    std::uint64_t device() const override { return bucket_.number(); }
    static Error to_read() { return {ErrorKind::refused, "the object was opened for reading"}; }

    Result<> ask_checksum();
    Result<std::uint64_t> take(std::uint64_t offset, std::uint64_t bytes, const Bucket::Take& take);

    Bucket& bucket_;
    std::mutex mutex_;
    ObjectInfo info_;
    std::string first_bytes_;
    bool was_asked_ = false;
    ReadSums sums_;
};

// No request for a small object: Bucket::read_first() compared all of its bytes already.
Result<> ReadObject::ask_checksum() {
    {
        const std::lock_guard lock(mutex_);
        if (info_.crc32c || was_asked_ || first_bytes_.size() == info_.bytes) return {};
        was_asked_ = true;
    }
    FB_TRY_ASSIGN(looked, bucket_.look(info_.key));
    const std::lock_guard lock(mutex_);
    if (looked && looked->etag == info_.etag) info_.crc32c = looked->crc32c;
    return {};
}

Result<bool> ReadObject::is_read_checked() {
    FB_TRY(ask_checksum());
    const std::lock_guard lock(mutex_);
    if (!info_.crc32c || first_bytes_.size() == info_.bytes) return true;
    const auto sum = sums_.of_all(info_);
    if (!sum) return false;
    if (*sum == *info_.crc32c) return true;
    return bucket_.other_than_kept(info_, *sum);
}

Result<std::uint64_t> ReadObject::take(std::uint64_t offset, std::uint64_t bytes, const Bucket::Take& take) {
    for (;;) {
        ObjectInfo object;
        {
            const std::lock_guard lock(mutex_);
            if (offset >= info_.bytes) return std::uint64_t{0};
            bytes = std::min(bytes, info_.bytes - offset);
            // Bytes that came with the opening cost no request.
            if (offset < first_bytes_.size()) {
                bytes = std::min<std::uint64_t>(bytes, first_bytes_.size() - offset);
                const auto part = std::as_bytes(std::span(first_bytes_)).subspan(offset, bytes);
                sums_.add(offset, bytes, crc32c(part));
                FB_TRY(take(0, part));
                return bytes;
            }
            object = info_;
        }
        std::uint32_t sum = 0;
        FB_TRY_ASSIGN(was_same, bucket_.read(object, {offset, offset + bytes},
                                             [&](std::uint64_t at, std::span<const std::byte> part) {
                                                 // 0: the server sends the range again
                                                 sum = crc32c(part, at == 0 ? 0 : sum);
                                                 return take(at, part);
                                             }));
        if (was_same) {
            const std::lock_guard lock(mutex_);
            // Another thread may have met a new version meanwhile.
            if (info_.etag == object.etag) sums_.add(offset, bytes, sum);
            return bytes;
        }
        // Another object was put under this key. Reading continues with it, and status() shows the change.
        FB_TRY_ASSIGN(now, bucket_.look(object.key));
        if (!now) return Error{ErrorKind::missing, "it was removed during the read"};
        const std::lock_guard lock(mutex_);
        info_ = *now;
        first_bytes_.clear();
        sums_ = {};
    }
}

}  // namespace

std::unique_ptr<sys::OpenFile> open_object(Bucket& bucket, ObjectInfo object, std::string first_bytes) {
    return std::make_unique<ReadObject>(bucket, std::move(object), std::move(first_bytes));
}

}  // namespace forebay::s3
