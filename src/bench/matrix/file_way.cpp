// posix and mmap: the calls of IOR with its backends POSIX and MMAP.

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "bench/matrix/way.hpp"
#include "core/base/try.hpp"
#include "core/sys/plain_file.hpp"
#include "core/sys/store.hpp"

namespace forebay::bench {

using sys::Clock;
using sys::PlainFile;

std::span<const std::byte> RecordPacker::bytes(const RowSpan& segment, std::uint64_t row_bytes, std::uint64_t from,
                                               std::uint64_t count) {
    if (segment.stride_bytes == 0) return {segment.data, count};  // the same block again
    if (segment.stride_bytes == row_bytes) return {segment.data + from, count};
    buffer_.resize(count);
    for (std::uint64_t done = 0; done < count;) {
        const auto row = (from + done) / row_bytes, inside = (from + done) % row_bytes;
        const auto now = std::min(row_bytes - inside, count - done);
        std::memcpy(buffer_.data() + done, segment.data + row * segment.stride_bytes + inside, now);
        done += now;
    }
    return buffer_;
}

Result<> WayOfFiles::forget(int dump) {
    for (int file = 0; file < row_.placement.files(); ++file)
        FB_TRY(sys::forget_cached(row_.placement.path(file, dump)));
    return {};
}

// If files belong to ranks, each rank removes its own, as IOR does: its next writes then get pages freed by its CPU.
Result<> WayOfFiles::remove(int dump) {
    for (int file = row_.ranks.rank(); file < row_.placement.files(); file += row_.ranks.size())
        FB_TRY(sys::posix_store().remove(row_.placement.path(file, dump)));
    return {};
}

bool WayOfFiles::out_of_time(Clock::time_point begin) const {
    return row_.setting.stonewall_seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - begin).count() >= row_.setting.stonewall_seconds;
}

Result<> WayOfFiles::read_back(const std::vector<Located>& pieces, int dump) {
    if (pieces.empty()) return {};
    FB_TRY_ASSIGN(file, PlainFile::open(row_.placement.path(pieces.front().file, dump), PlainFile::Use::read));
    FB_TRY(file.forget_cached());
    std::vector<std::byte> back(row_.setting.xfer_bytes);
    for (const auto& piece : pieces)
        for (std::uint64_t done = 0; done < piece.bytes;) {
            const auto now = std::min(row_.setting.xfer_bytes, piece.bytes - done);
            FB_TRY(file.read(piece.offset + done, std::span(back).first(now)));
            const auto written = packer_.bytes(piece.segment, row_bytes(piece), done, now);
            if (!std::ranges::equal(written, std::span(back).first(now)))
                return Error{ErrorKind::corrupt, row_.placement.path(piece.file, dump) +
                                                     ": the data read back differ from the written data at byte " +
                                                     std::to_string(piece.offset + done)};
            done += now;
        }
    return file.close();
}

namespace {

class FileWay final : public WayOfFiles {
public:
    explicit FileWay(const RowContext& row) : WayOfFiles(row), mapped_(row.setting.via == Via::mmap) {}

    Result<> prepare(const std::vector<RowSpan>&, int) override { return {}; }

    Result<Times> write(const std::vector<Located>& pieces, int dump) override {
        Times times;
        const int own_file = row_.placement.file_of(row_.ranks.rank());
        const auto path = row_.placement.path(own_file, dump);
        times.begin = Clock::now();
        FB_TRY_ASSIGN(file, PlainFile::open(path, PlainFile::Use::create));
        std::span<std::byte> map;
        if (mapped_) {
            const auto bytes = row_.placement.file_bytes(own_file, dump);
            FB_TRY(file.set_size(bytes));
            for (const auto& piece : pieces) FB_TRY(file.reserve(piece.offset, piece.bytes));
            FB_TRY_ASSIGN(place, file.map(bytes));
            map = place;
        }
        times.opened = Clock::now();
        for (const auto& piece : pieces) {
            FB_TRY_ASSIGN(moved, write_piece(file, map, piece, times.opened));
            times.bytes += moved;
        }
        times.moved = Clock::now();
        if (row_.setting.durable >= Durable::fsync) FB_TRY(file.sync());
        FB_TRY(file.close());
        if (row_.setting.durable == Durable::verified && row_.setting.stonewall_seconds == 0)
            FB_TRY(read_back(pieces, dump));
        times.closed = Clock::now();
        return times;
    }

    Result<Times> read(Ranks&, ReadMemory& memory, int dump, bool) override {
        const auto pieces = row_.placement.located(memory.segments(), dump);
        Times times;
        times.begin = times.opened = Clock::now();
        std::optional<PlainFile> file;
        std::span<std::byte> map;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const auto& piece = pieces[i];
            if (i == 0 || piece.file != pieces[i - 1].file) {
                if (file) FB_TRY(file->close());
                const auto use = mapped_ ? PlainFile::Use::update : PlainFile::Use::read;
                FB_TRY_ASSIGN(opened, PlainFile::open(row_.placement.path(piece.file, dump), use));
                file.reset();
                file.emplace(std::move(opened));
                if (mapped_) {
                    FB_TRY_ASSIGN(place, file->map(row_.placement.file_bytes(piece.file, dump)));
                    map = place;
                }
                if (i == 0) times.opened = Clock::now();
            }
            FB_TRY(read_piece(*file, map, piece));
            times.bytes += piece.bytes;
        }
        times.moved = Clock::now();
        if (file) FB_TRY(file->close());
        times.closed = Clock::now();
        return times;
    }

private:
    Result<std::uint64_t> write_piece(PlainFile& file, std::span<std::byte> map, const Located& piece,
                                      Clock::time_point begin) {
        std::uint64_t done = 0;
        while (done < piece.bytes && !out_of_time(begin)) {
            const auto now = std::min(row_.setting.xfer_bytes, piece.bytes - done);
            const auto bytes = packer_.bytes(piece.segment, row_bytes(piece), done, now);
            if (mapped_) std::memcpy(map.data() + piece.offset + done, bytes.data(), now);
            else FB_TRY(file.write(piece.offset + done, bytes));
            done += now;
        }
        return done;
    }

    Result<> read_piece(PlainFile& file, std::span<std::byte> map, const Located& piece) {
        for (std::uint64_t done = 0; done < piece.bytes;) {
            const auto now = std::min(row_.setting.xfer_bytes, piece.bytes - done);
            auto* to = piece.segment.data + (piece.segment.stride_bytes == 0 ? 0 : done);
            if (mapped_) std::memcpy(to, map.data() + piece.offset + done, now);
            else FB_TRY(file.read(piece.offset + done, {to, now}));
            done += now;
        }
        return {};
    }

    bool mapped_;
};

}  // namespace

std::unique_ptr<Way> file_way(const RowContext& row) { return std::make_unique<FileWay>(row); }

}  // namespace forebay::bench
