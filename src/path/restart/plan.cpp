// Computes the bytes that one rank takes: the node files that it needs (files_needed), and for each file the copies
// from blocks to the rank's memory (takes). For arrays these are intersections of the rank's boxes, halos included,
// with the blocks' boxes. For columns they are the rank's own rows if the number of ranks is as in the save, else an
// equal share of all rows in order. Each node reads replicated values from another file, so that not all nodes read the
// first file.
//
// wanted_bytes() computes the bytes from the rank's description alone. read() compares both numbers: a difference means
// that block tables have holes.

#include "path/restart/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::restart {

namespace {

std::string what_it_is(const Variable& variable) {
    const auto kind = fmt::format("{} {}", name_of(variable.type), name_of(variable.kind));
    return variable.kind == Kind::particles ? kind : fmt::format("{} of {}", kind, show_shape(variable.shape));
}

Error differs(const Variable& own, const Variable& stored, std::int64_t step) {
    return {ErrorKind::refused,
            fmt::format("variable '{}' is {} here but {} in the snapshot of step {}. Describe it as it was "
                        "saved, or leave it out of the description.",
                        own.name, what_it_is(own), what_it_is(stored), step)};
}

std::size_t shape_index(const format::Manifest& manifest, const Extents& shape) {
    return static_cast<std::size_t>(std::ranges::find(manifest.shapes, shape) - manifest.shapes.begin());
}

bool holds_rank(const format::NodeLine& line, std::uint32_t rank) {
    return std::ranges::any_of(
        line.ranks, [&](const auto& range) { return rank >= range.first && rank - range.first < range.count; });
}

// Rows of the node files before `node`.
std::uint64_t rows_before(const format::Manifest& manifest, std::uint32_t table, std::uint32_t node) {
    std::uint64_t rows = 0;
    for (std::uint32_t i = 0; i < node; ++i) rows += manifest.nodes[i].rows[table];
    return rows;
}

}  // namespace

Result<Plan> Plan::make(const Schema& schema, const format::Manifest& manifest, std::uint32_t rank, std::uint32_t ranks,
                        std::uint32_t node) {
    Plan plan;
    plan.schema_ = &schema;
    plan.manifest_ = &manifest;
    plan.rank_ = rank;
    plan.ranks_ = ranks;
    const auto own = node % static_cast<std::uint32_t>(manifest.nodes.size());
    // In a shared file only node 0 has the replicated values.
    plan.replicated_from_ = format::holds_replicated(manifest.nodes[own]) ? own : 0;
    plan.tables_.resize(schema.tables.size());
    for (const auto& variable : schema.variables) {
        const auto* theirs = find(manifest.schema, variable.name);
        if (theirs == nullptr)
            return Error{
                ErrorKind::missing,
                fmt::format("the snapshot of step {} has no variable '{}'. It has {} others; see forebay show.",
                            manifest.step, variable.name, manifest.schema.variables.size()),
                "",
                "before the restart, describe only variables that the snapshot has, and the rest after it. Or read "
                "single variables with read(names) after newest()"};
        if (theirs->type != variable.type || theirs->kind != variable.kind || theirs->shape != variable.shape)
            return differs(variable, *theirs, manifest.step);
        plan.source_.push_back(static_cast<std::uint32_t>(theirs - manifest.schema.variables.data()));
        if (variable.kind == Kind::particles) plan.tables_[variable.table] = theirs->table;
    }
    return plan;
}

RowRange Plan::share(std::uint32_t table) const {
    return balanced_share(rows_before(*manifest_, tables_[table], static_cast<std::uint32_t>(manifest_->nodes.size())),
                          rank_, ranks_);
}

// Each node reads equal values from another file. Values that may differ are rank 0's, in the file of node 0.
std::uint32_t Plan::replicated_from(const describe::Binding& binding, std::size_t variable) const {
    return binding.is_first_ranks(variable) ? 0 : replicated_from_;
}

std::vector<char> Plan::files_needed(const describe::Binding& binding) const {
    std::vector<char> needed(manifest_->nodes.size(), 0);
    for (std::size_t v = 0; v < schema_->variables.size(); ++v) {
        const auto& variable = schema_->variables[v];
        if (variable.kind == Kind::replicated) needed[replicated_from(binding, v)] = 1;
        if (variable.kind != Kind::array) continue;
        const auto shape = shape_index(*manifest_, variable.shape);
        for (const auto& piece : binding.pieces[v]) {
            const auto box = grown(piece, variable.shape);
            for (std::size_t node = 0; node < needed.size(); ++node) {
                const auto& bounds = manifest_->nodes[node].bounds[shape];
                if (bounds && intersect(*bounds, box)) needed[node] = 1;
            }
        }
    }
    for (std::uint32_t t = 0; t < tables_.size(); ++t) {
        const auto wanted = share(t);
        std::uint64_t first = 0;
        for (std::size_t node = 0; node < needed.size(); ++node) {
            const auto rows = manifest_->nodes[node].rows[tables_[t]];
            const bool is_needed = own_rows() ? holds_rank(manifest_->nodes[node], rank_)
                                              : wanted.first < first + rows && first < wanted.first + wanted.count;
            if (is_needed) needed[node] = 1;
            first += rows;
        }
    }
    return needed;
}

