// Compresses one staged node file. The file's plain bytes are cut into pieces: a chunk if it has a filter, a segment if
// not. All threads run Compressor::work(). Each takes the next piece and
//
//   1. checks the checksums of the segments that begin in it,
//   2. encodes it with an effort that fits the remaining time, decodes it again and compares,
//   3. waits for the turn of its piece and appends the result to the current output block,
//   4. writes the blocks that it filled, after its turn.
//
// Only step 3 follows the order of pieces, because the place of a chunk depends on the sizes of the chunks before it.
// The head with the table of chunks is written last. An error of any thread ends all threads. The error of the lowest
// piece is returned.

#include "path/drain/compress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/page_buffer.hpp"
#include "core/base/try.hpp"
#include "core/format/segments.hpp"
#include "core/move/flow.hpp"
#include "core/sys/process.hpp"
#include "core/sys/thread.hpp"
#include "path/drain/chunk_encoder.hpp"
#include "path/drain/effort_chooser.hpp"
#include "path/drain/output_blocks.hpp"
#include "path/drain/stored_chunks.hpp"
#include "path/drain/turns.hpp"

namespace forebay::drain {

namespace {

std::uint64_t total_bytes(const std::vector<ChunkPiece>& pieces) {
    std::uint64_t bytes = 0;
    for (const auto& piece : pieces) bytes += piece.bytes;
    return bytes;
}

/// One call of write_compressed(), shared by its threads.
class Compressor {
public:
    Compressor(const NodeDrain& drain, CompressionMemory& memory, const format::NodeFile& file,
               std::span<const std::byte> image, sys::File& out, const std::string& name)
        : drain_(drain),
          memory_(memory),
          file_(file),
          image_(image),
          out_(out),
          name_(name),
          flow_(drain.write, drain.stop),
          threads_(std::min(drain.write.in_flight, sys::cpus_allowed())),
          segments_(format::segments_by_offset(file)),
          chunks_(file, segments_, memory.rules),
          pieces_(chunks_.pieces()),
          turns_(pieces_.size()),
          efforts_(memory.ladders, drain.seconds_left, total_bytes(pieces_), threads_),
          blocks_(out, flow_, chunks_.data_offset(), drain.write.block_bytes, static_cast<std::size_t>(threads_)) {}

    Result<Compressed> run() {
        sys::work_together(static_cast<std::uint64_t>(threads_), [this] { work(); });
        if (turns_.error()) return *turns_.error();
        if (const auto rest = blocks_.rest(); rest.buffer != nullptr) FB_TRY(blocks_.write(rest));
        auto compressed = chunks_.sums();
        FB_TRY_ASSIGN(head_bytes, write_head());
        compressed.stored_bytes += head_bytes;
        memory_.write_seconds = write_seconds();
        return compressed;
    }

private:
    void work() {
        try {
            ChunkEncoder encoder(file_, chunks_.variables(), memory_.rules);
            while (const auto index = turns_.take())
                if (const auto done = compress(*index, encoder); !done) return turns_.fail(*index, done.error());
        } catch (const std::exception& thrown) {
            turns_.fail(0, {ErrorKind::broken, fmt::format("compressing a node file: {}", thrown.what())});
        }
    }

    Result<> compress(std::size_t index, ChunkEncoder& encoder) {
        const auto& piece = pieces_[index];
        if (flow_.stopped())
            return Error{ErrorKind::retry, fmt::format("compressing stopped on request at byte {}", piece.offset)};
        flow_.let_others_pass();
        auto busy = flow_.busy();
        FB_TRY(check(piece));
        FB_TRY_ASSIGN(encoded, encode(piece, encoder));
        // Before the wait for the turn: a thread must not be busy while it waits for another thread.
        busy.unlock();
        if (!turns_.await(index)) return {};
        chunks_.add(piece, encoded, blocks_.position());
        const auto full = blocks_.append(encoded.bytes);
        efforts_.done(piece.bytes);
        turns_.pass();
        // After the turn, so that others append to the next block while this block is written.
        for (const auto& block : full) FB_TRY(blocks_.write(block));
        if (drain_.done_bytes != nullptr) drain_.done_bytes->fetch_add(piece.bytes, std::memory_order_relaxed);
        return {};
    }

    // A segment is checked by the piece that contains its first byte.
    Result<> check(const ChunkPiece& piece) const {
        auto at = std::ranges::lower_bound(segments_, piece.offset, {}, &format::Segment::offset);
        for (; at != segments_.end() && at->offset < piece.offset + piece.bytes; ++at)
            FB_TRY(format::check_segment(file_, *at, image_.subspan(at->offset, at->bytes), name_));
        return {};
    }

    Result<EncodedChunk> encode(const ChunkPiece& piece, ChunkEncoder& encoder) {
        const auto variable = chunks_.variable_of(piece);
        const auto& how = chunks_.variables()[variable];
        const auto given = image_.subspan(piece.offset, piece.bytes);
        if (how.filter == 0) return EncodedChunk{.bytes = given, .decoded = given};
        if (how.filter == codec::zfp_id) return encoder.encode(variable, {}, given);
        const auto [rung, effort] = efforts_.choose(variable, write_seconds());
        FB_TRY_ASSIGN(encoded, encoder.encode(variable, effort, given));
        efforts_.took(variable, rung, how.chunk_bytes, encoded.bytes.size(), encoded.seconds);
        return encoded;
    }

    // Measured in this file after its first block is written; before, in the files before it.
    double write_seconds() const { return blocks_.write_seconds().value_or(memory_.write_seconds); }

    // Returns the length of the head.
    Result<std::uint64_t> write_head() {
        const auto end = round_up(blocks_.position(), limits::page_bytes);
        const auto head = chunks_.head(end);
        PageBuffer pages;
        const auto aligned = pages.take(head.size());
        std::ranges::copy(head, aligned.begin());
        FB_TRY(out_.write(0, aligned));
        FB_TRY(out_.truncate(end));
        FB_TRY(out_.sync());
        FB_TRY(out_.close());
        return head.size();
    }

    const NodeDrain& drain_;
    CompressionMemory& memory_;
    const format::NodeFile& file_;
    const std::span<const std::byte> image_;
    sys::File& out_;
    const std::string& name_;
    move::Flow flow_;
    const int threads_;
    const std::vector<format::Segment> segments_;
    StoredChunks chunks_;
    const std::vector<ChunkPiece> pieces_;
    Turns turns_;
    EffortChooser efforts_;
    OutputBlocks blocks_;
};

}  // namespace

Result<Compressed> write_compressed(const NodeDrain& drain, CompressionMemory& memory, const format::NodeFile& file,
                                    std::span<const std::byte> image, const std::string& path,
                                    const std::string& name) {
    if (memory.ladders.size() != file.schema.variables.size()) {
        memory.ladders.clear();
        for (const auto& variable : file.schema.variables) memory.ladders.emplace_back(memory.rules.of(variable.name));
    }
    FB_TRY_ASSIGN(out, drain.store->open(path, drain.direct ? sys::Access::create_direct : sys::Access::create));
    return Compressor(drain, memory, file, image, *out, name).run();
}

}  // namespace forebay::drain
