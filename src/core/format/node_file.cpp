#include "core/format/node_file.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/head.hpp"

namespace forebay::format {
namespace {

const hdf5::Fields& fields_of(const Layout& layout, OwnDataset dataset) {
    return layout.headers.fields[layout.schema.variables.size() + static_cast<std::size_t>(dataset)];
}

void store_crc_extent(const Layout& layout, std::span<std::byte> image) {
    const auto& fields = fields_of(layout, OwnDataset::crc32c);
    hdf5::store_first_dim(image, fields, layout.crc_words);
    hdf5::store_storage(image, fields, layout.crc_offset_bytes, layout.crc_words * sizeof(std::uint32_t));
}

void store_own_places(const Layout& layout, std::span<std::byte> image) {
    const auto store = [&](OwnDataset dataset, std::uint64_t offset_bytes, std::uint64_t size_bytes) {
        hdf5::store_storage(image, fields_of(layout, dataset), offset_bytes, size_bytes);
    };
    store(OwnDataset::record, record_offset_bytes, record_size_bytes);
    store(OwnDataset::schema, layout.schema_offset_bytes, layout.schema_size_bytes);
    store(OwnDataset::ranks, layout.ranks_offset_bytes, layout.ranks.size() * sizeof(std::uint32_t));
    store(OwnDataset::extents, layout.extents_offset_bytes, layout.extents.size() * sizeof(ExtentRow));
    store(OwnDataset::index, layout.index_offset_bytes, layout.blocks.size() * sizeof(IndexRow));
    store_crc_extent(layout, image);
}

std::atomic_ref<std::uint64_t> magic_of(std::span<std::byte> image) {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(image.data() + record_offset_bytes));
}

std::uint64_t head_bytes_of(const Layout& layout) {
    return layout.crc_offset_bytes + layout.crc_words * sizeof(std::uint32_t);
}

RecordPage page_of(const Layout& layout, const Record& record) {
    RecordPage page{};
    page.magic = record_magic;
    page.version = plain_version;
    page.header_bytes = record_header_bytes;
    store_record(record, page);
    page.file_bytes = layout.file_bytes;
    page.head_bytes = head_bytes_of(layout);
    page.data_offset_bytes = layout.data_offset_bytes;
    page.hdf5_offset_bytes = layout.hdf5_offset_bytes;
    page.hdf5_capacity_bytes = layout.hdf5_capacity_bytes;
    page.schema_offset_bytes = layout.schema_offset_bytes;
    page.schema_size_bytes = layout.schema_size_bytes;
    page.ranks_offset_bytes = layout.ranks_offset_bytes;
    page.ranks = layout.ranks.size();
    page.extents_offset_bytes = layout.extents_offset_bytes;
    page.variables = layout.extents.size();
    page.index_offset_bytes = layout.index_offset_bytes;
    page.blocks = layout.blocks.size();
    page.crc_offset_bytes = layout.crc_offset_bytes;
    page.crc_words = layout.crc_words;
    return page;
}

}  // namespace

void store_record(const Record& record, RecordPage& page) {
    page.snapshot_id = record.snapshot_id;
    page.step = record.step;
    page.time = record.time;
    page.sealed_unix_ns = record.sealed_unix_ns;
    page.node = record.node;
    page.nodes = record.nodes;
    page.world_ranks = record.world_ranks;
    page.run_id = record.lineage.run_id;
    page.save = record.lineage.save;
    page.lines = static_cast<std::uint32_t>(record.lineage.lines.size());
    std::ranges::transform(record.lineage.lines, page.line_starts.begin(), [](const LineStart& start) {
        return RecordPage::LineRow{start.line.session, start.line.turn, start.from};
    });
    store_form(record.form, page);
}

void store_index_row(std::byte* to, const Block& block) {
    IndexRow row{};
    row.variable = block.variable;
    row.rank = block.rank;
    row.offset_bytes = block.offset_bytes;
    row.size_bytes = block.size_bytes;
    row.first_segment = block.first_segment;
    row.dims = static_cast<std::uint64_t>(block.box.size.dims());
    for (int dim = 0; dim < block.box.size.dims(); ++dim)
        row.box[static_cast<std::size_t>(dim)] = {block.box.lo[dim], block.box.size[dim]};
    std::memcpy(to, &row, sizeof row);
}

