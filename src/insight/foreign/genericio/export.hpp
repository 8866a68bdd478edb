// Exports a table of a snapshot as a GenericIO file; each rank becomes a rank of the file. It checks the snapshot's
// checksums while it reads, and makes GenericIO's checksums from the same bytes.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "insight/foreign/genericio/genericio.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::foreign::genericio {

struct GioExportOptions {
    std::string table;                          // "": the only table, or "particles"
    std::vector<std::string> coordinates = {};  // columns for the physical x, y and z
    bool big_endian = false;
    bool compress = false;  // with Blosc, as GenericIO does
    int partitions = 0;     // number of files; 0: as the ranks chose, else one
    bool replace = false;   // replace an existing file
    int threads = 2;
    std::uint64_t memory_bytes = 64u << 20;  // for all threads; a compressed block takes twice its size
};

struct GioExported {
    std::uint64_t bytes = 0;  // of the files
    std::uint64_t ranks = 0, elements = 0;
    std::vector<std::string> files;
};

/// One variable of the file: columns of the table, alternating in its records.
struct GioRecord {
    GioVariable variable;
    Type type;
    std::vector<std::uint32_t> columns;  // indices into the schema
};

/// The variables made from a table: one a column, but columns imported from one record form that record again.
/// `refused` if the table does not exist, or GenericIO has no such type.
Result<std::vector<GioRecord>> records_of(const Schema& schema, std::uint32_t table, const GioExportOptions& options);
Result<std::uint32_t> table_of(const Schema& schema, const std::string& wanted);

/// Writes beside `path`, syncs and renames: `path` is complete, absent, or as before. With partitions `path` is their
/// list and comes last. `refused` for a path inside a snapshot's directory, or if an existing file may not be replaced.
Result<GioExported> export_file(sys::Store& store, const catalog::Snapshot& snapshot, const std::string& path,
                                const GioExportOptions& options,
                                const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace forebay::foreign::genericio
