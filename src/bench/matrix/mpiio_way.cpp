// MPI-IO: the calls of IOR with its backend MPIIO. With one rendezvous for all variables, one call has the places of
// all.

#include <fmt/format.h>

#include <algorithm>

#include "bench/matrix/way.hpp"
#include "core/base/try.hpp"
#include "core/sys/local_file.hpp"
#include "core/sys/store.hpp"

namespace forebay::bench {

using sys::Clock;

namespace {

Result<> good(int status, const char* call, const std::string& path) {
    if (status == MPI_SUCCESS) return {};
    int kind = 0, length = 0;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(status, &kind);
    MPI_Error_string(status, text, &length);
    const auto error = kind == MPI_ERR_NO_SUCH_FILE ? ErrorKind::missing
                       : kind == MPI_ERR_NO_SPACE   ? ErrorKind::full
                       : kind == MPI_ERR_ACCESS     ? ErrorKind::refused
                                                    : ErrorKind::retry;
    return Error{error, fmt::format("{}: {}: {}", call, path, std::string(text, static_cast<std::size_t>(length)))};
}

// On a full disk Open MPI's own layer returns success. Only the status has the number of written bytes.
Result<> all_came(MPI_Status& about, std::uint64_t bytes, bool writes, const std::string& path) {
    MPI_Count got = 0;
    MPI_Get_elements_x(&about, MPI_BYTE, &got);
    if (static_cast<std::uint64_t>(got) == bytes) return {};
    if (writes)
        return Error{ErrorKind::full, fmt::format("write of {}: {} of {} bytes were written", path, got, bytes)};
    return Error{ErrorKind::corrupt, fmt::format("read of {}: truncated: only {} bytes arrived", path, got)};
}

class Info {
public:
    explicit Info(const std::vector<std::pair<std::string, std::string>>& hints) {
        MPI_Info_create(&raw);
        for (const auto& [key, value] : hints) MPI_Info_set(raw, key.c_str(), value.c_str());
    }
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    ~Info() { MPI_Info_free(&raw); }
    MPI_Info raw = MPI_INFO_NULL;
};

class MpiFile {
public:
    static Result<MpiFile> open(MPI_Comm comm, const std::string& path, int mode, MPI_Info info) {
        MpiFile file;
        file.path_ = path;
        FB_TRY(good(MPI_File_open(comm, path.c_str(), mode, info, &file.raw), "MPI_File_open", path));
        return file;
    }
    MpiFile(MpiFile&& other) noexcept : raw(std::exchange(other.raw, MPI_FILE_NULL)), path_(std::move(other.path_)) {}
    MpiFile& operator=(MpiFile&&) = delete;
    ~MpiFile() {
        if (raw != MPI_FILE_NULL) MPI_File_close(&raw);
    }
    Result<> close() { return good(MPI_File_close(&raw), "MPI_File_close", path_); }
    MPI_File raw = MPI_FILE_NULL;

private:
    MpiFile() = default;
    std::string path_;
};

// Empty if the file system does not report stripes.
sys::Stripes stripes_of(const std::string& path) {
    const auto file = sys::posix_store().open(path, sys::Access::read);
    return file ? (*file)->stripes().last() : sys::Stripes();
}

class MpiIoWay final : public WayOfSharedFiles {
public:
    explicit MpiIoWay(const RowContext& row) : WayOfSharedFiles(row) {}

    Result<Times> write(const std::vector<Located>& pieces, int dump) override {
        const auto path = own_path(dump);
        const Info info(row_.setting.hints);
        Times times;
        times.begin = Clock::now();
        FB_TRY_ASSIGN(file,
                      MpiFile::open(comm_, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN, info.raw));
        FB_TRY(good(MPI_File_set_size(file.raw, 0), "MPI_File_set_size", path));
        times.opened = Clock::now();
        FB_TRY(row_.setting.sync == Sync::collective_all ? write_together(file.raw, pieces, path)
                                                         : move(file.raw, pieces, dump, true, times));
        if (row_.setting.sync == Sync::collective_all)
            for (const auto& piece : pieces) times.bytes += piece.bytes;
        times.moved = Clock::now();
        if (row_.setting.durable >= Durable::fsync) FB_TRY(good(MPI_File_sync(file.raw), "MPI_File_sync", path));
        MPI_Info used = MPI_INFO_NULL;
        const bool tells = row_.ranks.rank() == 0 && !row_.setting.hints.empty();
        if (tells) FB_TRY(good(MPI_File_get_info(file.raw, &used), "MPI_File_get_info", path));
        FB_TRY(file.close());
        if (row_.setting.durable == Durable::verified && row_.setting.stonewall_seconds == 0)
            FB_TRY(read_back(pieces, dump));
        times.closed = Clock::now();
        if (tells) {
            tell_hints(used, path);
            MPI_Info_free(&used);
        }
        written_dump_ = dump;
        return times;
    }

