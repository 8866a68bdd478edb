// A snapshot's table as a file of GenericIO: each rank of the snapshot is a rank of the file. Checksums of the snapshot
// are compared while its bytes are read, GenericIO's are made of the same bytes.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "insight/foreign/genericio/genericio.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::foreign::genericio {

struct GioExportOptions {
    std::string table;                          // "": the only one, or "particles"
    std::vector<std::string> coordinates = {};  // columns that are the physical x, y and z
    bool big_endian = false;
    bool compress = false;  // blocks through Blosc, as GenericIO does it
    int partitions = 0;     // files that the ranks are spread over; 0: as they chose, else one
    bool replace = false;   // a file of the name
    int threads = 2;
    std::uint64_t memory_bytes = 64u << 20;  // of all threads; a compressed block is held whole, twice
};

struct GioExported {
    std::uint64_t bytes = 0;  // of the files
    std::uint64_t ranks = 0, elements = 0;
    std::vector<std::string> files;
};

/// One variable of the file: columns of the table, whose elements alternate in its records.
struct GioRecord {
    GioVariable variable;
    Type type;
    std::vector<std::uint32_t> columns;  // in the schema
};

/// Which variables a table becomes: a column each, but those that an import took from one record become that record
/// again. `refused` without such a table or for what GenericIO has no type for.
Result<std::vector<GioRecord>> records_of(const Schema& schema, std::uint32_t table, const GioExportOptions& options);
Result<std::uint32_t> table_of(const Schema& schema, const std::string& wanted);

/// `path` is written beside itself, made durable and renamed: it is complete or absent, or what it was before. With
/// partitions their list, which `path` is then, comes last. `refused` for a path in a snapshot's directory, and where
/// something stands that may not be replaced.
Result<GioExported> export_file(sys::Store& store, const catalog::Snapshot& snapshot, const std::string& path,
                                const GioExportOptions& options,
                                const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace forebay::foreign::genericio
