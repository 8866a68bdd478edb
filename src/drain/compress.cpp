// Compresses one staged node file. The file's plain bytes are cut into pieces: a chunk where a filter is used, a
// segment where the bytes are stored as they are. All threads run Compressor::work(), which takes the next piece and
//
//   1. checks the checksums of the segments that begin in it,
//   2. encodes it, at an effort that fits the time that is left, decodes it again and compares,
//   3. waits for the turn of its piece and appends the result to the current output block,
//   4. writes the blocks that it has filled, outside the lock.
//
// Only the third step is in the order of the pieces, because the place of a chunk follows from the sizes of the chunks
// before it. The head with the table of chunks is written last. An error of any thread ends all of them; of several the
// one of the lowest piece is returned.

#include "drain/compress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

#include "base/bytes.hpp"
#include "base/crc32c.hpp"
#include "base/limits.hpp"
#include "base/page_buffer.hpp"
#include "base/try.hpp"
#include "drain/lossy_words.hpp"
#include "format/segments.hpp"
#include "move/flow.hpp"
#include "sys/clock.hpp"
#include "sys/process.hpp"
#include "sys/thread.hpp"

namespace forebay::drain {

namespace {

using Clock = std::chrono::steady_clock;

// A chunk ends in at most two blocks of the file then.
constexpr std::uint64_t block_bytes_min = 2 * limits::segment_bytes;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool within(std::span<const std::byte> given, std::span<const std::byte> decoded, Type type, double error) {
    if (std::memcmp(given.data(), decoded.data(), given.size()) == 0) return true;
    const auto all = [&]<class T>(T) {
        for (std::size_t at = 0; at < given.size(); at += sizeof(T)) {
            const auto a = load_le<T>(given.data() + at), b = load_le<T>(decoded.data() + at);
            // Also false where either is not a number.
            if (!(std::abs(static_cast<double>(a) - static_cast<double>(b)) <= error)) return false;
        }
        return true;
    };
    return type.scalar == Scalar::f32 ? all(0.0f) : all(0.0);
}

/// The output, block after block. All threads append their chunks to the current block; the thread whose chunk fills a
/// block writes it, while the others go on with the next one.
class OutputBlocks {
public:
    OutputBlocks(sys::File& file, const NodeDrain& drain, move::Flow& flow, std::uint64_t offset, int threads)
        : file_(file),
          flow_(flow),
          block_bytes_(std::max(drain.write.block_bytes, block_bytes_min)),
          offset_(offset),
          buffers_(static_cast<std::size_t>(threads) + 1) {
        for (auto& buffer : buffers_) free_.push_back(&buffer);
    }

    struct Full {
        PageBuffer* buffer = nullptr;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
    };

    /// Where the next byte will lie.
    std::uint64_t position() const { return offset_ + filled_; }

    /// Takes the bytes of one chunk; the blocks that are full now are the caller's to write(), without `lock`.
    std::vector<Full> append(std::span<const std::byte> bytes, std::unique_lock<std::mutex>& lock) {
        std::vector<Full> full;
        while (!bytes.empty()) {
            if (current_ == nullptr) {
                freed_.wait(lock, [&] { return !free_.empty(); });
                current_ = free_.back();
                free_.pop_back();
            }
            const auto now = std::min<std::uint64_t>(bytes.size(), block_bytes_ - filled_);
            std::memcpy(current_->take(block_bytes_).data() + filled_, bytes.data(), now);
            filled_ += now;
            bytes = bytes.subspan(now);
            if (filled_ == block_bytes_) full.push_back(next(block_bytes_));
        }
        return full;
    }

    /// What is in the last block, filled up to a page.
    Full rest() {
        if (current_ == nullptr) return {};
        const auto bytes = round_up(filled_, limits::page_bytes);
        std::ranges::fill(current_->take(block_bytes_).subspan(filled_, bytes - filled_), std::byte{0});
        return next(bytes);
    }

