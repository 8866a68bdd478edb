// One process' file of PALM's restart format fortran_binary: which records it has under which names. Bytes:
// docs/formats/palm.md.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "insight/foreign/palm_fortran/fortran_records.hpp"

namespace forebay::foreign {

struct PalmRecord {
    std::string name;
    FortranRecord record;
    /// How a later record of the same name and part, which PALM's reader takes, compares with this one.
    enum class Later { none, same, other } later = Later::none;
};

/// What one process wrote, and of which part of the grid: bounds are indices, both included.
struct PalmProcess {
    bool big_endian = false;
    std::vector<PalmRecord> global;  // of process 0 only
    std::vector<PalmRecord> local;
    std::int32_t processes = 0, process = 0;
    std::int32_t left = 0, right = 0;   // x: nxl, nxr
    std::int32_t south = 0, north = 0;  // y: nys, nyn
    std::int32_t bottom = 0, top = 0;   // z: nzb, nzt; levels up to nzt + 1 are stored

    std::uint64_t points_x() const { return static_cast<std::uint64_t>(right - left) + 1; }
    std::uint64_t points_y() const { return static_cast<std::uint64_t>(north - south) + 1; }
    std::uint64_t levels() const { return static_cast<std::uint64_t>(top - bottom) + 2; }
};

/// Reads names and bounds, no data; `corrupt` for a damaged file, with the byte.
Result<PalmProcess> decode_palm_process(sys::File& file, const std::string& name);

/// Reads the first `bytes_max` bytes of a record of file `file`.
using ReadSample = std::function<Result<std::vector<std::byte>>(std::uint32_t file, const FortranRecord& record,
                                                                std::uint64_t bytes_max)>;

/// Puts the processes' parts together; `files` are theirs, in the order of their numbers. `corrupt` when the parts do
/// not make one grid.
Result<ForeignContents> combine_palm_processes(std::vector<PalmProcess> processes, std::vector<std::string> files,
                                               const Choices& choices, const ReadSample& read_sample);

/// `path` is a directory, or the one file that a serial PALM wrote. Opens every file once. `missing` names the first
/// process whose file is not there.
Result<ForeignContents> open_palm_fortran(sys::Store& store, const std::string& path, const Choices& choices);

}  // namespace forebay::foreign
