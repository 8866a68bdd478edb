// The plan of one rank for the bytes that it takes from a snapshot: pure arithmetic on the manifest, the block tables
// and the rank's description.

#pragma once

#include <cstdint>
#include <vector>

#include "core/describe/binding.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/manifest.hpp"
#include "core/format/node_file.hpp"

namespace forebay::restart {

/// One copy from a block to this rank's memory.
struct Take {
    std::uint32_t block = 0;                      // index into NodeFile::blocks
    std::uint64_t first_byte = 0, last_byte = 0;  // in the block: the range that the walk touches
    std::byte* to = nullptr;
    RunWalk walk;  // a: in the block, from first_byte on; b: from `to` on
};

class Plan {
public:
    /// Matches the stream's description with the snapshot's by name. `missing` or `refused`, with the variable. `rank`
    /// of `ranks` is this rank. `node` selects the file for replicated values. Keeps references to the arguments.
    static Result<Plan> make(const Schema& schema, const format::Manifest& manifest, std::uint32_t rank,
                             std::uint32_t ranks, std::uint32_t node);

    /// True if each rank gets its own rows back.
    bool own_rows() const { return ranks_ == manifest_->world_ranks; }
    /// This rank's rows of a table of the stream, in balanced shares.
    RowRange share(std::uint32_t table) const;

    /// Node files with bytes for this rank.
    std::vector<char> files_needed(const describe::Binding& binding) const;

    /// This rank's copies from one node file. With own_rows() they are the rank's own blocks, else its share(). Adds
    /// the bytes of these copies to `taken_bytes`.
    std::vector<Take> takes(const describe::Binding& binding, const format::NodeFile& file,
                            std::uint64_t& taken_bytes) const;

    /// All bytes that this rank asks for. It gets fewer only if an array with partial coverage has holes.
    std::uint64_t wanted_bytes(const describe::Binding& binding) const;
    /// True if no array that this rank asks for may have holes.
    bool complete(const describe::Binding& binding) const;

    /// The snapshot's table for a table of the stream.
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
