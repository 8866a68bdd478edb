// Strict decoding of a node file's head: nothing is used before its checksum and bounds are checked.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/head.hpp"
#include "core/format/node_file.hpp"

namespace forebay::format {
namespace {

/// Builds a NodeFile from the tables, row by row.
class HeadReader {
public:
    HeadReader(const RecordPage& page, std::span<const std::byte> head, const std::string& name)
        : page_(page), head_(head), name_(name) {}

    Result<NodeFile> read() {
        file_.record = record_of(page_);
        file_.record_crc32c = page_.record_crc32c;
        file_.staged_crc32c = staged_crc32c_of(page_);
        file_.storage = storage_of(page_);
        file_.plain_bytes = has_plain_form(page_) ? page_.plain_bytes : page_.file_bytes;
        file_.file_bytes = page_.file_bytes;
        file_.head_bytes = page_.head_bytes;
        file_.own = {{{record_offset_bytes, record_size_bytes},
                      {page_.schema_offset_bytes, page_.schema_size_bytes},
                      {page_.ranks_offset_bytes, page_.ranks},
                      {page_.extents_offset_bytes, page_.variables},
                      {page_.index_offset_bytes, page_.blocks},
                      {page_.crc_offset_bytes, page_.crc_words}}};
        FB_TRY(read_schema());
        FB_TRY(read_ranks());
        FB_TRY(read_extents());
        FB_TRY(read_blocks());
        if (is_compressed(page_)) {
            FB_TRY_ASSIGN(table, open_chunks(page_, head_, file_, name_));
            file_.chunk_table = std::move(table);
        }
        file_.crc32c.resize(page_.crc_words);
        if (page_.crc_words > 0)
            std::memcpy(file_.crc32c.data(), head_.data() + page_.crc_offset_bytes,
                        page_.crc_words * sizeof(std::uint32_t));
        return std::move(file_);
    }

private:
    Error bad(const std::string& why) const { return damaged_head(name_, why); }

    Result<> read_schema() {
        const auto text = text_of(head_.subspan(page_.schema_offset_bytes, page_.schema_size_bytes));
        auto schema = schema_from_json(text);
        if (!schema) return bad(schema.error().what);
        file_.schema = std::move(*schema);
        if (file_.schema.variables.size() != page_.variables)
            return bad(fmt::format("its schema has {} variables, its record {}.", file_.schema.variables.size(),
                                   page_.variables));
        return {};
    }

    Result<> read_ranks() {
        for (std::uint64_t i = 0; i < page_.ranks; ++i) {
            const auto rank =
                load_le<std::uint32_t>(head_.data() + page_.ranks_offset_bytes + i * sizeof(std::uint32_t));
            if (rank >= page_.world_ranks || (i > 0 && rank <= file_.ranks.back()))
                return bad(fmt::format("rank {} is out of order.", rank));
            file_.ranks.push_back(rank);
        }
        return {};
    }

    Result<> read_extents() {
        std::vector<Extent> by_offset;
        for (std::uint64_t v = 0; v < page_.variables; ++v) {
            const auto row = load_le<ExtentRow>(head_.data() + page_.extents_offset_bytes + v * sizeof(ExtentRow));
            // The begin of the data in a staged file is not in this record.
            const auto begin = has_plain_form(page_) ? 0 : page_.data_offset_bytes;
            const bool fits = row.offset_bytes >= begin && row.offset_bytes <= file_.plain_bytes &&
                              row.capacity_bytes <= file_.plain_bytes - row.offset_bytes &&
                              row.used_bytes <= row.capacity_bytes;
            if (!fits)
                return bad(fmt::format("variable '{}' uses {} of {} bytes at {}, the file has {}.",
                                       file_.schema.variables[v].name, row.used_bytes, row.capacity_bytes,
                                       row.offset_bytes, file_.plain_bytes));
            file_.extents.push_back({row.offset_bytes, row.used_bytes, row.capacity_bytes, row.shared_offset_bytes});
            FB_TRY(check_shared_place(file_.schema.variables[v], file_.extents.back()));
            if (row.capacity_bytes > 0) by_offset.push_back(file_.extents.back());
        }
        // In order of offset, any overlap shows between two neighbours.
        std::ranges::sort(by_offset, {}, &Extent::offset_bytes);
        for (std::size_t i = 1; i < by_offset.size(); ++i)
            if (by_offset[i].offset_bytes < by_offset[i - 1].offset_bytes + by_offset[i - 1].capacity_bytes)
                return bad(fmt::format("two variables share byte {}.", by_offset[i].offset_bytes));
        return {};
    }

