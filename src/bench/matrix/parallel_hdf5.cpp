// HDF5 over MPI-IO: a dataset for each variable. With one rendezvous for each variable, each is a collective H5Dwrite,
// as in H5Part. With one for all, HDF5 lays the datasets out and closes, then one collective MPI-IO call writes all of
// them in place (HDF5 1.10 has no H5Dwrite_multi).

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>

#include "bench/matrix/way.hpp"
#include "core/base/try.hpp"

namespace forebay::bench {

using sys::Clock;

namespace {

/// An HDF5 identifier, released by its own call.
class Identifier {
public:
    Identifier(hid_t id, herr_t (*give_back)(hid_t)) : id_(id), give_back_(give_back) {}
    Identifier(Identifier&& other) noexcept : id_(std::exchange(other.id_, -1)), give_back_(other.give_back_) {}
    Identifier& operator=(Identifier&&) = delete;
    ~Identifier() { (void)close(); }
    operator hid_t() const { return id_; }
    herr_t close() { return id_ < 0 ? 0 : give_back_(std::exchange(id_, -1)); }

private:
    hid_t id_;
    herr_t (*give_back_)(hid_t);
};

Error failed(const char* call, const std::string& path) {
    std::string reason;
    const auto first = [](unsigned, const H5E_error2_t* error, void* text) -> herr_t {
        if (error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first, &reason);
    return {ErrorKind::corrupt, fmt::format("{}: {}: {}", call, path, reason)};
}

hid_t type_of(Type type) {
    switch (type.scalar) {
        case Scalar::f32: return H5T_NATIVE_FLOAT;
        case Scalar::f64: return H5T_NATIVE_DOUBLE;
        case Scalar::i8: return H5T_NATIVE_INT8;
        case Scalar::i16: return H5T_NATIVE_INT16;
        case Scalar::i32: return H5T_NATIVE_INT32;
        case Scalar::i64: return H5T_NATIVE_INT64;
        case Scalar::u16: return H5T_NATIVE_UINT16;
        case Scalar::u32: return H5T_NATIVE_UINT32;
        case Scalar::u64: return H5T_NATIVE_UINT64;
        default: return H5T_NATIVE_UINT8;
    }
}

class Hdf5Way final : public WayOfSharedFiles {
public:
    explicit Hdf5Way(const RowContext& row) : WayOfSharedFiles(row) { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

    Result<Times> write(const std::vector<Located>& pieces, int dump) override {
        const auto path = own_path(dump);
        const bool together = row_.setting.sync == Sync::collective_all;
        Times times;
        times.begin = Clock::now();
        const auto access = over_mpi(comm_);
        Identifier file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
        if (file < 0) return failed("H5Fcreate", path);
        times.opened = Clock::now();
        auto places = pieces;
        for (auto& piece : places) {
            FB_TRY_ASSIGN(dataset, create(file, piece, path));
            const auto begins = static_cast<std::uint64_t>(H5Dget_offset(dataset));
            if (!together) FB_TRY(move(dataset, piece, dump, true, row_.setting.sync != Sync::independent, path));
            piece.offset = begins + piece.file_row * row_bytes(piece);
            times.bytes += piece.bytes;
        }
        if (together) {
            if (file.close() < 0) return failed("H5Fclose", path);
            FB_TRY(write_in_place(places, path));
            times.moved = times.closed = Clock::now();
            return times;
        }
        times.moved = Clock::now();
        // The driver calls MPI_File_sync for it.
        if (row_.setting.durable >= Durable::fsync && H5Fflush(file, H5F_SCOPE_GLOBAL) < 0)
            return failed("H5Fflush", path);
        if (file.close() < 0) return failed("H5Fclose", path);
        times.closed = Clock::now();
        return times;
    }

    Result<Times> read(Ranks&, ReadMemory& memory, int dump, bool own) override {
        const auto pieces = row_.placement.located(memory.segments(), dump);
        const bool collective = own && row_.setting.sync != Sync::independent;
        Times times;
        times.begin = times.opened = Clock::now();
        for (std::size_t i = 0; i < pieces.size();) {
            const auto path = row_.placement.path(pieces[i].file, dump);
            const auto access = over_mpi(own ? comm_ : MPI_COMM_SELF);
            Identifier file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
            if (file < 0) return failed("H5Fopen", path);
            if (i == 0) times.opened = Clock::now();
            const int number = pieces[i].file;
            for (; i < pieces.size() && pieces[i].file == number; ++i) {
                const Identifier dataset(H5Dopen2(file, name_of(pieces[i]), H5P_DEFAULT), H5Dclose);
                if (dataset < 0) return failed("H5Dopen2", path);
                FB_TRY(move(dataset, pieces[i], dump, false, collective, path));
                times.bytes += pieces[i].bytes;
            }
            if (file.close() < 0) return failed("H5Fclose", path);
        }
        times.moved = times.closed = Clock::now();
        return times;
    }

private:
    const char* name_of(const Located& piece) const {
        return row_.content.variables()[piece.segment.variable].name.c_str();
    }

    Identifier over_mpi(MPI_Comm comm) const {
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        for (const auto& [key, value] : row_.setting.hints) MPI_Info_set(info, key.c_str(), value.c_str());
        Identifier access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_fapl_mpio(access, comm, info);
        MPI_Info_free(&info);
        return access;
    }

    std::vector<hsize_t> extents(const Located& piece, std::uint64_t rows) const {
        std::vector<hsize_t> extents{rows};
        const auto& inner = row_.content.variables()[piece.segment.variable].inner;
        extents.insert(extents.end(), inner.begin(), inner.end());
        return extents;
    }

    Identifier space(const Located& piece, std::uint64_t rows) const {
        const auto all = extents(piece, rows);
        return {H5Screate_simple(static_cast<int>(all.size()), all.data(), nullptr), H5Sclose};
    }

    // Parallel HDF5 allocates contiguous datasets at once. They are not filled before.
    Result<Identifier> create(hid_t file, const Located& piece, const std::string& path) const {
        const Identifier how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
        const auto whole = space(piece, piece.file_rows);
        const auto type = type_of(row_.content.variables()[piece.segment.variable].type);
        Identifier dataset(H5Dcreate2(file, name_of(piece), type, whole, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
        if (dataset < 0) return failed("H5Dcreate2", path);
        return dataset;
    }

    // Every rank of the file makes equally many collective calls: the number of the rank with most rows.
    Result<> move(hid_t dataset, const Located& piece, int dump, bool writes, bool collective,
                  const std::string& path) {
        const Identifier transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
        H5Pset_dxpl_mpio(transfer, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
        const auto bytes = row_bytes(piece), step = std::max<std::uint64_t>(1, row_.setting.xfer_bytes / bytes);
        auto most = piece.segment.rows;
        if (collective)
            for (const int rank : row_.placement.members(piece.file))
                most = std::max(most, row_.content.rows(piece.segment.variable, rank, dump));
        const auto type = type_of(row_.content.variables()[piece.segment.variable].type);
        const auto in_file = space(piece, piece.file_rows);
        for (std::uint64_t at = 0; at < most; at += step) {
            const auto from = std::min(at, piece.segment.rows), rows = std::min(step, piece.segment.rows - from);
            const auto in_memory = space(piece, std::max<std::uint64_t>(1, rows));
            auto start = extents(piece, 0), count = extents(piece, rows);
            std::fill(start.begin(), start.end(), 0);
            start[0] = piece.file_row + from;
            if (rows == 0) H5Sselect_none(in_memory);
            if (rows == 0) H5Sselect_none(in_file);
            else H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
            herr_t status = 0;
            if (writes) {
                const auto data = packer_.bytes(piece.segment, bytes, from * bytes, rows * bytes);
                status = H5Dwrite(dataset, type, in_memory, in_file, transfer, data.data());
            } else {
                auto* to = piece.segment.data + (piece.segment.stride_bytes == 0 ? 0 : from * bytes);
                status = H5Dread(dataset, type, in_memory, in_file, transfer, to);
            }
            if (status < 0) return failed(writes ? "H5Dwrite" : "H5Dread", path);
        }
        return {};
    }

    Result<> write_in_place(const std::vector<Located>& places, const std::string& path) {
        MPI_File file = MPI_FILE_NULL;
        if (MPI_File_open(comm_, path.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
            return Error{ErrorKind::retry, "MPI_File_open: " + path};
        auto written = write_together(file, places, path);
        if (written && row_.setting.durable >= Durable::fsync && MPI_File_sync(file) != MPI_SUCCESS)
            written = Error{ErrorKind::retry, "MPI_File_sync: " + path};
        if (MPI_File_close(&file) != MPI_SUCCESS && written)
            written = Error{ErrorKind::retry, "MPI_File_close: " + path};
        return written;
    }
};

}  // namespace

std::unique_ptr<Way> hdf5_way(const RowContext& row) { return std::make_unique<Hdf5Way>(row); }

std::string hdf5_version() {
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return fmt::format("HDF5 {}.{}.{}, parallel", major, minor, release);
}

}  // namespace forebay::bench
