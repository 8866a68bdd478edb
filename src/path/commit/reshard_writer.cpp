// A plain file is written run by run, source after source, each byte verified by the checksums that the new head has
// too.
//
// In a compressed one the variables without a filter come first, in the same way. The others are cut into chunks as one
// of their sources is. A chunk of the new file that begins and ends where one of a source does is passed on as it is
// stored, after its checksum was compared; so are all where no file is cut or put together with others, and where the
// bytes of each node are whole chunks. Where a node's last chunk is not full, those of the next node begin elsewhere in
// the new file: they are decoded, verified, and encoded anew as hard as they were. zfp would round again what it has
// rounded, so a variable of zfp whose chunks do not all fit gets Blosc, without loss.

#include "path/commit/reshard_writer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/codec/codec.hpp"

namespace forebay::commit {

namespace {

// What is read at once: whole segments, as many as keep a spinning disk busy.
constexpr std::uint64_t run_window_bytes = 8 * limits::segment_bytes;

// Of chunks that were zfp's: zstd at Blosc's level 5.
constexpr std::uint32_t effort_after_zfp = 2 * 256 + 5;

codec::Level level_of(std::uint32_t effort) {
    return {effort / 256 == 2 ? Codec::zstd : Codec::lz4, static_cast<int>(effort % 256)};
}

/// The segments of a run from byte `at` of the new file on, which one of them holds: as many as fit a window.
std::vector<format::Segment> segments_from(const format::NodeFile& head, const ByteRun& run, std::uint64_t at) {
    std::vector<format::Segment> segments;
    const auto from = run.source_offset + (at - run.offset);
    std::uint64_t bytes = 0;
    const auto first =
        std::partition_point(head.blocks.begin() + static_cast<std::ptrdiff_t>(run.first_block),
                             head.blocks.begin() + static_cast<std::ptrdiff_t>(run.last_block) + 1,
                             [&](const format::Block& block) { return block.offset_bytes + block.size_bytes <= from; });
    for (auto b = static_cast<std::size_t>(first - head.blocks.begin()); b <= run.last_block; ++b) {
        const auto& block = head.blocks[b];
        const auto skipped = block.offset_bytes < from ? (from - block.offset_bytes) / limits::segment_bytes : 0;
        for (auto i = skipped; i < format::segments_of(block.size_bytes); ++i) {
            segments.push_back(format::segment_of(head, b, i));
            bytes += segments.back().bytes;
            if (bytes + limits::segment_bytes > run_window_bytes) return segments;
        }
    }
    return segments;
}

std::uint64_t bytes_of_segments(const std::vector<format::Segment>& segments) {
    return segments.back().offset + segments.back().bytes - segments.front().offset;
}

}  // namespace

Result<> ReshardWriter::write() {
    const bool is_compressed = std::ranges::any_of(planned_.sources, [](const catalog::BlockReader& source) {
        return source.head().storage == format::Storage::compressed;
    });
    if (!is_compressed) return write_plain();
    FB_TRY_ASSIGN(plain, format::open_head(planned_.head, "the plain form of a new node file"));
    return write_compressed(plain);
}

Result<> ReshardWriter::write_plain() {
    std::vector<PlacedRun> placed;
    for (const auto& runs : planned_.runs)
        for (const auto& run : runs) placed.push_back({&run, run.offset});
    FB_TRY(copy(std::move(placed)));
    FB_TRY(put(0, planned_.head));
    return out_.truncate(planned_.layout.file_bytes);
}

Result<> ReshardWriter::write_compressed(const format::NodeFile& plain) {
    std::vector<format::StoredVariable> variables;
    for (std::size_t v = 0; v < plain.extents.size(); ++v) variables.push_back(how_to_store(plain, v));
    auto table = format::cut_into_chunks(plain, std::move(variables));
    auto position = format::compressed_data_offset(plain, table);
    std::vector<PlacedRun> placed;
    for (auto& chunk : table.chunks) {
        if (table.variables[chunk.variable].filter != 0) continue;
        chunk.stored_offset = position;
        chunk.stored_bytes = chunk.plain_bytes;
        for (const auto& run : planned_.runs[chunk.variable])
            placed.push_back({&run, position + (run.offset - chunk.plain_offset)});
        position += chunk.stored_bytes;
    }
    FB_TRY(copy(std::move(placed)));
    const auto hardest = efforts();
    for (auto& chunk : table.chunks) {
        const auto& how = table.variables[chunk.variable];
        if (how.filter == 0) continue;
        chunk.stored_offset = position;
        FB_TRY(store(chunk, how, hardest[chunk.variable]));
        position += chunk.stored_bytes;
    }
    const auto end = round_up(position, limits::page_bytes);
    FB_TRY(put(0, format::encode_compressed(plain, table, plain.crc32c, end)));
    return out_.truncate(end);
}

// As the first of its sources that has a filter for it.
format::StoredVariable ReshardWriter::how_to_store(const format::NodeFile& plain, std::size_t v) const {
    const format::StoredVariable* found = nullptr;
    for (const auto& run : planned_.runs[v]) {
        const auto& variables = planned_.sources[run.source].head().chunk_table.variables;
        if (variables.empty() || variables[v].filter == 0) continue;
        found = &variables[v];
        break;
    }
    if (found == nullptr) return {};
    const auto used = plain.extents[v].used_bytes;
    if (found->chunk_bytes <= used && (found->filter != codec::zfp_id || fits_all(plain, v, *found))) return *found;
    if (used < limits::packed_variable_bytes) return {};
    const auto type = plain.schema.variables[v].type;
    const auto bytes = std::min(used, limits::segment_bytes) / type.size_bytes * type.size_bytes;
    auto filter = codec::blosc_filter(type, Shuffle::bytes, bytes);
    return {.filter = filter.id, .values = std::move(filter.values), .chunk_bytes = bytes};
}

bool ReshardWriter::fits_all(const format::NodeFile& plain, std::size_t v, const format::StoredVariable& how) const {
    const auto& extent = plain.extents[v];
    for (std::uint64_t at = 0; at < extent.used_bytes; at += how.chunk_bytes)
        if (!same_chunk({.variable = static_cast<std::uint32_t>(v),
                         .plain_offset = extent.offset_bytes + at,
                         .plain_bytes = std::min(how.chunk_bytes, extent.used_bytes - at)},
                        how))
            return false;
    return true;
}

// Of each variable as hard as the hardest of its chunks were encoded; 0 where none of them became smaller.
std::vector<std::uint32_t> ReshardWriter::efforts() const {
    std::vector<std::uint32_t> efforts(planned_.runs.size(), 0);
    for (const auto& source : planned_.sources) {
        const auto& table = source.head().chunk_table;
        for (const auto& chunk : table.chunks) {
            const bool by_zfp = table.variables[chunk.variable].filter == codec::zfp_id;
            auto& effort = efforts[chunk.variable];
            effort = std::max(effort, by_zfp ? effort_after_zfp : chunk.effort);
        }
    }
    return efforts;
}

const ByteRun* ReshardWriter::run_at(std::size_t v, std::uint64_t offset) const {
    const auto& runs = planned_.runs[v];
    return &*(std::ranges::upper_bound(runs, offset, {}, &ByteRun::offset) - 1);
}

std::optional<ReshardWriter::SameChunk> ReshardWriter::same_chunk(const format::Chunk& chunk,
                                                                  const format::StoredVariable& how) const {
    const auto* run = run_at(chunk.variable, chunk.plain_offset);
    if (chunk.plain_offset + chunk.plain_bytes > run->end()) return {};
    const auto& table = planned_.sources[run->source].head().chunk_table;
    if (table.variables.empty() || table.variables[chunk.variable] != how) return {};
    const auto offset = run->source_offset + (chunk.plain_offset - run->offset);
    const auto found = std::ranges::lower_bound(table.chunks, offset, {}, &format::Chunk::plain_offset);
    if (found == table.chunks.end() || found->plain_offset != offset || found->plain_bytes != chunk.plain_bytes)
        return {};
    return SameChunk{run->source, &*found};
}

// Source after source, and front to back in each.
Result<> ReshardWriter::copy(std::vector<PlacedRun> runs) {
    std::ranges::sort(runs, {},
                      [](const PlacedRun& placed) { return std::pair(placed.run->source, placed.run->source_offset); });
    std::vector<std::byte> buffer;
    for (const auto& [run, place] : runs) {
        FB_TRY_ASSIGN(reader, source(run->source));
        for (std::uint64_t at = run->offset; at < run->end();) {
            const auto segments = segments_from(reader->head(), *run, at);
            buffer.resize(bytes_of_segments(segments));
            FB_TRY(reader->read(segments, buffer, scratch_));
            FB_TRY(put(place + (at - run->offset), buffer));
            at += buffer.size();
        }
    }
    return {};
}

Result<> ReshardWriter::store(format::Chunk& chunk, const format::StoredVariable& how, std::uint32_t effort) {
    const auto same = same_chunk(chunk, how);
    if (!same || !same->chunk->filtered) return encode(chunk, how, same ? 0 : effort);
    stored_.resize(same->chunk->stored_bytes);
    FB_TRY_ASSIGN(reader, source(same->source));
    FB_TRY(reader->read_stored(*same->chunk, stored_));
    chunk.stored_bytes = same->chunk->stored_bytes;
    chunk.crc32c = same->chunk->crc32c;
    chunk.filtered = true;
    chunk.effort = same->chunk->effort;
    return put(chunk.stored_offset, stored_);
}

// With an effort of 0 as it is. Whether it decodes to what was given is seen when the snapshot is verified.
Result<> ReshardWriter::encode(format::Chunk& chunk, const format::StoredVariable& how, std::uint32_t effort) {
    FB_TRY_ASSIGN(given, filled(chunk, how.chunk_bytes));
    std::size_t bytes = 0;
    if (effort != 0) {
        stored_.resize(how.chunk_bytes - 1);
        FB_TRY_ASSIGN(encoded, codec::encode({how.filter, how.values}, level_of(effort), given, stored_));
        bytes = encoded;
    }
    chunk.filtered = bytes != 0;
    const auto as_stored = chunk.filtered ? std::span<const std::byte>(stored_).first(bytes) : given;
    chunk.stored_bytes = as_stored.size();
    chunk.crc32c = chunk.filtered ? crc32c(as_stored) : 0;
    chunk.effort = chunk.filtered ? effort : 0;
    return put(chunk.stored_offset, as_stored);
}

/// The bytes of a chunk, and zeros up to its length.
Result<std::span<const std::byte>> ReshardWriter::filled(const format::Chunk& chunk, std::uint64_t chunk_bytes) {
    chunk_.assign(chunk_bytes, std::byte{0});
    const auto end = chunk.plain_offset + chunk.plain_bytes;
    for (auto at = chunk.plain_offset; at < end;) {
        if (at < window_.offset || at >= window_.offset + window_.bytes) FB_TRY(load_window(chunk.variable, at));
        const auto now = std::min(end, window_.offset + window_.bytes) - at;
        std::memcpy(chunk_.data() + (at - chunk.plain_offset), window_.buffer.data() + (at - window_.offset), now);
        at += now;
    }
    return std::span<const std::byte>(chunk_);
}

Result<> ReshardWriter::load_window(std::size_t v, std::uint64_t offset) {
    const auto* run = run_at(v, offset);
    FB_TRY_ASSIGN(reader, source(run->source));
    const auto segments = segments_from(reader->head(), *run, offset);
    window_.bytes = 0;
    window_.buffer.resize(bytes_of_segments(segments));
    FB_TRY(reader->read(segments, window_.buffer, scratch_));
    window_.offset = run->offset + (segments.front().offset - run->source_offset);
    window_.bytes = window_.buffer.size();
    return {};
}

Result<catalog::BlockReader*> ReshardWriter::source(std::size_t index) {
    if (open_source_ == index) return &planned_.sources[index];
    if (open_source_) planned_.sources[*open_source_].close();
    open_source_.reset();
    FB_TRY(planned_.sources[index].reopen());
    open_source_ = index;
    return &planned_.sources[index];
}

Result<> ReshardWriter::put(std::uint64_t offset, std::span<const std::byte> bytes) {
    const move::WriteOptions options{.pace = what_.pace};
    FB_TRY(move::Flow(options, what_.stop)
               .write(
                   out_, offset, bytes, [] { return true; }, nullptr));
    if (what_.moved) what_.moved(bytes.size());
    return {};
}

}  // namespace forebay::commit