    Result<> write(const Full& full, std::mutex& mutex) {
        const auto bytes = std::span<const std::byte>(full.buffer->take(block_bytes_)).first(full.bytes);
        const auto start = Clock::now();
        const auto done = flow_.write(
            file_, full.offset, bytes, [] { return true; }, nullptr);
        const std::lock_guard lock(mutex);
        write_seconds_ += seconds_since(start);
        written_ += full.bytes;
        free_.push_back(full.buffer);
        freed_.notify_one();
        return done;
    }

    /// Seconds that one thread takes to write a byte; nothing before the first block is written.
    std::optional<double> write_seconds() const {
        return written_ == 0 ? std::nullopt : std::optional(write_seconds_ / static_cast<double>(written_));
    }

private:
    Full next(std::uint64_t bytes) {
        const Full full{current_, offset_, bytes};
        offset_ += bytes;
        filled_ = 0;
        current_ = nullptr;
        return full;
    }

    sys::File& file_;
    move::Flow& flow_;
    const std::uint64_t block_bytes_;
    std::uint64_t offset_;  // of the current block
    std::uint64_t filled_ = 0;
    std::vector<PageBuffer> buffers_;
    std::vector<PageBuffer*> free_;
    PageBuffer* current_ = nullptr;
    std::condition_variable freed_;
    double write_seconds_ = 0;
    std::uint64_t written_ = 0;
};

/// One call of write_compressed(), shared by its threads.
class Compressor {
public:
    Compressor(const NodeDrain& drain, CompressionMemory& memory, const format::NodeFile& file,
               std::span<const std::byte> image, sys::File& out, const std::string& name)
        : drain_(drain),
          memory_(memory),
          file_(file),
          image_(image),
          name_(name),
          flow_(drain.write, drain.stop),
          segments_(format::segments_by_offset(file)),
          table_(format::cut_into_chunks(file, choose_filters(file, memory.rules))),
          threads_(std::min(drain.write.in_flight, sys::cpus_allowed())),
          blocks_(out, drain, flow_, format::compressed_data_offset(file, table_), threads_),
          words_(file, segments_),
          out_(out) {
        for (std::size_t c = 0; c < table_.chunks.size(); ++c) {
            const auto& chunk = table_.chunks[c];
            const bool filtered = table_.variables[chunk.variable].filter != 0;
            const auto step = filtered ? chunk.plain_bytes : limits::segment_bytes;
            for (std::uint64_t at = 0; at < chunk.plain_bytes; at += step)
                pieces_.push_back({c, chunk.plain_offset + at, std::min(step, chunk.plain_bytes - at)});
            plain_left_ += chunk.plain_bytes;
        }
    }

    Result<Compressed> run() {
        sys::work_together(static_cast<std::uint64_t>(threads_), [this] { work(); });
        if (error_) return *error_;
        if (const auto rest = blocks_.rest(); rest.buffer != nullptr) FB_TRY(blocks_.write(rest, mutex_));
        FB_TRY(write_head());
        if (const auto seconds = blocks_.write_seconds()) memory_.write_seconds = *seconds;
        for (const auto& [effort, bytes] : efforts_) done_.efforts.emplace_back(effort, bytes);
        std::ranges::sort(done_.efforts, std::greater(), &std::pair<std::string, std::uint64_t>::second);
        return done_;
    }

private:
    struct Piece {  // a chunk, or some of one that is stored as it is
        std::size_t chunk = 0;
        std::uint64_t offset = 0, bytes = 0;
    };
    struct Room {
        PageBuffer plain, stored, decoded;
    };
    struct Encoded {
        std::span<const std::byte> bytes;
        std::span<const std::byte> decoded;  // where that is not what was given
        bool filtered = false;
        std::uint32_t effort = 0;
        std::string name;
        double seconds = 0;
    };

