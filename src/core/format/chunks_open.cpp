// Strict decoding of the filters and chunks in the head of a version 2 node file.

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/head.hpp"

namespace forebay::format {
namespace {

Result<std::vector<StoredVariable>> read_filters(const RecordPage& page, std::span<const std::byte> head,
                                                 const NodeFile& file, const std::string& name) {
    std::vector<StoredVariable> variables;
    for (std::uint64_t v = 0; v < page.variables; ++v) {
        const auto row = load_le<FilterRow>(head.data() + page.filters_offset_bytes + v * sizeof(FilterRow));
        const auto element = file.schema.variables[v].type.size_bytes;
        const bool filtered = row.filter != 0;
        if (row.filter > UINT16_MAX || row.values_used > row.values.size() || filtered != (row.chunk_bytes != 0) ||
            row.chunk_bytes > limits::segment_bytes || row.chunk_bytes % element != 0)
            return damaged_head(
                name, fmt::format("variable '{}' has chunks of {} bytes by filter {} with {} values.",
                                  file.schema.variables[v].name, row.chunk_bytes, row.filter, row.values_used));
        variables.push_back({.filter = static_cast<std::uint16_t>(row.filter),
                             .values = {row.values.begin(), row.values.begin() + row.values_used},
                             .chunk_bytes = row.chunk_bytes});
    }
    return variables;
}

/// Checks one row: it must equal `cut`, and have a valid place.
Result<Chunk> chunk_of(const RecordPage& page, const NodeFile& file, const StoredVariable& variable,
                       const ChunkRow& row, const Chunk& cut, const std::string& name) {
    const bool same =
        row.variable == cut.variable && row.plain_offset == cut.plain_offset && row.plain_bytes == cut.plain_bytes;
    const auto whole = variable.filter == 0 ? cut.plain_bytes : variable.chunk_bytes;
    // A filtered chunk is smaller than the plain chunk, else it would be stored unfiltered.
    const bool sized = row.filtered == 0 ? row.stored_bytes == whole
                                         : row.filtered == 1 && variable.filter != 0 && row.stored_bytes > 0 &&
                                               row.stored_bytes < whole;
    const bool placed = row.stored_offset >= page.data_offset_bytes && row.stored_offset <= page.file_bytes &&
                        row.stored_bytes <= page.file_bytes - row.stored_offset;
    if (!same || !sized || !placed || row.crc32c > UINT32_MAX || row.effort > UINT32_MAX)
        return damaged_head(name, fmt::format("the chunk of '{}' at plain byte {} claims {} bytes at {}.",
                                              file.schema.variables[cut.variable].name, cut.plain_offset,
                                              row.stored_bytes, row.stored_offset));
    auto chunk = cut;
    chunk.stored_offset = row.stored_offset;
    chunk.stored_bytes = row.stored_bytes;
    chunk.crc32c = static_cast<std::uint32_t>(row.crc32c);
    chunk.filtered = row.filtered == 1;
    chunk.effort = static_cast<std::uint32_t>(row.effort);
    return chunk;
}

}  // namespace

Result<ChunkTable> open_chunks(const RecordPage& page, std::span<const std::byte> head, const NodeFile& file,
                               const std::string& name) {
    ChunkTable table;
    FB_TRY_ASSIGN(variables, read_filters(page, head, file, name));
    table.variables = std::move(variables);
    std::uint64_t chunks = 0;  // cannot overflow: each variable has fewer than 2^62
    for (std::uint64_t v = 0; v < page.variables && chunks <= page.chunks; ++v) {
        const auto used = file.extents[v].used_bytes;
        const auto step = table.variables[v].filter == 0 ? used : table.variables[v].chunk_bytes;
        chunks += used == 0 ? 0 : (used - 1) / step + 1;
    }
    if (chunks != page.chunks)
        return damaged_head(name, fmt::format("its variables have {} chunks, its record {}.", chunks, page.chunks));
    // The rows must equal the cut of the variables. Their places may be anywhere in the data.
    const auto cut = cut_into_chunks(file, table.variables);
    if (cut.variables != table.variables) return damaged_head(name, "a variable without bytes has a filter.");
    for (std::uint64_t c = 0; c < page.chunks; ++c) {
        const auto row = load_le<ChunkRow>(head.data() + page.chunks_offset_bytes + c * sizeof(ChunkRow));
        FB_TRY_ASSIGN(chunk, chunk_of(page, file, table.variables[cut.chunks[c].variable], row, cut.chunks[c], name));
        table.chunks.push_back(chunk);
    }
    return table;
}

}  // namespace forebay::format
