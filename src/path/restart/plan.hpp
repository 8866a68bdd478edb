// The plan of one rank for what it takes out of a snapshot: pure arithmetic on the manifest, block tables and what the
// rank asks for.

#pragma once

#include <cstdint>
#include <vector>

#include "core/describe/binding.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/manifest.hpp"
#include "core/format/node_file.hpp"

namespace forebay::restart {

/// One copy out of a block into this rank's memory.
struct Take {
    std::uint32_t block = 0;                      // index into NodeFile::blocks
    std::uint64_t first_byte = 0, last_byte = 0;  // within the block: the span that the walk touches
    std::byte* to = nullptr;
    RunWalk walk;  // a: within the block from first_byte on; b: from `to` on
};

class Plan {
public:
    /// Matches the stream's description with the snapshot's, by name. `missing` or `refused` with the variable named.
    /// `rank` of `ranks` is this rank; `node` chooses which file replicated values come from. References are kept.
    static Result<Plan> make(const Schema& schema, const format::Manifest& manifest, std::uint32_t rank,
                             std::uint32_t ranks, std::uint32_t node);

    /// Whether each rank gets its own rows back.
    bool own_rows() const { return ranks_ == manifest_->world_ranks; }
    /// This rank's rows of a table of the stream when shares are balanced.
    RowRange share(std::uint32_t table) const;

    /// Node files that hold something for this rank.
    std::vector<char> files_needed(const describe::Binding& binding) const;

    /// The takes of this rank out of one of them. `rows`: see share(); with own_rows() the rank's own blocks. Bytes
    /// that this rank will have got are added to `taken_bytes`.
    std::vector<Take> takes(const describe::Binding& binding, const format::NodeFile& file,
                            std::uint64_t& taken_bytes) const;

    /// Bytes this rank asks for in all; it gets fewer only where an array with partial coverage has holes.
    std::uint64_t wanted_bytes(const describe::Binding& binding) const;
    /// Whether no array that this rank asks for may have holes.
    bool complete(const describe::Binding& binding) const;

    /// The snapshot's table that a table of the stream is matched with.
    std::uint32_t table_of(std::uint32_t table) const { return tables_[table]; }

private:
    void take_array(const describe::Binding& binding, std::uint32_t variable, const format::NodeFile& file,
                    std::vector<Take>& out, std::uint64_t& bytes) const;
    void take_column(const describe::TableBinding& table, std::uint32_t table_index, std::size_t column,
                     const format::NodeFile& file, std::vector<Take>& out, std::uint64_t& bytes) const;

    std::uint32_t replicated_from(const describe::Binding& binding, std::size_t variable) const;

    const Schema* schema_ = nullptr;
    const format::Manifest* manifest_ = nullptr;
    std::vector<std::uint32_t> source_;  // variable of the stream -> variable of the snapshot
    std::vector<std::uint32_t> tables_;  // table of the stream -> table of the snapshot
    std::uint32_t rank_ = 0, ranks_ = 1, replicated_from_ = 0;
};

}  // namespace forebay::restart
