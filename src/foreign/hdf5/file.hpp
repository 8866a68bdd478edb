// Other people's HDF5 files, and ours as others see them: which convention they follow, what they hold, and whether all
// of it can be read. Reads only.
//
// Threads: as views/hdf5.hpp.

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
    std::string type;  // "f32", "i64", "string[16]", "f64, big-endian", "compound of 24 bytes"
    std::vector<std::uint64_t> shape;
    std::string unit;         // the attribute units, or unitSI as openPMD has it
    std::string storage;      // "contiguous", "chunked", "compact", "virtual, 8 files"
    std::uint64_t bytes = 0;  // of its elements; 0 also where no 64 bits hold the number
};

struct ForeignFile {
    ForeignFormat format = ForeignFormat::hdf5;
    std::string label;                // "openPMD 1.1.0, groupBased"
    std::vector<std::int64_t> steps;  // rising; none where the format or the file knows no steps
    std::vector<ForeignDataset> datasets;
    std::uint64_t bytes = 0;  // of all datasets, as shapes say it
};

/// `refused` for what is not HDF5, `corrupt` where HDF5 cannot follow what the file says.
Result<ForeignFile> look_at_hdf5(const std::string& path);

/// Sums of sizes that somebody else's file claims stay at the largest number rather than begin at 0 again.
constexpr std::uint64_t add_up(std::uint64_t sum, std::uint64_t more) {
    return sum + more < sum ? ~std::uint64_t{0} : sum + more;
}

struct ForeignVerdict {
    std::vector<std::string> problems;  // sentences; none: the file keeps its convention's rules and can be read
    std::uint64_t bytes = 0;            // that were read
};

/// Reads all that is stored of the datasets through a window of some megabytes, looks for the files behind virtual ones
/// (HDF5 shows their data as fill values when they are missing), and checks the rules of the convention. `progress`
/// (may be empty) is called with bytes done and in all.
Result<ForeignVerdict> verify_hdf5(const std::string& path,
                                   const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace forebay::foreign
