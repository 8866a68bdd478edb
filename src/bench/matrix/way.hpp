// A way to store dumps and read them back: bare calls, MPI-IO, HDF5, Forebay. Each takes times at IOR's points, so that
// results compare: before opening, after it, after the last byte, after closing.
//
// Ranks: all ranks of the row, or all readers, make the calls in the same order. An error is this rank's own; the
// caller agrees on it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/matrix/placement.hpp"
#include "bench/ranks.hpp"

namespace forebay::bench {

struct Times {
    sys::Clock::time_point begin, opened, moved, closed;
    std::uint64_t bytes = 0;  // moved by this rank
};

/// The context of a row, on all its ranks.
struct RowContext {
    Ranks& ranks;
    const RowSetting& setting;
    const Content& content;
    const FilePlacement& placement;
    std::string directory;              // of Forebay's run
    std::string staging;                // of this node
    int machines, nodes;                // nodes: the number that ranks count as
    std::vector<std::string>& remarks;  // of rank 0
};

class Way {
public:
    virtual ~Way() = default;
    /// Does untimed work: communicators, a session, slots. `own` is this rank's data in `dump`.
    virtual Result<> prepare(const std::vector<RowSpan>& own, int dump) = 0;
    /// Writes one dump with the durability of the setting. `pieces` are `own` with their places.
    virtual Result<Times> write(const std::vector<Located>& pieces, int dump) = 0;
    /// Waits until the written data are in their final place. Returns the seconds that this took beside the application
    /// since the last call. Without a drain there is nothing to wait for.
    virtual Result<double> settle() { return 0.0; }
    /// Called after the last dump, before any read.
    virtual Result<> finish() { return {}; }
    /// Reads into `memory`, which has this rank's own part (`own`) or its share. Forebay may choose another share of a
    /// table and then makes `memory` again.
    virtual Result<Times> read(Ranks& readers, ReadMemory& memory, int dump, bool own) = 0;
    /// The newest dump that can be read; -1: only a read can show.
    virtual int newest() const { return -1; }
    /// Drops a dump from this machine's memory, so that a read must fetch it.
    virtual Result<> forget(int dump) = 0;
    /// Removes a dump's files. Called by all ranks; each removes its part.
    virtual Result<> remove(int dump) = 0;
};

std::unique_ptr<Way> file_way(const RowContext& row);
std::unique_ptr<Way> mpiio_way(const RowContext& row);
/// Null in a build without parallel HDF5.
std::unique_ptr<Way> hdf5_way(const RowContext& row);
/// Its library and version; "" in a build without it.
std::string hdf5_version();
std::unique_ptr<Way> forebay_way(const RowContext& row);

/// Contiguous bytes of a segment: in place, or gathered from records into its own buffer.
class RecordPacker {
public:
    std::span<const std::byte> bytes(const RowSpan& segment, std::uint64_t row_bytes, std::uint64_t from,
                                     std::uint64_t count);

private:
    std::vector<std::byte> buffer_;
};

/// Shared by ways with their own files.
class WayOfFiles : public Way {
public:
    explicit WayOfFiles(const RowContext& row) : row_(row) {}
    Result<> forget(int dump) override;
    Result<> remove(int dump) override;

protected:
    /// Reads `pieces` back, past the page cache, and compares them with memory.
    Result<> read_back(const std::vector<Located>& pieces, int dump);
    bool out_of_time(sys::Clock::time_point begin) const;
    std::uint64_t row_bytes(const Located& piece) const {
        return row_.content.variables()[piece.segment.variable].row_bytes;
    }

    RowContext row_;
    RecordPacker packer_;
};

/// Ways in which the ranks of one file open it together.
class WayOfSharedFiles : public WayOfFiles {
public:
    explicit WayOfSharedFiles(const RowContext& row) : WayOfFiles(row) {}
    WayOfSharedFiles(const WayOfSharedFiles&) = delete;
    WayOfSharedFiles& operator=(const WayOfSharedFiles&) = delete;
    ~WayOfSharedFiles() override;
    Result<> prepare(const std::vector<RowSpan>& own, int dump) override;

protected:
    std::string own_path(int dump) const {
        return row_.placement.path(row_.placement.file_of(row_.ranks.rank()), dump);
    }
    /// Writes `pieces` by one collective call on `file`, with a view of all their places.
    Result<> write_together(MPI_File file, std::vector<Located> pieces, const std::string& path);

    MPI_Comm comm_ = MPI_COMM_NULL;  // of the ranks of this rank's file, after prepare()
};

}  // namespace forebay::bench