    /// Checks that all bytes that blocks may use lie behind the regions and within the shared file.
    Result<> check_shared_place(const Variable& variable, const Extent& extent) const {
        const auto* file = std::get_if<SharedFile>(&file_.record.form);
        if (file == nullptr) return {};
        const auto begin = region_offset(*file, file->nodes);
        const auto bytes =
            variable.kind == Kind::particles ? extent.used_bytes : variable.elements() * variable.type.size_bytes;
        const auto at = extent.shared_offset_bytes;
        if (at >= begin && at <= file->file_bytes && bytes <= file->file_bytes - at) return {};
        return bad(fmt::format("variable '{}' lies at byte {} of a shared file of {} bytes.", variable.name, at,
                               file->file_bytes));
    }

    Result<> read_blocks() {
        std::uint64_t b = 0;
        for (std::uint32_t v = 0; v < page_.variables; ++v) {
            file_.first_block.push_back(b);
            std::uint64_t used_bytes = 0;
            std::uint64_t rows = 0;
            for (; b < page_.blocks; ++b) {
                const auto row = load_le<IndexRow>(head_.data() + page_.index_offset_bytes + b * sizeof(IndexRow));
                if (row.variable != v) break;
                FB_TRY_ASSIGN(block, block_of(row, used_bytes, rows));
                used_bytes += block.size_bytes;
                if (file_.schema.variables[v].kind == Kind::particles) rows += block.box.size[0];
                file_.blocks.push_back(block);
            }
            FB_TRY(check_variable(v, used_bytes, b - file_.first_block[v]));
        }
        file_.first_block.push_back(b);
        if (b != page_.blocks) return bad(fmt::format("block {} belongs to no variable.", b));
        if (segments_ != page_.crc_words)
            return bad(fmt::format("its blocks have {} segments, but the file has {} checksum words.", segments_,
                                   page_.crc_words));
        return {};
    }

    /// `used_bytes` and `rows` are totals of the variable's blocks before this block.
    Result<Block> block_of(const IndexRow& row, std::uint64_t used_bytes, std::uint64_t rows) {
        const auto v = static_cast<std::uint32_t>(row.variable);
        const auto& variable = file_.schema.variables[v];
        const auto& extent = file_.extents[v];
        const auto fail = [&](const char* why) {
            return bad(
                fmt::format("block {} of '{}' {}.", file_.blocks.size() - file_.first_block[v], variable.name, why));
        };
        if (!std::ranges::binary_search(file_.ranks, row.rank)) return fail("is of a rank of another node");
        if (file_.blocks.size() > file_.first_block[v] && row.rank < file_.blocks.back().rank)
            return fail("is out of order");
        if (row.offset_bytes != extent.offset_bytes + used_bytes || row.size_bytes > extent.used_bytes - used_bytes)
            return fail("lies outside its variable");
        const auto segments = segments_of(row.size_bytes);
        if (row.first_segment > page_.crc_words || segments > page_.crc_words - row.first_segment)
            return fail("has no checksum words");
        segments_ += segments;

        const auto dims = variable.kind == Kind::particles ? 1 : variable.shape.dims();
        if (row.dims != static_cast<std::uint64_t>(dims)) return fail("does not have the dimensions of its variable");
        Block block{.variable = v,
                    .rank = static_cast<std::uint32_t>(row.rank),
                    .offset_bytes = row.offset_bytes,
                    .size_bytes = row.size_bytes,
                    .first_segment = row.first_segment,
                    .box = {}};
        std::uint64_t bytes = variable.type.size_bytes;
        for (int dim = 0; dim < dims; ++dim) {
            const auto& range = row.box[static_cast<std::size_t>(dim)];
            block.box.lo.push_back(range.lo);
            block.box.size.push_back(range.size);
            // The sizes come from the file and may be any number.
            if (__builtin_mul_overflow(bytes, range.size, &bytes)) return fail("has a box beyond 64 bits");
        }
        if (bytes != row.size_bytes) return fail("has a box that does not match its bytes");
        if (variable.kind == Kind::particles && block.box.lo[0] != rows) return fail("has rows out of order");
        if (variable.kind != Kind::particles && !inside(block.box, variable.shape))
            return fail("has a box outside its variable's shape");
        if (variable.kind == Kind::replicated && block.box.size != variable.shape)
            return fail("is a part of a replicated variable");
        return block;
    }

