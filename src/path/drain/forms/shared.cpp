// A shared file: a node's head goes into its region, its bytes into datasets. Agents of other nodes write these
// datasets at the same time.
//
// Contiguous data go from the mapping to the file in blocks cut at absolute multiples of the agent's block_bytes. Other
// boxes are gathered, window by window, and written in the longest possible runs. Only whole pages can go past the page
// cache. A page at the end of a node's stretch also has bytes of other nodes, so it goes through the cache.

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/page_buffer.hpp"
#include "core/base/try.hpp"
#include "core/format/shared.hpp"
#include "path/drain/forms/bring.hpp"
#include "path/drain/forms/region.hpp"

namespace forebay::drain {

namespace {

constexpr bool in_pages(std::uint64_t number) { return number % limits::page_bytes == 0; }

/// The shared file for write_ranges(), with writes of any bytes at any place. Whole pages go past the page cache if the
/// file can, from an aligned copy if memory is not aligned. All other writes go through the cache, by a second
/// descriptor.
class AnyPlace final : public sys::File {
public:
    AnyPlace(sys::File& direct, sys::Store& store, const std::string& path)
        : direct_(direct), store_(store), path_(path) {}

    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
        if (!direct_.direct()) return direct_.write(offset, bytes);
        if (!in_pages(offset) || !in_pages(bytes.size())) {
            FB_TRY_ASSIGN(file, cached());
            return file->write(offset, bytes);
        }
        if (in_pages(reinterpret_cast<std::uintptr_t>(bytes.data()))) return direct_.write(offset, bytes);
        thread_local PageBuffer room;
        const auto copy = room.take(bytes.size());
        std::memcpy(copy.data(), bytes.data(), bytes.size());
        return direct_.write(offset, copy);
    }
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes) override { return direct_.read(offset, bytes); }
    Result<std::uint64_t> size() override { return direct_.size(); }
    Result<> truncate(std::uint64_t size) override { return direct_.truncate(size); }
    void reserve(std::uint64_t offset, std::uint64_t bytes) override { direct_.reserve(offset, bytes); }
    Result<> sync() override { return cached_ ? cached_->sync() : Result<>(); }
    bool direct() const override { return direct_.direct(); }
    Result<> close() override { return cached_ ? cached_->close() : Result<>(); }

private:
    Result<sys::File*> cached() {
        const std::lock_guard lock(mutex_);
        if (!cached_) {
            FB_TRY_ASSIGN(opened, store_.open(path_, sys::Access::update));
            cached_ = std::move(opened);
        }
        return cached_.get();
    }

    sys::File& direct_;
    sys::Store& store_;
    const std::string& path_;
    std::mutex mutex_;  // guards the members below
    std::unique_ptr<sys::File> cached_;
};

/// One drain of one node into a shared file.
class SharedDrain {
public:
    SharedDrain(const Bringing& what, sys::File& out)
        : drain_(what.drain),
          file_(what.file),
          image_(what.image),
          check_(check_of(what.file, what.image, what.name)),
          out_(out) {}

    Result<> write() {
        std::vector<std::uint32_t> scattered, packed;
        for (std::uint32_t v = 0; v < file_.schema.variables.size(); ++v) {
            if (file_.schema.variables[v].kind == Kind::replicated) {
                if (file_.record.node != 0) continue;
                if (file_.extents[v].used_bytes < limits::packed_variable_bytes) {
                    packed.push_back(v);
                    continue;
                }
            }
            if (!add_contiguous(v)) scattered.push_back(v);
        }
        FB_TRY(write_packed(packed));
        std::ranges::sort(ranges_, {}, &move::ByteRange::offset);
        reserve_room(out_, ranges_, drain_.write);
        FB_TRY(move::write_ranges(out_, image_, ranges_, drain_.write, check_, drain_.done_bytes, drain_.stop));
        count(ranges_);
        for (const auto v : scattered) FB_TRY(write_scattered(v));
        return {};
    }

private:
    std::span<const format::Block> blocks_of(std::uint32_t v) const {
        return {file_.blocks.data() + file_.first_block[v], file_.first_block[v + 1] - file_.first_block[v]};
    }