    void work() {
        try {
            Room room;
            for (auto i = next_++; i < pieces_.size(); i = next_++)
                if (const auto done = compress(i, room); !done) return fail(i, done.error());
        } catch (const std::exception& thrown) {
            fail(0, {ErrorKind::broken, fmt::format("compressing a node file: {}", thrown.what())});
        }
    }

    Result<> compress(std::size_t index, Room& room) {
        const auto& piece = pieces_[index];
        if (flow_.stopped())
            return Error{ErrorKind::retry, fmt::format("compressing stopped on request at byte {}", piece.offset)};
        flow_.let_others_pass();
        auto busy = flow_.busy();
        FB_TRY(check(piece));
        FB_TRY_ASSIGN(encoded, encode(piece, room));
        busy.unlock();
        std::unique_lock lock(mutex_);
        turned_.wait(lock, [&] { return turn_ == index || error_; });
        if (error_) return {};
        store(piece, encoded);
        const auto full = blocks_.append(encoded.bytes, lock);
        ++turn_;
        turned_.notify_all();
        lock.unlock();
        for (const auto& block : full) FB_TRY(blocks_.write(block, mutex_));
        if (drain_.done_bytes != nullptr) drain_.done_bytes->fetch_add(piece.bytes, std::memory_order_relaxed);
        return {};
    }

    // Each segment is checked by the piece in which it begins.
    Result<> check(const Piece& piece) const {
        auto at = std::ranges::lower_bound(segments_, piece.offset, {}, &format::Segment::offset);
        for (; at != segments_.end() && at->offset < piece.offset + piece.bytes; ++at)
            FB_TRY(format::check_segment(file_, *at, image_.subspan(at->offset, at->bytes), name_));
        return {};
    }

    Result<Encoded> encode(const Piece& piece, Room& room) {
        const auto& chunk = table_.chunks[piece.chunk];
        const auto& how = table_.variables[chunk.variable];
        auto given = image_.subspan(piece.offset, piece.bytes);
        if (how.filter == 0) return Encoded{.bytes = given, .name = "as it is"};
        if (given.size() < how.chunk_bytes) {
            const auto filled = room.plain.take(how.chunk_bytes);
            std::ranges::copy(given, filled.begin());
            std::ranges::fill(filled.subspan(given.size()), std::byte{0});
            given = filled;
        }
        const bool lossy = how.filter == codec::zfp_id;
        Effort effort;
        std::size_t rung = 0;
        if (!lossy) {
            const std::lock_guard lock(mutex_);
            rung = memory_.ladders[chunk.variable].choose(time_a_byte(), write_seconds());
            effort = memory_.ladders[chunk.variable][rung];
        }
        const auto start = Clock::now();
        Encoded encoded{.bytes = given, .name = effort.name()};
        if (!effort.plain) FB_TRY(encode(chunk, effort, given, room, encoded));
        encoded.seconds = seconds_since(start);
        if (!lossy) {
            const std::lock_guard lock(mutex_);
            memory_.ladders[chunk.variable].took(rung, given.size(), encoded.bytes.size(), encoded.seconds);
        }
        return encoded;
    }

    Result<> encode(const format::Chunk& chunk, const Effort& effort, std::span<const std::byte> given, Room& room,
                    Encoded& encoded) {
        const auto& how = table_.variables[chunk.variable];
        const auto& variable = file_.schema.variables[chunk.variable];
        const codec::Filter filter{how.filter, how.values};
        const auto out = room.stored.take(given.size()).first(given.size() - 1);
        FB_TRY_ASSIGN(bytes, codec::encode(filter, effort.level, given, out));
        encoded.name = how.filter == codec::zfp_id ? "zfp" : encoded.name;
        if (bytes == 0) return {};
        // What does not decode to what was given, by a fault of a library or of memory, is not stored.
        const auto decoded = room.decoded.take(given.size());
        const auto error = how.filter == codec::zfp_id ? error_of(chunk) : 0;
        if (!codec::decode(filter, out.first(bytes), decoded) || !within(given, decoded, variable.type, error)) {
            ++refused_chunks_;
            return {};
        }
        encoded.bytes = out.first(bytes);
        encoded.filtered = true;
        if (error > 0) encoded.decoded = decoded;
        if (how.filter == codec::blosc_id)
            encoded.effort =
                static_cast<std::uint32_t>((effort.level.codec == Codec::zstd ? 2 : 1) * 256 + effort.level.number);
        return {};
    }