    // After all ranks have closed the file: for a collective call with a view even the status claims that all was
    // written.
    Result<double> settle() override {
        if (written_dump_ < 0 || row_.setting.stonewall_seconds > 0) return 0.0;
        const auto path = own_path(written_dump_);
        const auto wanted = row_.placement.file_bytes(row_.placement.file_of(row_.ranks.rank()), written_dump_);
        FB_TRY_ASSIGN(there, sys::look_at(path));
        if (there.bytes < wanted)
            return Error{ErrorKind::full, fmt::format("{} has {} of {} bytes", path, there.bytes, wanted)};
        return 0.0;
    }

    Result<Times> read(Ranks&, ReadMemory& memory, int dump, bool own) override {
        const auto pieces = row_.placement.located(memory.segments(), dump);
        const Info info(row_.setting.hints);
        Times times;
        times.begin = times.opened = Clock::now();
        for (std::size_t i = 0; i < pieces.size();) {
            std::size_t end = i + 1;
            while (end < pieces.size() && pieces[end].file == pieces[i].file) ++end;
            // Shares of several files are not read by the ranks that wrote them, so no rank waits at the open.
            const auto path = row_.placement.path(pieces[i].file, dump);
            const int mode = MPI_MODE_RDONLY | (own ? MPI_MODE_UNIQUE_OPEN : 0);
            FB_TRY_ASSIGN(file, MpiFile::open(own ? comm_ : MPI_COMM_SELF, path, mode, info.raw));
            if (i == 0) times.opened = Clock::now();
            const std::vector<Located> part(pieces.begin() + static_cast<std::ptrdiff_t>(i),
                                            pieces.begin() + static_cast<std::ptrdiff_t>(end));
            collective_ = own && row_.setting.sync != Sync::independent;
            FB_TRY(move(file.raw, part, dump, false, times));
            FB_TRY(file.close());
            i = end;
        }
        times.moved = times.closed = Clock::now();
        return times;
    }

private:
    // For one variable all ranks of the file make equally many collective calls: the number of the rank with most.
    std::uint64_t calls(const Located& piece, int dump, bool collective) const {
        const auto xfer = row_.setting.xfer_bytes;
        auto bytes = piece.bytes;
        if (collective)
            for (const int rank : row_.placement.members(piece.file))
                bytes = std::max(bytes, row_.content.bytes(piece.segment.variable, rank, dump));
        return (bytes + xfer - 1) / xfer;
    }

    Result<> move(MPI_File file, const std::vector<Located>& pieces, int dump, bool writes, Times& times) {
        const bool collective = writes ? row_.setting.sync != Sync::independent : collective_;
        for (const auto& piece : pieces) {
            const auto path = row_.placement.path(piece.file, dump);
            for (std::uint64_t call = 0; call < calls(piece, dump, collective); ++call) {
                if (writes && out_of_time(times.opened)) return {};
                const auto done = std::min(call * row_.setting.xfer_bytes, piece.bytes);
                const auto now = std::min(row_.setting.xfer_bytes, piece.bytes - done);
                const auto begin = piece.offset + done;
                const auto at = static_cast<MPI_Offset>(begin);
                const int count = static_cast<int>(now);
                int status = MPI_SUCCESS;
                MPI_Status about{};
                if (writes) {
                    const auto bytes = packer_.bytes(piece.segment, row_bytes(piece), done, now);
                    const auto put = collective ? MPI_File_write_at_all : MPI_File_write_at;
                    status = put(file, at, bytes.data(), count, MPI_BYTE, &about);
                } else {
                    const auto get = collective ? MPI_File_read_at_all : MPI_File_read_at;
                    auto* to = piece.segment.data + (piece.segment.stride_bytes == 0 ? 0 : done);
                    status = get(file, at, to, count, MPI_BYTE, &about);
                }
                FB_TRY(good(status, writes ? "MPI_File_write_at" : "MPI_File_read_at", path));
                FB_TRY(all_came(about, now, writes, path));
                times.bytes += now;
            }
        }
        return {};
    }

