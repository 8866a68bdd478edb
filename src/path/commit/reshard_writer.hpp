// Writes the bytes of one node file of a resharded snapshot, plain or compressed as its sources are.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/format/chunks.hpp"
#include "core/format/node_file.hpp"
#include "core/format/segments.hpp"
#include "core/move/flow.hpp"
#include "path/commit/reshard.hpp"
#include "path/commit/reshard_plan.hpp"

namespace forebay::commit {

class ReshardWriter {
public:
    /// All three must outlive it.
    ReshardWriter(const Resharding& what, ReshardedNode& planned, sys::File& out)
        : what_(what), planned_(planned), out_(out) {}

    /// Data, head and length; nothing is synced.
    Result<> write();

private:
    struct PlacedRun {
        const ByteRun* run = nullptr;
        std::uint64_t place = 0;  // in the new file as it is stored
    };
    /// The chunk of a source that holds just the bytes of a new one, stored in the same way.
    struct SameChunk {
        std::size_t source = 0;
        const format::Chunk* chunk = nullptr;
    };
    /// Verified bytes of one variable, by which its chunks are filled one after the other.
    struct Window {
        std::uint64_t offset = 0, bytes = 0;  // in the plain form of the new file
        std::vector<std::byte> buffer;
    };

    Result<> write_plain();
    Result<> write_compressed(const format::NodeFile& plain);

    format::StoredVariable how_to_store(const format::NodeFile& plain, std::size_t v) const;
    bool fits_all(const format::NodeFile& plain, std::size_t v, const format::StoredVariable& how) const;
    std::vector<std::uint32_t> efforts() const;
    const ByteRun* run_at(std::size_t v, std::uint64_t offset) const;
    std::optional<SameChunk> same_chunk(const format::Chunk& chunk, const format::StoredVariable& how) const;

    Result<> copy(std::vector<PlacedRun> runs);
    Result<> store(format::Chunk& chunk, const format::StoredVariable& how, std::uint32_t effort);
    Result<> encode(format::Chunk& chunk, const format::StoredVariable& how, std::uint32_t effort);
    Result<std::span<const std::byte>> filled(const format::Chunk& chunk, std::uint64_t chunk_bytes);
    Result<> load_window(std::size_t v, std::uint64_t offset);

    Result<catalog::BlockReader*> source(std::size_t index);
    Result<> put(std::uint64_t offset, std::span<const std::byte> bytes);

    const Resharding& what_;
    ReshardedNode& planned_;
    sys::File& out_;
    std::optional<std::size_t> open_source_;  // one at a time: there may be more than a process may have files
    Window window_;
    std::vector<std::byte> chunk_, stored_;
    catalog::BlockReader::Scratch scratch_;
};

}  // namespace forebay::commit