    /// Adds the ranges of a variable if each of its blocks is one stretch of the file. False if not: it is scattered.
    bool add_contiguous(std::uint32_t v) {
        const auto before = ranges_.size();
        for (const auto& block : blocks_of(v)) {
            if (block.size_bytes == 0) continue;
            const format::BlockRuns runs(file_, block);
            if (runs.count() > 1) {
                ranges_.resize(before);
                return false;
            }
            const auto offset = runs.offset_of(0);
            const auto shift = static_cast<std::int64_t>(block.offset_bytes - offset);
            auto* last = ranges_.size() > before ? &ranges_.back() : nullptr;
            if (last != nullptr && last->offset + last->bytes == offset && last->shift == shift)
                last->bytes += block.size_bytes;
            else ranges_.push_back({offset, block.size_bytes, shift});
        }
        if (out_.direct()) cut_off_ends(before);
        return true;
    }

    /// Splits ranges so that all but their ends are whole pages.
    void cut_off_ends(std::size_t from) {
        const std::vector<move::ByteRange> whole(ranges_.begin() + static_cast<std::ptrdiff_t>(from), ranges_.end());
        ranges_.resize(from);
        for (const auto& range : whole) {
            const auto end = range.offset + range.bytes;
            const auto first = std::min(round_up(range.offset, limits::page_bytes), end);
            const auto last = std::max(round_down(end, limits::page_bytes), first);
            for (const auto& [begin, stop] : {std::pair{range.offset, first}, {first, last}, {last, end}})
                if (begin < stop) ranges_.push_back({begin, stop - begin, range.shift});
        }
    }

    Result<> write_packed(std::vector<std::uint32_t>& variables);
    Result<> write_scattered(std::uint32_t v);
    Result<> write_window(std::span<const format::BlockRuns> runs, std::span<const format::Block> blocks,
                          std::uint64_t begin, std::uint64_t end);

    void count(std::span<const move::ByteRange> ranges) {
        if (drain_.stored_bytes == nullptr) return;
        for (const auto& range : ranges) *drain_.stored_bytes += range.bytes;
    }

    const NodeDrain& drain_;
    const format::NodeFile& file_;
    const std::span<const std::byte> image_;
    const move::Check check_;
    sys::File& out_;
    std::vector<move::ByteRange> ranges_;
    std::vector<format::Stretch> pieces_;
    PageBuffer buffer_;
};

// Small replicated variables are neighbours with unused bytes between them, so a few large writes bring them all.
Result<> SharedDrain::write_packed(std::vector<std::uint32_t>& variables) {
    const auto offset_of = [&](std::uint32_t v) { return file_.extents[v].shared_offset_bytes; };
    std::ranges::sort(variables, {}, offset_of);
    for (auto at = variables.begin(); at != variables.end();) {
        const auto begin = offset_of(*at);
        auto end = begin;
        auto last = at;
        for (; last != variables.end() && offset_of(*last) < end + limits::cache_line_bytes; ++last)
            end = offset_of(*last) + file_.extents[*last].used_bytes;
        const auto buffer = buffer_.take(end - begin);
        std::ranges::fill(buffer, std::byte{0});
        for (; at != last; ++at) {
            const auto& extent = file_.extents[*at];
            FB_TRY(check_(extent.offset_bytes, extent.used_bytes));
            std::memcpy(buffer.data() + (offset_of(*at) - begin), image_.data() + extent.offset_bytes,
                        extent.used_bytes);
        }
        const std::array all{move::ByteRange{begin, end - begin, -static_cast<std::int64_t>(begin)}};
        count(all);
        FB_TRY(move::write_ranges(out_, buffer, all, drain_.write, {}, drain_.done_bytes, drain_.stop));
    }
    return {};
}

