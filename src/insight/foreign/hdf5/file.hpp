// HDF5 files of other programs, and ours as other programs see them: their convention, their contents, and if all can
// be read. Only reads.
//
// Threads: as h5/hdf5.hpp.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::foreign {

enum class ForeignFormat { hdf5, h5part, openpmd, netcdf4 };

struct ForeignDataset {
    std::string path;  // "Step#0/x"
    std::string type;  // as type_text() writes it
    std::vector<std::uint64_t> shape;
    std::string unit;           // the attribute units, or openPMD's unitSI
    std::string storage;        // "contiguous", "chunked", "compact", "virtual, 8 files"; openPMD: also "constant"
    std::uint64_t bytes = 0;    // of its elements; 0 also if 64 bits overflow
    std::string no_shape = "";  // why it has no shape: "null" in the file, or "unknown"
};

/// The order of a walk: the members of a group follow the group.
bool is_before(const ForeignDataset& dataset, const ForeignDataset& other);

struct ForeignFile {
    ForeignFormat format = ForeignFormat::hdf5;
    std::string label;                // "openPMD 1.1.0, groupBased"
    std::vector<std::int64_t> steps;  // rising; empty if the format or the file has no steps
    std::vector<ForeignDataset> datasets;
    // Sorted by path: further names of objects, links to other files or to nothing, empty groups, named types,
    // dimensions and unreadable objects. `storage` describes each.
    std::vector<ForeignDataset> others;
    std::vector<std::string> unreadable;  // objects that this HDF5 cannot open
    std::uint64_t bytes = 0;              // of all datasets, from their shapes
};

/// The reader calls it after each piece of work, with the bytes read.
using Alive = std::function<void(std::uint64_t bytes)>;

/// Opens no other file, except to find the shape of a growing virtual dataset. `refused` if it is not an HDF5 file,
/// `corrupt` if HDF5 cannot read it.
Result<ForeignFile> look_at_hdf5(const std::string& path, const Alive& alive);

/// True if the file has the datasets of a Forebay node file; an error if HDF5 cannot read it.
Result<bool> has_node_datasets(const std::string& path);

/// "cannot be read by HDF5 1.10.8: newer or damaged"
std::string unreadable_text();

/// Adds sizes from a foreign file. The sum stops at the largest number instead of wrapping around.
constexpr std::uint64_t add_up(std::uint64_t sum, std::uint64_t more) {
    return sum + more < sum ? ~std::uint64_t{0} : sum + more;
}

struct ForeignVerdict {
    std::vector<std::string> problems;         // sentences; empty: the file keeps its rules and can be read
    std::vector<std::string> missing_filters;  // "32000 (lzf)": their datasets were not read and count as problems
    bool has_damage = false;                   // true if there are other problems
    std::uint64_t bytes = 0;                   // bytes read
};

/// Reads all stored data through a window of some megabytes. Looks for the files behind virtual datasets, because HDF5
/// shows fill values if they are missing. Checks the rules of the convention.
Result<ForeignVerdict> verify_hdf5(const std::string& path, const ForeignFile& foreign_file, const Alive& alive);

}  // namespace forebay::foreign
