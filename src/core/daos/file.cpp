// The bytes of files in a container.

#include <algorithm>
#include <memory>

#include "core/base/try.hpp"
#include "core/daos/object.hpp"
#include "core/sys/tree_place.hpp"

namespace forebay::daos {

namespace {

// One move is a stripe of our containers: it lies on 16 targets and gets its parity at once.
constexpr std::uint64_t stripe_bytes = 2u << 20;

d_sg_list_t list_of(d_iov_t& vector, void* bytes, std::size_t count) {
    vector.iov_buf = bytes;
    vector.iov_buf_len = count;
    vector.iov_len = count;
    return {.sg_nr = 1, .sg_nr_out = 0, .sg_iovs = &vector};
}

// Returns the number of bytes copied; less than `bytes` at the source's end.
Result<std::uint64_t> move_bytes(sys::OpenFile& source, sys::OpenFile& target, std::uint64_t offset,
                                 std::uint64_t bytes) {
    const auto buffer_bytes = std::min(bytes, stripe_bytes);
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
    std::uint64_t moved = 0;
    while (moved < bytes) {
        const auto at = offset + moved;
        const auto end = std::min(offset + bytes, (at / stripe_bytes + 1) * stripe_bytes);
        const auto part = std::span(buffer.get(), std::min(buffer_bytes, end - at));
        FB_TRY_ASSIGN(got, source.read(at, part));
        if (got == 0) break;
        FB_TRY(target.write(at, part.first(got)));
        moved += got;
    }
    return moved;
}

class DfsFile final : public DfsEntry<sys::OpenFile> {
public:
    using DfsEntry::DfsEntry;

    Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes) override;
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
    Result<> resize(std::uint64_t bytes) override {
        return object().done("dfs_punch", ::dfs_punch(object().dfs(), object().get(), bytes, DFS_MAX_FSIZE));
    }
    // DAOS stores holes as nothing but does not report them.
    Result<std::optional<sys::ByteStretch>> next_data(std::uint64_t offset) override {
        daos_size_t bytes = 0;
        FB_TRY(object().done("dfs_get_size", ::dfs_get_size(object().dfs(), object().get(), &bytes)));
        if (offset >= bytes) return std::optional<sys::ByteStretch>();
        return std::optional(sys::ByteStretch{.begin = offset, .end = bytes});
    }
    Result<std::uint64_t> copy_from(OpenFile& source, std::uint64_t offset, std::uint64_t bytes) override {
        return move_bytes(source, *this, offset, bytes);
    }
    Result<std::uint64_t> copy_to(OpenFile& target, std::uint64_t offset, std::uint64_t bytes) override {
        return move_bytes(*this, target, offset, bytes);
    }
    // A finished write is on the servers' storage. This process holds nothing back.
    Result<> sync() override { return {}; }
    void forget_cached() override {}
};

Result<std::uint64_t> DfsFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
    std::uint64_t done = 0;
    while (done < bytes.size()) {
        d_iov_t vector{};
        auto list = list_of(vector, bytes.data() + done, bytes.size() - done);
        daos_size_t got = 0;
        FB_TRY(
            object().done("dfs_read", ::dfs_read(object().dfs(), object().get(), &list, offset + done, &got, nullptr)));
        if (got == 0) break;
        done += got;
    }
    return done;
}

Result<> DfsFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (bytes.empty()) return {};
    d_iov_t vector{};
    auto list = list_of(vector, const_cast<std::byte*>(bytes.data()), bytes.size());  // dfs_write() only reads it
    return object().done("dfs_write", ::dfs_write(object().dfs(), object().get(), &list, offset, nullptr));
}

}  // namespace

std::unique_ptr<sys::OpenFile> open_dfs_file(DfsObject object) { return std::make_unique<DfsFile>(std::move(object)); }

}  // namespace forebay::daos