Result<> SharedDrain::write_scattered(std::uint32_t v) {
    const auto blocks = blocks_of(v);
    std::vector<format::BlockRuns> runs;
    std::uint64_t begin = UINT64_MAX, end = 0, shortest = UINT64_MAX;
    for (const auto& block : blocks) {
        runs.emplace_back(file_, block);
        if (block.size_bytes == 0) continue;
        shortest = std::min(shortest, runs.back().bytes());
        begin = std::min(begin, runs.back().offset_of(0));
        end = std::max(end, runs.back().offset_of(runs.back().count() - 1) + runs.back().bytes());
    }
    auto window = drain_.write.block_bytes * static_cast<std::uint64_t>(drain_.write.in_flight);
    // Short runs make many pieces: a smaller window limits the list of pieces.
    if (window / limits::gathered_pieces_max > shortest)
        window = round_down(shortest * limits::gathered_pieces_max, limits::page_bytes);
    for (auto at = begin / window * window; at < end; at += window)
        FB_TRY(write_window(runs, blocks, std::max(at, begin), std::min(at + window, end)));
    return {};
}

// Boxes of several ranks may be neighbours within a row; then their pieces form one run.
Result<> SharedDrain::write_window(std::span<const format::BlockRuns> runs, std::span<const format::Block> blocks,
                                   std::uint64_t begin, std::uint64_t end) {
    pieces_.clear();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (blocks[b].size_bytes == 0) continue;
        const auto& own = runs[b];
        for (auto i = own.first_after(begin); i < own.count() && own.offset_of(i) < end; ++i) {
            const auto offset = own.offset_of(i);
            const auto from = std::max(begin, offset), to = std::min(end, offset + own.bytes());
            pieces_.push_back({blocks[b].offset_bytes + i * own.bytes() + (from - offset), from, to - from});
        }
    }
    if (pieces_.empty()) return {};
    std::ranges::sort(pieces_, {}, &format::Stretch::offset);
    const auto first = round_down(begin, limits::page_bytes);
    const auto buffer = buffer_.take(end - first);
    const auto shift = -static_cast<std::int64_t>(first);
    ranges_.clear();
    for (const auto& piece : pieces_) {
        FB_TRY(check_(piece.plain_offset, piece.bytes));
        std::memcpy(buffer.data() + (piece.offset - first), image_.data() + piece.plain_offset, piece.bytes);
        if (!ranges_.empty() && ranges_.back().offset + ranges_.back().bytes == piece.offset)
            ranges_.back().bytes += piece.bytes;
        else ranges_.push_back({piece.offset, piece.bytes, shift});
    }
    if (out_.direct()) cut_off_ends(0);
    count(ranges_);
    return move::write_ranges(out_, buffer, ranges_, drain_.write, {}, drain_.done_bytes, drain_.stop);
}

// Checks and writes the node's bytes of each variable. Bytes written by another descriptor than `all` are durable after
// this call. The owner of `all` must sync `all`.
Result<> write_datasets(const Bringing& what, sys::File& all) {
    AnyPlace out(all, *what.drain.store, what.path);
    FB_TRY(SharedDrain(what, out).write());
    FB_TRY(out.sync());
    return out.close();
}

}  // namespace

// The staged head goes into the region with its own record.
Result<> bring(const format::SharedFile&, const Bringing& what) {
    const auto& drain = what.drain;
    const auto region = format::encode_region(what.file, what.image);
    FB_TRY_ASSIGN(stored, format::open_head(region, what.name));
    FB_TRY_ASSIGN(arrival, look_at_region(*drain.store, what.path, stored));
    if (arrival == Arrival::whole) return {};
    const auto write = [&](sys::File& all, sys::File& own) -> Result<> {
        FB_TRY(write_datasets(what, all));
        PageBuffer aligned;
        const auto bytes = aligned.take(region.size());
        std::ranges::copy(region, bytes.begin());
        if (drain.stored_bytes != nullptr) *drain.stored_bytes += region.size();
        return own.write(0, bytes);
    };
    return write_region(*drain.store, what.path, drain.direct, stored, arrival, write);
}

}  // namespace forebay::drain
