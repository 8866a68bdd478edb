// Other people's HDF5 files, and ours as others see them: which convention they follow, what they hold, and whether all
// of it can be read. Reads only.
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
    std::string type;  // as type_text() says it
    std::vector<std::uint64_t> shape;
    std::string unit;           // the attribute units, or unitSI as openPMD has it
    std::string storage;        // "contiguous", "chunked", "compact", "virtual, 8 files"; of openPMD also "constant"
    std::uint64_t bytes = 0;    // of its elements; 0 also where no 64 bits hold the number
    std::string no_shape = "";  // why there is no shape: "null", as the file says, or "unknown"
};

/// As a walk meets them: what is in a group comes right behind it.
bool is_before(const ForeignDataset& dataset, const ForeignDataset& other);

struct ForeignFile {
    ForeignFormat format = ForeignFormat::hdf5;
    std::string label;                // "openPMD 1.1.0, groupBased"
    std::vector<std::int64_t> steps;  // rising; none where the format or the file knows no steps
    std::vector<ForeignDataset> datasets;
    // Further names of objects, links out of the file or to nothing, empty groups, named types, dimensions and
    // unreadable objects, by their paths. `storage` says it.
    std::vector<ForeignDataset> others;
    std::vector<std::string> unreadable;  // paths of objects that this HDF5 cannot open
    std::uint64_t bytes = 0;              // of all datasets, as shapes say it
};

/// The reader calls it after each piece of work, with the bytes that it has read.
using Alive = std::function<void(std::uint64_t bytes)>;

/// Opens no other file, except to find the shape of a growing virtual dataset. `refused` if it is no HDF5 file,
/// `corrupt` if HDF5 cannot read it.
Result<ForeignFile> look_at_hdf5(const std::string& path, const Alive& alive);

/// Whether the file has the datasets of a node file of Forebay; an error if HDF5 cannot read it.
Result<bool> has_node_datasets(const std::string& path);

/// "cannot be read by HDF5 1.10.8: newer or damaged"
std::string unreadable_text();

/// Sums of sizes that somebody else's file claims stay at the largest number rather than begin at 0 again.
constexpr std::uint64_t add_up(std::uint64_t sum, std::uint64_t more) {
    return sum + more < sum ? ~std::uint64_t{0} : sum + more;
}

struct ForeignVerdict {
    std::vector<std::string> problems;         // sentences; none: the file keeps its convention's rules and can be read
    std::vector<std::string> missing_filters;  // "32000 (lzf)": datasets with them were not read, and are problems
    bool has_damage = false;                   // whether there are other problems
    std::uint64_t bytes = 0;                   // that were read
};

/// Reads all that is stored of the datasets through a window of some megabytes, looks for the files behind virtual ones
/// (HDF5 shows their data as fill values when they are missing), and checks the rules of the convention.
Result<ForeignVerdict> verify_hdf5(const std::string& path, const ForeignFile& foreign_file, const Alive& alive);

}  // namespace forebay::foreign
