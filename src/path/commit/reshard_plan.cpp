#include "path/commit/reshard_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/node_file.hpp"

namespace forebay::commit {

namespace {

/// Where a block of the new file lies in the source.
struct BlockOrigin {
    std::size_t source = 0;
    std::size_t block = 0;
};

/// A rank of the new file, and which source has it.
struct RankOrigin {
    std::uint32_t rank = 0;
    std::size_t source = 0;
};

class NodePlanner {
public:
    NodePlanner(sys::Store& store, const std::string& directory, const format::Manifest& manifest)
        : store_(store), directory_(directory), manifest_(manifest) {}

    Result<ReshardedNode> plan(std::uint32_t nodes, std::uint32_t node) {
        const auto shares = shares_of(manifest_, nodes, node);
        FB_TRY(check_ranks(shares, nodes));
        for (const auto& share : shares) {
            FB_TRY_ASSIGN(source, open(share.line));
            for (const auto rank : share.ranks) ranks_.push_back({rank, source});
        }
        std::ranges::sort(ranks_, {}, &RankOrigin::rank);
        if (!format::holds_replicated(manifest_.nodes[shares.front().line])) {
            FB_TRY_ASSIGN(source, open(0));
            replicated_source_ = source;
        }
        list_parts();
        FB_TRY_ASSIGN(layout, format::plan_layout(manifest_.schema, parts_, {.headroom_percent = 0}));
        planned_.layout = std::move(layout);
        list_runs();
        seal(nodes, node);
        return std::move(planned_);
    }

private:
    Result<> check_ranks(const std::vector<RankShare>& shares, std::uint32_t nodes) const {
        std::uint64_t ranks = 0;
        for (const auto& share : shares) ranks += share.ranks.size();
        if (ranks <= limits::ranks_per_node_max) return {};
        const auto least = rank_count(manifest_) / limits::ranks_per_node_max + 1;
        return Error{ErrorKind::refused,
                     fmt::format("{} node files of {} ranks: one would have {} of them, at most {} are allowed", nodes,
                                 rank_count(manifest_), ranks, limits::ranks_per_node_max),
                     "", fmt::format("at least {} node files, better twice as many", least)};
    }

    Result<std::size_t> open(std::size_t line) {
        FB_TRY_ASSIGN(reader, catalog::BlockReader::open(store_, directory_, manifest_.nodes[line]));
        if (reader.head().schema != manifest_.schema)
            return Error{ErrorKind::corrupt,
                         fmt::format("{} has other variables than the manifest of its snapshot", reader.name())};
        reader.close();
        planned_.sources.push_back(std::move(reader));
        return planned_.sources.size() - 1;
    }

    /// The blocks of a rank in its source: of one variable they stand together.
    std::pair<std::size_t, std::size_t> blocks_of(std::size_t v, const RankOrigin& origin) const {
        const auto& head = planned_.sources[origin.source].head();
        const auto all = std::span(head.blocks).first(head.first_block[v + 1]).subspan(head.first_block[v]);
        const auto place = [&](auto block) {
            return head.first_block[v] + static_cast<std::size_t>(block - all.begin());
        };
        return {place(std::ranges::lower_bound(all, origin.rank, {}, &format::Block::rank)),
                place(std::ranges::upper_bound(all, origin.rank, {}, &format::Block::rank))};
    }

    /// What each rank owns, and in the order of the layout's blocks where these are.
    void list_parts() {
        const auto& schema = manifest_.schema;
        for (const auto& [rank, source] : ranks_)
            parts_.push_back({rank, std::vector<std::vector<Box>>(schema.variables.size()),
                              std::vector<std::uint64_t>(schema.tables.size())});
        for (std::size_t v = 0; v < schema.variables.size(); ++v) {
            const auto& variable = schema.variables[v];
            if (variable.kind == Kind::replicated) {
                const auto& head = planned_.sources[replicated_source_].head();
                origins_.push_back({replicated_source_, head.first_block[v]});
                continue;
            }
            for (std::size_t i = 0; i < ranks_.size(); ++i) {
                const auto& head = planned_.sources[ranks_[i].source].head();
                const auto [first, last] = blocks_of(v, ranks_[i]);
                for (auto b = first; b < last; ++b) {
                    origins_.push_back({ranks_[i].source, b});
                    if (variable.kind == Kind::array) parts_[i].boxes[v].push_back(head.blocks[b].box);
                    else parts_[i].rows[variable.table] = head.blocks[b].box.size[0];
                }
            }
        }
    }