void Plan::take_array(const describe::Binding& binding, std::uint32_t variable, const format::NodeFile& file,
                      std::vector<Take>& out, std::uint64_t& bytes) const {
    const auto& described = schema_->variables[variable];
    const auto source = source_[variable];
    for (auto b = file.first_block[source]; b < file.first_block[source + 1]; ++b) {
        const auto& block = file.blocks[b];
        const auto strides = packed_strides(block.box.size, described.type.size_bytes);
        for (const auto& piece : binding.pieces[variable]) {
            const auto common = intersect(block.box, grown(piece, described.shape));
            if (!common) continue;
            const auto first = offset_bytes(common->lo, block.box.lo, strides);
            Extents last = common->lo;
            for (int dim = 0; dim < last.dims(); ++dim) last[dim] += common->size[dim] - 1;
            const auto end = offset_bytes(last, block.box.lo, strides) + described.type.size_bytes;
            out.push_back(
                {.block = static_cast<std::uint32_t>(b),
                 .first_byte = static_cast<std::uint64_t>(first),
                 .last_byte = static_cast<std::uint64_t>(end) - 1,
                 .to = static_cast<std::byte*>(piece.data) + offset_bytes(common->lo, piece.box.lo, piece.stride_bytes),
                 .walk = RunWalk(common->size, described.type.size_bytes, strides, piece.stride_bytes)});
            bytes += volume(common->size) * described.type.size_bytes;
        }
    }
}

void Plan::take_column(const describe::TableBinding& table, std::uint32_t table_index, std::size_t column,
                       const format::NodeFile& file, std::vector<Take>& out, std::uint64_t& bytes) const {
    const auto variable = table.variables[column];
    const auto source = source_[variable];
    const auto element = schema_->variables[variable].type.size_bytes;
    const auto& data = table.columns[column];  // no address while only the ranges are needed
    const auto stride = data.stride_bytes == 0 ? static_cast<std::int64_t>(element) : data.stride_bytes;
    const auto before = rows_before(*manifest_, tables_[table_index], file.record.node);
    const auto wanted = share(table_index);
    for (auto b = file.first_block[source]; b < file.first_block[source + 1]; ++b) {
        const auto& block = file.blocks[b];
        RowRange rows{0, block.box.size[0]};  // of the block
        std::uint64_t at = 0;                 // the place of the first row in this rank's memory
        if (own_rows()) {
            if (block.rank != rank_) continue;
        } else {
            const Box in_block{{before + block.box.lo[0]}, {block.box.size[0]}};
            const auto common = intersect(in_block, {{wanted.first}, {wanted.count}});
            if (!common) continue;
            rows = {common->lo[0] - in_block.lo[0], common->size[0]};
            at = common->lo[0] - wanted.first;
        }
        if (rows.count == 0) continue;
        out.push_back({.block = static_cast<std::uint32_t>(b),
                       .first_byte = rows.first * element,
                       .last_byte = (rows.first + rows.count) * element - 1,
                       .to = data.data == nullptr
                                 ? nullptr
                                 : static_cast<std::byte*>(data.data) + static_cast<std::int64_t>(at) * stride,
                       .walk = RunWalk({rows.count}, element, {static_cast<std::int64_t>(element)}, {stride})});
        bytes += rows.count * element;
    }
}

std::vector<Take> Plan::takes(const describe::Binding& binding, const format::NodeFile& file,
                              std::uint64_t& taken_bytes) const {
    std::vector<Take> out;
    for (std::uint32_t v = 0; v < schema_->variables.size(); ++v) {
        const auto& variable = schema_->variables[v];
        if (variable.kind == Kind::array) take_array(binding, v, file, out, taken_bytes);
        if (variable.kind != Kind::replicated || file.record.node != replicated_from(binding, v)) continue;
        const auto b = file.first_block[source_[v]];
        const auto bytes = file.blocks[b].size_bytes;
        out.push_back({.block = static_cast<std::uint32_t>(b),
                       .first_byte = 0,
                       .last_byte = bytes - 1,
                       .to = static_cast<std::byte*>(binding.data[v]),
                       .walk = RunWalk({bytes}, 1, {1}, {1})});
        taken_bytes += bytes;
    }
    for (std::uint32_t t = 0; t < binding.tables.size(); ++t)
        for (std::size_t c = 0; c < binding.tables[t].variables.size(); ++c)
            take_column(binding.tables[t], t, c, file, out, taken_bytes);
    // In the order of the file, so that the copies follow the reads.
    std::ranges::sort(out, {},
                      [&](const Take& take) { return file.blocks[take.block].offset_bytes + take.first_byte; });
    return out;
}

bool Plan::complete(const describe::Binding& binding) const {
    for (std::size_t v = 0; v < schema_->variables.size(); ++v)
        if (!binding.pieces[v].empty() && manifest_->schema.variables[source_[v]].coverage == Coverage::partial)
            return false;
    return true;
}

std::uint64_t Plan::wanted_bytes(const describe::Binding& binding) const {
    std::uint64_t bytes = 0;
    for (std::size_t v = 0; v < schema_->variables.size(); ++v) {
        const auto& variable = schema_->variables[v];
        if (variable.kind == Kind::replicated) bytes += variable.elements() * variable.type.size_bytes;
        if (variable.kind != Kind::array) continue;
        for (const auto& piece : binding.pieces[v])
            bytes += volume(grown(piece, variable.shape).size) * variable.type.size_bytes;
    }
    for (const auto& table : binding.tables)
        for (const auto v : table.variables) bytes += table.rows * schema_->variables[v].type.size_bytes;
    return bytes;
}

}  // namespace forebay::restart
