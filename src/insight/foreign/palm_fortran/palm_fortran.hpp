// One process's file of PALM's restart format fortran_binary: its records and their names. Bytes: docs/formats/palm.md.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "insight/foreign/palm_fortran/fortran_records.hpp"

namespace forebay::foreign {

struct PalmRecord {
    std::string name;
    FortranRecord record;
    /// Compares this record with a later record of the same name and part. PALM's reader uses the later record.
    enum class Later { none, same, other } later = Later::none;
};

/// The data of one process, and its part of the grid. Bounds are indices, both inclusive.
struct PalmProcess {
    bool big_endian = false;
    std::vector<PalmRecord> global;  // only in process 0
    std::vector<PalmRecord> local;
    std::int32_t processes = 0, process = 0;
    std::int32_t left = 0, right = 0;   // x: nxl, nxr
    std::int32_t south = 0, north = 0;  // y: nys, nyn
    std::int32_t bottom = 0, top = 0;   // z: nzb, nzt; levels up to nzt + 1 are stored

    std::uint64_t points_x() const { return static_cast<std::uint64_t>(right - left) + 1; }
    std::uint64_t points_y() const { return static_cast<std::uint64_t>(north - south) + 1; }
    std::uint64_t levels() const { return static_cast<std::uint64_t>(top - bottom) + 2; }
};

/// Reads names and bounds, no data; `corrupt`, with the byte, for a damaged file.
Result<PalmProcess> decode_palm_process(sys::File& file, const std::string& name);

/// Reads the first `bytes_max` bytes of a record of file `file`.
using ReadSample = std::function<Result<std::vector<std::byte>>(std::uint32_t file, const FortranRecord& record,
                                                                std::uint64_t bytes_max)>;

/// Joins the processes' parts. `files` are theirs, in the order of the process numbers. `corrupt` if the parts do not
/// form one grid.
Result<ForeignContents> combine_palm_processes(std::vector<PalmProcess> processes, std::vector<std::string> files,
                                               const Choices& choices, const ReadSample& read_sample);

/// `path` is a directory, or the single file of a serial PALM. Opens every file once. `missing` names the first process
/// without a file.
Result<ForeignContents> open_palm_fortran(sys::Store& store, const std::string& path, const Choices& choices);

}  // namespace forebay::foreign