    // MPI ignores hints silently, and Open MPI's library returns the requested values. Only the file system shows the
    // file's real stripes.
    void tell_hints(MPI_Info used, const std::string& path) {
        const auto stripes = stripes_of(path);
        for (const auto& [key, value] : row_.setting.hints) {
            char text[MPI_MAX_INFO_VAL + 1] = "";
            int is_set = 0;
            MPI_Info_get(used, key.c_str(), MPI_MAX_INFO_VAL, text, &is_set);
            std::string actual = is_set != 0 ? text : "";
            if (key == "striping_factor")
                actual = !stripes.targets.empty() ? std::to_string(stripes.targets.size()) : "";
            if (key == "striping_unit") actual = stripes.stripe_bytes > 0 ? std::to_string(stripes.stripe_bytes) : "";
            const bool seen = key == "striping_factor" || key == "striping_unit";
            auto remark = fmt::format("hint {}={} ", key, value);
            if (actual == value) remark += seen ? "was applied" : "was read back, not necessarily obeyed";
            else remark += actual.empty() ? "was not applied" : fmt::format("was not applied: it is {}", actual);
            if (std::ranges::find(row_.remarks, remark) == row_.remarks.end())
                row_.remarks.push_back(std::move(remark));
        }
    }

    int written_dump_ = -1;
    bool collective_ = false;
};

}  // namespace

WayOfSharedFiles::~WayOfSharedFiles() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

Result<> WayOfSharedFiles::prepare(const std::vector<RowSpan>&, int) {
    if (comm_ == MPI_COMM_NULL)
        MPI_Comm_split(row_.ranks.comm(), row_.placement.file_of(row_.ranks.rank()), row_.ranks.rank(), &comm_);
    return {};
}

// One type describes the places of all variables in the file, another their places in memory.
Result<> WayOfSharedFiles::write_together(MPI_File file, std::vector<Located> pieces, const std::string& path) {
    // Places of a view must rise. HDF5 does not lay datasets out in the order of their creation.
    std::ranges::sort(pieces, {}, &Located::offset);
    std::vector<int> lengths;
    std::vector<MPI_Aint> places, addresses;
    std::vector<std::byte> packed;
    std::uint64_t all = 0;
    for (const auto& piece : pieces) all += piece.bytes;
    packed.reserve(all);
    for (const auto& piece : pieces)
        for (std::uint64_t done = 0; done < piece.bytes;) {
            const auto now = std::min(row_.setting.xfer_bytes, piece.bytes - done);
            auto bytes = packer_.bytes(piece.segment, row_bytes(piece), done, now);
            if (piece.segment.stride_bytes != row_bytes(piece) && piece.segment.stride_bytes != 0) {
                packed.insert(packed.end(), bytes.begin(), bytes.end());
                bytes = std::span(packed).last(now);
            }
            MPI_Aint address = 0;
            MPI_Get_address(bytes.data(), &address);
            lengths.push_back(static_cast<int>(now));
            places.push_back(static_cast<MPI_Aint>(piece.offset + done));
            addresses.push_back(address);
            done += now;
        }
    MPI_Datatype in_file = MPI_BYTE, in_memory = MPI_BYTE;
    const int count = static_cast<int>(lengths.size());
    MPI_Type_create_hindexed(count, lengths.data(), places.data(), MPI_BYTE, &in_file);
    MPI_Type_create_hindexed(count, lengths.data(), addresses.data(), MPI_BYTE, &in_memory);
    MPI_Type_commit(&in_file);
    MPI_Type_commit(&in_memory);
    int status = MPI_File_set_view(file, 0, MPI_BYTE, in_file, "native", MPI_INFO_NULL);
    MPI_Status about{};
    if (status == MPI_SUCCESS) status = MPI_File_write_all(file, MPI_BOTTOM, 1, in_memory, &about);
    MPI_Type_free(&in_file);
    MPI_Type_free(&in_memory);
    FB_TRY(good(status, "MPI_File_write_all", path));
    return all_came(about, all, true, path);
}

std::unique_ptr<Way> mpiio_way(const RowContext& row) { return std::make_unique<MpiIoWay>(row); }

}  // namespace forebay::bench
