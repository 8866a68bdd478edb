// The state of an object of gio::GenericIO.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings/api/behind.hpp"
#include "insight/foreign/genericio/genericio.hpp"

namespace forebay::genericio {

namespace format = foreign::genericio;

/// The ranks that use a file, and their grid.
struct GridRanks : behind::SessionRanks {
    bool is_grid = false;  // true for a Cartesian communicator
    std::array<std::uint64_t, 3> dims{1, 1, 1}, coords{};
};

struct TableColumn {
    format::GioVariable variable;
    std::byte* data = nullptr;
};

/// An open file. This rank has read its header.
struct Opened {
    format::Set set;
    bool redistributes = false;
    std::vector<int> sources;  // the file ranks that are this rank's share
};

struct Defaults {
    int partition = 0;
    bool compress = false;
    /// The environment overrides `compress`, at every write.
    bool compresses() const;
};
Defaults& defaults();

struct Data {
    GridRanks ranks;
    std::string file;
    std::uint64_t elements = 0;
    std::array<double, 3> phys_origin{}, phys_scale{};
    int partition = defaults().partition;
    std::vector<TableColumn> columns;
    std::shared_ptr<const Opened> opened;  // shared by all copies of the object
};

/// Saves the columns and starts the process that makes the file. Collective.
Result<> write(const Data& data);

enum class Mismatch { allowed, disallowed, redistribute };
/// Collective.
Result<> open(Data& data, Mismatch mismatch, bool check_partitions);
/// The file ranks of `rank`, a contiguous part. If they do not divide evenly, the last ranks have one more. If there
/// are fewer file ranks than ranks, the last ranks have one each, in reverse order.
std::vector<int> share_of(int file_ranks, int rank, int ranks);

/// Reads records [first, first + rows) of one file rank into the columns, from record `at` on. It reads every block
/// whole and verifies its checksum. Returns the bytes read.
Result<std::uint64_t> read(const Data& data, int file_rank, std::uint64_t first, std::uint64_t rows, std::uint64_t at);

}  // namespace forebay::genericio
