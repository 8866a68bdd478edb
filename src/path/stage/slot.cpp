#include "path/stage/slot.hpp"

#include <algorithm>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"

namespace forebay::stage {

Result<> Slot::plan(const Schema& schema, std::span<const format::RankPart> parts, const format::LayoutOptions& options,
                    std::uint32_t rank, std::uint64_t version) {
    FB_TRY_ASSIGN(layout, format::plan_layout(schema, parts, options));
    layout_ = std::move(layout);
    version_ = version;
    rank_ = rank;
    rows_changed_ = false;
    own_.clear();
    std::size_t own_blocks_count = 0;
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const auto begin = layout_.blocks.begin() + static_cast<std::ptrdiff_t>(layout_.first_block[v]);
        const auto end = layout_.blocks.begin() + static_cast<std::ptrdiff_t>(layout_.first_block[v + 1]);
        const auto [first, last] = std::equal_range(begin, end, format::Block{.rank = rank},
                                                    [](const auto& a, const auto& b) { return a.rank < b.rank; });
        own_.emplace_back(first - layout_.blocks.begin(), last - first);
        own_blocks_count += own_.back().second;
    }
    copies_.reserve(own_blocks_count);
    return {};
}

Result<> Slot::create(const std::string& path) {
    // Keep a mapping that is large enough: its pages are warm, and a new mapping would fault them all again.
    if (mapping_.bytes().size() < layout_.file_bytes) {
        mapping_ = {};
        FB_TRY_ASSIGN(mapping, sys::Mapping::create(path, layout_.file_bytes));
        mapping_ = std::move(mapping);
    }
    format::encode(layout_, mapping_.bytes());
    return {};
}

Result<> Slot::open(const std::string& path) {
    if (mapping_.bytes().size() >= layout_.file_bytes) return {};
    mapping_ = {};
    FB_TRY_ASSIGN(mapping, sys::Mapping::open(path, true));
    if (mapping.bytes().size() < layout_.file_bytes)
        return Error{ErrorKind::broken, path + " is shorter than its layout", "committed snapshots"};
    mapping_ = std::move(mapping);
    return {};
}

Result<> Slot::prefault() {
    for (std::size_t v = 0; v < own_.size(); ++v) {
        const auto blocks = own_blocks(static_cast<std::uint32_t>(v));
        if (blocks.empty()) continue;
        // New row counts move blocks inside their variable by up to the headroom, so fault the pages around them too.
        const auto& extent = layout_.extents[v];
        const auto begin = blocks.front().offset_bytes, end = blocks.back().offset_bytes + blocks.back().size_bytes;
        const auto margin =
            layout_.schema.variables[v].kind == Kind::particles ? (end - begin) * limits::headroom_percent / 100 : 0;
        const auto from = std::max(extent.offset_bytes, begin - std::min(begin, margin));
        const auto to = std::min(extent.offset_bytes + extent.capacity_bytes, end + margin);
        if (from < to) FB_TRY(mapping_.prefault(from, to - from));
    }
    return {};
}

Result<> Slot::change_rows(std::span<const std::uint64_t> rows) {
    if (std::ranges::equal(rows, layout_.rows)) return {};
    FB_TRY(format::change_rows(layout_, rows));
    rows_changed_ = true;
    return {};
}

std::span<const format::Block> Slot::own_blocks(std::uint32_t variable) const {
    return {layout_.blocks.data() + own_[variable].first, own_[variable].second};
}

std::span<std::byte> Slot::block(std::uint32_t variable, std::size_t piece) {
    const auto blocks = own_blocks(variable);
    if (piece >= blocks.size()) return {};
    return mapping_.bytes().subspan(blocks[piece].offset_bytes, blocks[piece].size_bytes);
}

std::uint32_t Slot::put(const describe::Binding& binding, std::span<const char> direct, sys::Crew& crew) {
    auto* words = format::crc_words(layout_, mapping_.bytes()).data();
    copies_.clear();
    for (std::uint32_t v = 0; v < own_.size(); ++v) {
        const auto& variable = layout_.schema.variables[v];
        if (variable.kind == Kind::particles) continue;
        const auto blocks = own_blocks(v);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const auto bytes = block(v, i);
            auto* const block_words = words + blocks[i].first_segment;
            if (direct[v] != 0) copies_.add_sum(bytes, block_words);
            else if (variable.kind == Kind::replicated)
                copies_.add_bytes(bytes.data(), binding.data[v], bytes.size(), block_words);
            else copies_.add_piece(bytes.data(), binding.pieces[v][i], variable.type.size_bytes, block_words);
        }
    }
    for (const auto& table : binding.tables) add_table(table, direct);
    return copies_.run(crew);
}

void Slot::add_table(const describe::TableBinding& table, std::span<const char> direct) {
    // One pass gathers this number of columns. An array, because put() must not allocate.
    constexpr std::size_t at_once = 32;
    auto* words = format::crc_words(layout_, mapping_.bytes()).data();
    ColumnCopy columns[at_once];
    std::size_t count = 0;
    for (std::size_t c = 0; c < table.variables.size(); ++c) {
        const auto v = table.variables[c];
        const auto& row = own_blocks(v).front();
        if (direct[v] != 0) copies_.add_sum(block(v), words + row.first_segment);
        else
            columns[count++] = {block(v).data(), table.columns[c], layout_.schema.variables[v].type.size_bytes,
                                words + row.first_segment};
        if (count == at_once || (c + 1 == table.variables.size() && count > 0)) {
            copies_.add_columns({columns, count}, table.rows);
            count = 0;
        }
    }
}

std::uint64_t Slot::own_bytes() const {
    std::uint64_t bytes = 0;
    for (std::uint32_t v = 0; v < own_.size(); ++v)
        for (const auto& block : own_blocks(v)) bytes += block.size_bytes;
    return bytes;
}

void Slot::seal(const format::Record& record) {
    if (rows_changed_) format::patch_rows(layout_, mapping_.bytes());
    rows_changed_ = false;
    format::seal(layout_, record, mapping_.bytes());
    sealed_save_ = record.lineage.save;
}

}  // namespace forebay::stage