    double error_of(const format::Chunk& chunk) const {
        return memory_.rules.of(file_.schema.variables[chunk.variable].name).error;
    }

    // With the lock held, in the order of the pieces.
    void store(const Piece& piece, const Encoded& encoded) {
        auto& chunk = table_.chunks[piece.chunk];
        if (piece.offset == chunk.plain_offset) chunk.stored_offset = blocks_.position();
        chunk.stored_bytes += encoded.bytes.size();
        chunk.filtered = encoded.filtered;
        chunk.effort = encoded.effort;
        if (encoded.filtered) chunk.crc32c = crc32c(encoded.bytes);
        const auto& how = table_.variables[chunk.variable];
        if (how.filter == codec::zfp_id && error_of(chunk) > 0)
            words_.add(piece.offset,
                       (encoded.decoded.empty() ? image_.subspan(piece.offset) : encoded.decoded).first(piece.bytes));
        plain_left_ -= piece.bytes;
        done_.plain_bytes += piece.bytes;
        done_.stored_bytes += encoded.bytes.size();
        done_.encode_seconds += encoded.seconds;
        efforts_[encoded.filtered ? encoded.name : "as it is"] += piece.bytes;
    }

    // What one thread may take for a plain byte.
    std::optional<double> time_a_byte() const {
        if (!drain_.seconds_left || plain_left_ == 0) return std::nullopt;
        return std::max(0.0, *drain_.seconds_left - seconds_since(start_)) * threads_ /
               static_cast<double>(plain_left_);
    }
    double write_seconds() const { return blocks_.write_seconds().value_or(memory_.write_seconds); }

    Result<> write_head() {
        const auto end = round_up(blocks_.position(), limits::page_bytes);
        const auto head = format::encode_compressed(file_, table_, words_.words(), end);
        PageBuffer pages;
        const auto aligned = pages.take(head.size());
        std::ranges::copy(head, aligned.begin());
        FB_TRY(out_.write(0, aligned));
        FB_TRY(out_.truncate(end));
        FB_TRY(out_.sync());
        done_.stored_bytes += head.size();
        done_.refused_chunks = refused_chunks_;
        return out_.close();
    }

    void fail(std::size_t index, const Error& error) {
        const std::lock_guard lock(mutex_);
        next_ = pieces_.size();
        if (!error_ || index < error_at_) {
            error_ = error;
            error_at_ = index;
        }
        turned_.notify_all();
    }

    const NodeDrain& drain_;
    CompressionMemory& memory_;
    const format::NodeFile& file_;
    const std::span<const std::byte> image_;
    const std::string& name_;
    move::Flow flow_;
    const Clock::time_point start_ = Clock::now();
    const std::vector<format::Segment> segments_;
    format::ChunkTable table_;
    std::vector<Piece> pieces_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::uint64_t> refused_chunks_{0};

    std::mutex mutex_;  // guards what follows, and the memory's ladders
    std::condition_variable turned_;
    std::size_t turn_ = 0;  // of the pieces, to be stored next
    const int threads_;
    OutputBlocks blocks_;
    LossyWords words_;
    std::uint64_t plain_left_ = 0;
    Compressed done_;
    std::map<std::string, std::uint64_t> efforts_;
    std::optional<Error> error_;
    std::size_t error_at_ = 0;

    sys::File& out_;
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