    Result<> check_variable(std::uint32_t v, std::uint64_t used_bytes, std::uint64_t blocks) {
        const auto& variable = file_.schema.variables[v];
        if (used_bytes != file_.extents[v].used_bytes)
            return bad(fmt::format("the blocks of '{}' have {} bytes, its extent {}.", variable.name, used_bytes,
                                   file_.extents[v].used_bytes));
        if (variable.kind == Kind::replicated && blocks != 1)
            return bad(fmt::format("'{}' has {} blocks instead of 1.", variable.name, blocks));
        if (variable.kind == Kind::particles) return check_column(v, blocks);
        return {};
    }

    /// Checks that all columns of a table have one block for each rank, with equal rows.
    Result<> check_column(std::uint32_t v, std::uint64_t blocks) {
        const auto& variable = file_.schema.variables[v];
        if (blocks != file_.ranks.size())
            return bad(
                fmt::format("column '{}' has {} blocks for {} ranks.", variable.name, blocks, file_.ranks.size()));
        first_column_.resize(file_.schema.tables.size(), UINT32_MAX);
        auto& first = first_column_[variable.table];
        if (first == UINT32_MAX) first = v;
        for (std::uint64_t i = 0; i < blocks; ++i) {
            const auto& block = file_.blocks[file_.first_block[v] + i];
            if (block.rank != file_.ranks[i] || block.box != file_.blocks[file_.first_block[first] + i].box)
                return bad(fmt::format("column '{}' and its table have different rows of rank {}.", variable.name,
                                       file_.ranks[i]));
        }
        return {};
    }

    const RecordPage& page_;
    std::span<const std::byte> head_;
    const std::string& name_;
    NodeFile file_;
    std::uint64_t segments_ = 0;
    std::vector<std::uint32_t> first_column_;  // one for each table
};

}  // namespace

Error damaged_head(const std::string& name, const std::string& why) {
    return {ErrorKind::corrupt, fmt::format("node file {} is damaged: {}", name, why),
            "its other copy, if there is one, and older snapshots"};
}

std::uint64_t NodeFile::rows(std::uint32_t table) const {
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        if (schema.variables[v].kind != Kind::particles || schema.variables[v].table != table) continue;
        return extents[v].used_bytes / schema.variables[v].type.size_bytes;
    }
    return 0;
}

Result<Peek> peek(std::span<const std::byte> first_pages, const std::string& name) {
    FB_TRY_ASSIGN(page, read_good_page(first_pages, name));
    return Peek{.record = record_of(page),
                .record_crc32c = page.record_crc32c,
                .staged_crc32c = staged_crc32c_of(page),
                .file_bytes = page.file_bytes,
                .head_bytes = page.head_bytes};
}

Result<NodeFile> open_head(std::span<const std::byte> head, const std::string& name) {
    FB_TRY_ASSIGN(page, read_good_page(head, name));
    if (head.size() < page.head_bytes)
        return damaged_head(
            name, fmt::format("it ends at byte {}, within its head of {} bytes.", head.size(), page.head_bytes));
    auto crc = crc32c(head.first(record_offset_bytes));
    crc = crc32c(head.subspan(first_pages_bytes, page.head_bytes - first_pages_bytes), crc);
    if (crc != page.head_crc32c)
        return damaged_head(
            name, fmt::format("its head, bytes 0-4095 and 8192-{}, has the checksum {:08x}, but {:08x} is stored.",
                              page.head_bytes - 1, crc, page.head_crc32c));
    return HeadReader(page, head, name).read();
}

}  // namespace forebay::format
