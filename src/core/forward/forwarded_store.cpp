#include "core/forward/forwarded_store.hpp"

#include <algorithm>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/sys/far_module.hpp"

namespace forebay::forward {

namespace {

class ForwardedFile final : public sys::File {
public:
    ForwardedFile(std::shared_ptr<ForwarderPool> pool, ForwarderEpoch epoch, std::uint64_t number, bool direct,
                  bool is_far)
        : pool_(std::move(pool)), epoch_(epoch), number_(number), direct_(direct), is_far_(is_far) {}
    ForwardedFile(const ForwardedFile&) = delete;
    ForwardedFile& operator=(const ForwardedFile&) = delete;
    // If the forwarder is lost, it closes the file itself.
    ~ForwardedFile() override {
        static_cast<void>(attempt([this] { return close(); }));
    }

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return in_pieces(offset, bytes, [&](std::uint64_t at, auto piece) {
            return pool_->write_at(epoch_, {.file = number_, .offset = at}, piece);
        });
    }
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override {
        return in_pieces(offset, bytes, [&](std::uint64_t at, auto piece) {
            return pool_->read_at(epoch_, {.file = number_, .offset = at}, piece);
        });
    }
    Result<std::uint64_t> size() override {
        FB_TRY_ASSIGN(answer, pool_->ask_at(epoch_, FrameKind::size, {.file = number_}));
        return answer.number;
    }
    Result<> truncate(std::uint64_t size) override { return tell(FrameKind::truncate, size); }
    // Not forwarded: the network bounds the writes of a forwarder, not the lock of a file.
    void reserve(std::uint64_t, std::uint64_t) override {}
    // Forwarded only for buckets: files do not use this hint.
    void leave_zeros(std::uint64_t offset, std::uint64_t bytes) override {
        if (is_far_) static_cast<void>(tell(FrameKind::leave_zeros, offset, bytes));
    }
    Result<> sync() override { return tell(FrameKind::sync, 0); }
    bool direct() const override { return direct_; }
    Result<> close() override {
        if (std::exchange(closed_, true)) return {};
        return tell(FrameKind::close, 0);
    }

private:
    template <class Bytes, class Each>
    static Result<> in_pieces(std::uint64_t offset, Bytes bytes, Each&& each) {
        while (!bytes.empty()) {
            // A forwarder has buffers of this size.
            const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), limits::piece_bytes));
            FB_TRY(each(offset, piece));
            offset += piece.size();
            bytes = bytes.subspan(piece.size());
        }
        return {};
    }
    Result<> tell(FrameKind kind, std::uint64_t offset, std::uint64_t number = 0) {
        const auto answer = pool_->ask_at(epoch_, kind, {.file = number_, .offset = offset, .number = number});
        return answer ? Result<>() : Result<>(answer.error());
    }

    std::shared_ptr<ForwarderPool> pool_;
    const ForwarderEpoch epoch_;
    const std::uint64_t number_;
    const bool direct_, is_far_;
    bool closed_ = false;
};

}  // namespace

Result<std::unique_ptr<ForwardedStore>> ForwardedStore::make(const ClientOptions& options) {
    FB_TRY_ASSIGN(pool, ForwarderPool::make(options));
    return std::unique_ptr<ForwardedStore>(new ForwardedStore(std::move(pool)));
}

Result<> ForwardedStore::tell(FrameKind kind, const Request& request) {
    const auto answer = pool_->ask(kind, request);
    return answer ? Result<>() : Result<>(answer.error());
}

Result<std::unique_ptr<sys::File>> ForwardedStore::open(const std::string& path, sys::Access access) {
    ForwarderEpoch epoch = 0;
    FB_TRY_ASSIGN(answer, pool_->ask(FrameKind::open, {.access = access, .path = path}, &epoch));
    return std::unique_ptr<sys::File>(
        std::make_unique<ForwardedFile>(pool_, epoch, answer.number, answer.word != 0, sys::is_far(path)));
}

Result<> ForwardedStore::make_directories(const std::string& path) {
    return tell(FrameKind::make_directories, {.path = path});
}
Result<> ForwardedStore::make_directory(const std::string& path) {
    return tell(FrameKind::make_directory, {.path = path});
}
Result<> ForwardedStore::rename(const std::string& from, const std::string& to) {
    return tell(FrameKind::rename, {.path = from, .other = to});
}
Result<> ForwardedStore::remove(const std::string& path) { return tell(FrameKind::remove, {.path = path}); }
Result<> ForwardedStore::remove_tree(const std::string& path) { return tell(FrameKind::remove_tree, {.path = path}); }
Result<> ForwardedStore::sync_directory(const std::string& path) {
    return tell(FrameKind::sync_directory, {.path = path});
}

Result<std::vector<sys::Entry>> ForwardedStore::list(const std::string& path) {
    FB_TRY_ASSIGN(answer, pool_->ask(FrameKind::list, {.path = path}));
    return std::move(answer.entries);
}

Result<bool> ForwardedStore::exists(const std::string& path) {
    FB_TRY_ASSIGN(answer, pool_->ask(FrameKind::exists, {.path = path}));
    return answer.number != 0;
}

Result<std::optional<sys::EntryId>> ForwardedStore::id_for_cut_renames(const std::string& path) {
    FB_TRY_ASSIGN(answer, pool_->ask(FrameKind::id, {.path = path}));
    if (answer.crc == 0) return std::optional<sys::EntryId>();
    return std::optional(sys::EntryId{.device = answer.word, .number = answer.number});
}

Result<> ForwardedStore::make_view(const std::string& stream, std::int64_t step, const std::string& directory,
                                   Convention convention) {
    return tell(FrameKind::view, {.offset = static_cast<std::uint64_t>(step),
                                  .number = static_cast<std::uint64_t>(convention),
                                  .path = directory,
                                  .other = stream});
}

}  // namespace forebay::forward
