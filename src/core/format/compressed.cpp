#include "core/format/chunks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/format/head.hpp"

namespace forebay::format {
namespace {

/// The places of the parts of a compressed head. They follow from the plain file and the number of chunks.
struct Places {
    hdf5::Headers headers;
    std::string schema_text;
    RecordPage page{};  // offsets and counts
};

std::vector<hdf5::ChunkPlace> chunk_places(const ChunkTable& table) {
    std::vector<hdf5::ChunkPlace> places;
    places.reserve(table.chunks.size());
    for (const auto& chunk : table.chunks)
        places.push_back({chunk.stored_offset, static_cast<std::uint32_t>(chunk.stored_bytes), chunk.filtered});
    return places;
}

hdf5::Headers headers_of(const NodeFile& plain, const ChunkTable& table, std::size_t schema_bytes) {
    const auto places = chunk_places(table);
    std::vector<hdf5::Chunking> chunking(table.variables.size());
    for (std::size_t first = 0, last = 0; first < table.chunks.size(); first = last) {
        const auto v = table.chunks[first].variable;
        while (last < table.chunks.size() && table.chunks[last].variable == v) ++last;
        const auto& variable = table.variables[v];
        chunking[v] = {
            .filter = variable.filter,
            .values = variable.values,
            .elements = static_cast<std::uint32_t>(variable.chunk_bytes / plain.schema.variables[v].type.size_bytes),
            .chunks = std::span(places).subspan(first, last - first)};
    }
    return encode_node_headers({.schema = plain.schema,
                                .schema_bytes = schema_bytes,
                                .ranks = plain.ranks.size(),
                                .extents = plain.extents,
                                .blocks = plain.blocks.size(),
                                .chunking = chunking,
                                .chunks = table.chunks.size()});
}

Places place(const NodeFile& plain, const ChunkTable& table) {
    const auto after = [](std::uint64_t end) { return round_up(end, limits::cache_line_bytes); };
    Places places{.schema_text = schema_json(plain.schema)};
    places.headers = headers_of(plain, table, places.schema_text.size());
    auto& page = places.page;
    page.magic = record_magic;
    page.version = compressed_version;
    page.header_bytes = record_header_bytes;
    page.hdf5_offset_bytes = record_offset_bytes + record_size_bytes;
    page.hdf5_capacity_bytes = round_up(places.headers.bytes.size(), limits::page_bytes);
    page.schema_offset_bytes = page.hdf5_offset_bytes + page.hdf5_capacity_bytes;
    page.schema_size_bytes = places.schema_text.size();
    page.ranks_offset_bytes = after(page.schema_offset_bytes + page.schema_size_bytes);
    page.ranks = plain.ranks.size();
    page.extents_offset_bytes = after(page.ranks_offset_bytes + page.ranks * sizeof(std::uint32_t));
    page.variables = plain.extents.size();
    page.index_offset_bytes = after(page.extents_offset_bytes + page.variables * sizeof(ExtentRow));
    page.blocks = plain.blocks.size();
    page.filters_offset_bytes = after(page.index_offset_bytes + page.blocks * sizeof(IndexRow));
    page.chunks_offset_bytes = after(page.filters_offset_bytes + page.variables * sizeof(FilterRow));
    page.chunks = table.chunks.size();
    page.crc_offset_bytes = after(page.chunks_offset_bytes + page.chunks * sizeof(ChunkRow));
    page.crc_words = plain.crc32c.size();
    page.head_bytes = page.crc_offset_bytes + page.crc_words * sizeof(std::uint32_t);
    page.data_offset_bytes = round_up(page.head_bytes, limits::page_bytes);
    return places;
}

void store_places(const Places& places, std::span<std::byte> head) {
    const auto& page = places.page;
    const auto store = [&](OwnDataset dataset, std::uint64_t offset, std::uint64_t bytes) {
        hdf5::store_storage(head, places.headers.fields[page.variables + static_cast<std::size_t>(dataset)], offset,
                            bytes);
    };
    store(OwnDataset::record, record_offset_bytes, record_size_bytes);
    store(OwnDataset::schema, page.schema_offset_bytes, page.schema_size_bytes);
    store(OwnDataset::ranks, page.ranks_offset_bytes, page.ranks * sizeof(std::uint32_t));
    store(OwnDataset::extents, page.extents_offset_bytes, page.variables * sizeof(ExtentRow));
    store(OwnDataset::index, page.index_offset_bytes, page.blocks * sizeof(IndexRow));
    const auto& words = places.headers.fields[page.variables + static_cast<std::size_t>(OwnDataset::crc32c)];
    hdf5::store_first_dim(head, words, page.crc_words);
    hdf5::store_storage(head, words, page.crc_offset_bytes, page.crc_words * sizeof(std::uint32_t));
    store(OwnDataset::filters, page.filters_offset_bytes, page.variables * sizeof(FilterRow));
    store(OwnDataset::chunks, page.chunks_offset_bytes, page.chunks * sizeof(ChunkRow));
}

void store_tables(const NodeFile& plain, const ChunkTable& table, const RecordPage& page, std::span<std::byte> head) {
    for (std::size_t v = 0; v < plain.extents.size(); ++v) {
        const auto& extent = plain.extents[v];
        const ExtentRow row{extent.offset_bytes, extent.used_bytes, extent.capacity_bytes, 0};
        store_le(head.data() + page.extents_offset_bytes + v * sizeof row, row);
        const auto& variable = table.variables[v];
        FilterRow filter{.filter = variable.filter,
                         .chunk_bytes = static_cast<std::uint32_t>(variable.chunk_bytes),
                         .values_used = static_cast<std::uint32_t>(variable.values.size())};
        std::ranges::copy(variable.values, filter.values.begin());
        store_le(head.data() + page.filters_offset_bytes + v * sizeof filter, filter);
    }
    for (std::size_t b = 0; b < plain.blocks.size(); ++b)
        store_index_row(head.data() + page.index_offset_bytes + b * sizeof(IndexRow), plain.blocks[b]);
    for (std::size_t c = 0; c < table.chunks.size(); ++c) {
        const auto& chunk = table.chunks[c];
        const ChunkRow row{chunk.variable,     chunk.plain_offset, chunk.plain_bytes,        chunk.stored_offset,
                           chunk.stored_bytes, chunk.crc32c,       chunk.filtered ? 1u : 0u, chunk.effort};
        store_le(head.data() + page.chunks_offset_bytes + c * sizeof row, row);
    }
}

}  // namespace

ChunkTable cut_into_chunks(const NodeFile& plain, std::vector<StoredVariable> variables) {
    ChunkTable table{.variables = std::move(variables)};
    std::vector<std::uint32_t> order(plain.extents.size());
    std::iota(order.begin(), order.end(), 0u);
    // Chunks are ordered by plain offset, which is not the order of the variables.
    std::ranges::sort(order, {}, [&](std::uint32_t v) { return plain.extents[v].offset_bytes; });
    for (const auto v : order) {
        const auto& extent = plain.extents[v];
        auto& variable = table.variables[v];
        if (extent.used_bytes == 0) variable = {};
        const auto step = variable.filter == 0 ? extent.used_bytes : variable.chunk_bytes;
        for (std::uint64_t at = 0; at < extent.used_bytes; at += step)
            table.chunks.push_back({.variable = v,
                                    .plain_offset = extent.offset_bytes + at,
                                    .plain_bytes = std::min(step, extent.used_bytes - at)});
    }
    return table;
}

std::uint64_t compressed_data_offset(const NodeFile& plain, const ChunkTable& table) {
    return place(plain, table).page.data_offset_bytes;
}

std::vector<std::byte> encode_compressed(const NodeFile& plain, const ChunkTable& table,
                                         std::span<const std::uint32_t> words, std::uint64_t file_bytes) {
    auto places = place(plain, table);
    auto& page = places.page;
    std::vector<std::byte> head(page.data_offset_bytes);
    std::ranges::copy(places.headers.superblock, head.begin());
    store_le(head.data() + hdf5::superblock_eof_at, file_bytes);
    std::ranges::copy(places.headers.bytes, head.begin() + static_cast<std::ptrdiff_t>(page.hdf5_offset_bytes));
    std::memcpy(head.data() + page.schema_offset_bytes, places.schema_text.data(), places.schema_text.size());
    std::memcpy(head.data() + page.ranks_offset_bytes, plain.ranks.data(), plain.ranks.size() * sizeof(std::uint32_t));
    store_places(places, head);
    store_tables(plain, table, page, head);
    if (!words.empty()) std::memcpy(head.data() + page.crc_offset_bytes, words.data(), words.size_bytes());
    for (const auto& chunk : table.chunks)
        // An unfiltered variable is one contiguous dataset.
        if (table.variables[chunk.variable].filter == 0)
            hdf5::store_storage(head, places.headers.fields[chunk.variable], chunk.stored_offset, chunk.stored_bytes);

    store_record(plain.record, page);
    page.file_bytes = file_bytes;
    page.plain_bytes = plain.file_bytes;
    page.staged_crc32c = plain.record_crc32c;
    seal_head(page, head);
    return head;
}

}  // namespace forebay::format
