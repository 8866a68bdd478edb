// The HDF5 part of making an H5Part file. It writes snapshots into a file with a temporary name. The caller renames it.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bindings/compat/made/h5part/h5part_file.hpp"
#include "insight/h5/hdf5.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::made {

/// A committed snapshot of the run, and its place in the file.
struct H5PartSnapshot {
    catalog::Snapshot snapshot;
    format::Manifest manifest;
    std::string group;
    std::int64_t order = 0;
    bool appends = false;
    std::map<std::string, std::vector<std::byte>> values;  // of its replicated variables, verified
};

/// Reads manifest and replicated values. `corrupt` if the H5Part library did not write the snapshot.
Result<H5PartSnapshot> look_at(sys::Store& store, const catalog::Snapshot& snapshot);

class H5PartWriter {
public:
    /// Makes a new file, or with `keep` opens the file at `path` with its steps.
    static Result<H5PartWriter> open(const std::string& path, bool keep, std::uint64_t align_bytes);

    Result<> add(sys::Store& store, const H5PartSnapshot& snapshot, const H5PartMaking& making, H5PartMade& result,
                 std::uint64_t bytes_all);
    /// Closes the file. The caller then syncs its bytes.
    Result<> close();

private:
    explicit H5PartWriter(h5::Id file) : file_(std::move(file)) {}
    Result<> attributes(const h5::Id& object, const H5PartSnapshot& snapshot, std::string_view prefix);
    Result<h5::Id> dataset(const h5::Id& group, const std::string& name, Type type, std::uint64_t rows);

    h5::Id file_;
};

}  // namespace forebay::made