void encode(const Layout& layout, std::span<std::byte> image) {
    // The record becomes invalid first: a crash during the rest must not leave a sealed file with a mixed head.
    invalidate(image);
    const auto head = image.first(layout.data_offset_bytes);
    // The record page is left out: its magic is 0 already.
    std::ranges::fill(head.first(record_offset_bytes), std::byte{0});
    std::ranges::fill(head.subspan(record_offset_bytes + record_size_bytes), std::byte{0});

    std::ranges::copy(layout.headers.superblock, head.begin());
    store_le(head.data() + hdf5::superblock_eof_at, layout.file_bytes);
    std::ranges::copy(layout.headers.bytes, head.begin() + static_cast<std::ptrdiff_t>(layout.hdf5_offset_bytes));
    std::memcpy(head.data() + layout.schema_offset_bytes, layout.schema_text.data(), layout.schema_text.size());
    std::memcpy(head.data() + layout.ranks_offset_bytes, layout.ranks.data(),
                layout.ranks.size() * sizeof(std::uint32_t));
    store_own_places(layout, head);

    for (std::size_t v = 0; v < layout.extents.size(); ++v) {
        const auto& extent = layout.extents[v];
        const ExtentRow row{extent.offset_bytes, extent.used_bytes, extent.capacity_bytes, extent.shared_offset_bytes};
        std::memcpy(head.data() + layout.extents_offset_bytes + v * sizeof row, &row, sizeof row);
        hdf5::store_storage(head, layout.headers.fields[v], extent.offset_bytes, extent.used_bytes);
    }
    for (const auto& column : layout.columns)
        hdf5::store_first_dim(head, column.fields, layout.extents[column.variable].used_bytes / column.element_bytes);
    for (std::size_t b = 0; b < layout.blocks.size(); ++b)
        store_index_row(head.data() + layout.index_offset_bytes + b * sizeof(IndexRow), layout.blocks[b]);
}

void patch_rows(const Layout& layout, std::span<std::byte> image) {
    store_crc_extent(layout, image);
    for (const auto& column : layout.columns) {
        const auto& extent = layout.extents[column.variable];
        auto* extent_row = image.data() + layout.extents_offset_bytes + column.variable * sizeof(ExtentRow);
        store_le(extent_row + offsetof(ExtentRow, used_bytes), extent.used_bytes);

        const auto first = layout.first_block[column.variable];
        const auto last = layout.first_block[column.variable + 1];
        auto* row = image.data() + layout.index_offset_bytes + first * sizeof(IndexRow);
        std::uint64_t rows = 0;
        for (auto b = first; b < last; ++b, row += sizeof(IndexRow)) {
            const auto& block = layout.blocks[b];
            // Only the fields in the row's first cache line change.
            store_le(row + offsetof(IndexRow, offset_bytes), block.offset_bytes);
            store_le(row + offsetof(IndexRow, size_bytes), block.size_bytes);
            store_le(row + offsetof(IndexRow, first_segment), block.first_segment);
            store_le(row + offsetof(IndexRow, box), IndexRow::Range{block.box.lo[0], block.box.size[0]});
            rows += block.box.size[0];
        }
        hdf5::store_first_dim(image, column.fields, rows);
        hdf5::store_storage(image, column.fields, extent.offset_bytes, extent.used_bytes);
    }
}

void patch_shared(Layout& layout, std::span<const std::uint64_t> offsets, std::span<std::byte> image) {
    for (std::size_t v = 0; v < layout.extents.size(); ++v) {
        auto& own = layout.extents[v].shared_offset_bytes;
        if (std::exchange(own, offsets[v]) == offsets[v]) continue;
        store_le(image.data() + layout.extents_offset_bytes + v * sizeof(ExtentRow) +
                     offsetof(ExtentRow, shared_offset_bytes),
                 own);
    }
}

void invalidate(std::span<std::byte> image) {
    magic_of(image).store(0, std::memory_order_relaxed);
    // The copies after this call use non-temporal stores. Only this fence keeps them behind the store above.
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

std::span<std::uint32_t> crc_words(const Layout& layout, std::span<std::byte> image) {
    return {reinterpret_cast<std::uint32_t*>(image.data() + layout.crc_offset_bytes), layout.crc_words};
}

std::uint32_t seal(const Layout& layout, const Record& record, std::span<std::byte> image) {
    return seal_head(page_of(layout, record), image);
}

Result<> change_lineage(const Lineage& lineage, std::span<std::byte> image, const std::string& name) {
    FB_TRY_ASSIGN(page, read_good_page(image, name));
    auto record = record_of(page);
    record.lineage = lineage;
    // The new lineage may have fewer starts. The checksum of the head does not cover the record, so it stays.
    page.line_starts = {};
    store_record(record, page);
    page.record_crc32c = crc32c(std::as_bytes(std::span(&page, 1)).first(offsetof(RecordPage, record_crc32c)));
    std::memcpy(image.data() + record_offset_bytes, &page, sizeof page);
    return {};
}

std::uint32_t seal_head(RecordPage page, std::span<std::byte> image) {
    page.head_crc32c = crc32c(image.first(record_offset_bytes));
    page.head_crc32c = crc32c(image.subspan(first_pages_bytes, page.head_bytes - first_pages_bytes), page.head_crc32c);
    const auto bytes = std::as_bytes(std::span(&page, 1));
    page.record_crc32c = crc32c(bytes.first(offsetof(RecordPage, record_crc32c)));

    // The magic comes last: a reader that sees it finds the whole record.
    constexpr auto after_magic = sizeof page.magic;
    std::memcpy(image.data() + record_offset_bytes + after_magic, bytes.data() + after_magic,
                sizeof page - after_magic);
    magic_of(image).store(record_magic, std::memory_order_release);
    return page.record_crc32c;
}

}  // namespace forebay::format