    void list_runs() {
        const auto& blocks = planned_.layout.blocks;
        planned_.runs.resize(manifest_.schema.variables.size());
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            if (blocks[b].size_bytes == 0) continue;
            const auto& origin = origins_[b];
            const auto from = planned_.sources[origin.source].head().blocks[origin.block].offset_bytes;
            auto& runs = planned_.runs[blocks[b].variable];
            const bool goes_on = !runs.empty() && runs.back().source == origin.source &&
                                 runs.back().source_offset + runs.back().bytes == from;
            if (!goes_on)
                runs.push_back({.source = origin.source,
                                .first_block = origin.block,
                                .source_offset = from,
                                .offset = blocks[b].offset_bytes});
            runs.back().last_block = origin.block;
            runs.back().bytes += blocks[b].size_bytes;
        }
    }

    void seal(std::uint32_t nodes, std::uint32_t node) {
        const auto& layout = planned_.layout;
        planned_.head.resize(layout.data_offset_bytes);
        format::encode(layout, planned_.head);
        const auto words = format::crc_words(layout, planned_.head);
        for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
            const auto& block = layout.blocks[b];
            const auto& head = planned_.sources[origins_[b].source].head();
            const auto first = head.blocks[origins_[b].block].first_segment;
            for (std::uint64_t i = 0; i < format::segments_of(block.size_bytes); ++i)
                words[block.first_segment + i] = head.crc32c[first + i];
        }
        format::seal(layout,
                     {.snapshot_id = manifest_.snapshot_id,
                      .step = manifest_.step,
                      .time = manifest_.time,
                      .sealed_unix_ns = manifest_.sealed_unix_ns,
                      .node = node,
                      .nodes = nodes,
                      .world_ranks = manifest_.world_ranks,
                      .lineage = manifest_.lineage},
                     planned_.head);
    }

    sys::Store& store_;
    const std::string& directory_;
    const format::Manifest& manifest_;
    std::vector<RankOrigin> ranks_;  // ascending
    std::size_t replicated_source_ = 0;
    std::vector<format::RankPart> parts_;
    std::vector<BlockOrigin> origins_;  // one a block of the layout
    ReshardedNode planned_;
};

/// All ranks of a line, ascending.
std::vector<std::uint32_t> ranks_of_line(const format::NodeLine& line) {
    std::vector<std::uint32_t> ranks;
    for (const auto& range : line.ranks)
        for (std::uint32_t i = 0; i < range.count; ++i) ranks.push_back(range.first + i);
    return ranks;
}

}  // namespace

std::uint64_t rank_count(const format::Manifest& manifest) {
    std::uint64_t ranks = 0;
    for (const auto& line : manifest.nodes)
        for (const auto& range : line.ranks) ranks += range.count;
    return ranks;
}

std::vector<RankShare> shares_of(const format::Manifest& manifest, std::uint32_t nodes, std::uint32_t node) {
    const auto& lines = manifest.nodes;
    const auto cut = [&](std::uint64_t whole, std::uint64_t part) { return whole * part / nodes; };
    std::vector<RankShare> shares;
    if (nodes <= lines.size()) {
        for (auto line = cut(lines.size(), node); line < cut(lines.size(), node + 1ull); ++line)
            shares.push_back({line, ranks_of_line(lines[line])});
        return shares;
    }
    const auto first = cut(rank_count(manifest), node), last = cut(rank_count(manifest), node + 1ull);
    std::uint64_t before = 0;  // ranks of the nodes before
    for (std::size_t line = 0; line < lines.size() && before < last; ++line) {
        const auto ranks = ranks_of_line(lines[line]);
        const auto begin = std::clamp(first, before, before + ranks.size()) - before;
        const auto end = std::clamp(last, before, before + ranks.size()) - before;
        if (begin < end)
            shares.push_back({line,
                              {ranks.begin() + static_cast<std::ptrdiff_t>(begin),
                               ranks.begin() + static_cast<std::ptrdiff_t>(end)}});
        before += ranks.size();
    }
    return shares;
}

Result<ReshardedNode> plan_node(sys::Store& store, const std::string& directory, const format::Manifest& manifest,
                                std::uint32_t nodes, std::uint32_t node) {
    return NodePlanner(store, directory, manifest).plan(nodes, node);
}

}  // namespace forebay::commit
