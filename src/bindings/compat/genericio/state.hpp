// What an object of gio::GenericIO holds.

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
    bool is_grid = false;  // of a Cartesian communicator
    std::array<std::uint64_t, 3> dims{1, 1, 1}, coords{};
};

struct TableColumn {
    format::GioVariable variable;
    std::byte* data = nullptr;
};

/// An open file, whose header this rank knows.
struct Opened {
    format::Set set;
    bool redistributes = false;
    std::vector<int> sources;  // of the file's ranks, those that are this rank's
};

struct Defaults {
    int partition = 0;
    bool compress = false;
    /// The environment's word is the last, at every write.
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
    std::shared_ptr<const Opened> opened;  // of all copies of the object
};

/// Saves the columns and starts the making of the file. Collective.
Result<> write(const Data& data);

enum class Mismatch { allowed, disallowed, redistribute };
/// Collective.
Result<> open(Data& data, Mismatch mismatch, bool check_partitions);
/// File ranks that belong to a rank of `ranks`: neighbours, the last ranks one more where they do not come out even;
/// with fewer file ranks than ranks the last ones have one each, in reverse order.
std::vector<int> share_of(int file_ranks, int rank, int ranks);

/// Records [first, first + rows) of one file rank into the columns, from record `at` on. Every block is read whole and
/// compared with its checksum. Returns the bytes that were read.
Result<std::uint64_t> read(const Data& data, int file_rank, std::uint64_t first, std::uint64_t rows, std::uint64_t at);

}  // namespace forebay::genericio
