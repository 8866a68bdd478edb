#include "path/catalog/plain_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/codec/codec.hpp"
#include "core/format/shared.hpp"

namespace forebay::catalog {

namespace {

// Reads neighbouring chunks of the file at once, up to this size.
constexpr std::uint64_t read_bytes_max = 8u << 20;

}  // namespace

/// The stored bytes of a chunk that a read needs.
struct PlainBytes::Want {
    std::uint64_t begin = 0, end = 0;
};

PlainBytes::Want PlainBytes::want_of(const format::Chunk& chunk, std::uint64_t offset, std::uint64_t end) const {
    if (chunk.filtered) return {chunk.stored_offset, chunk.stored_offset + chunk.stored_bytes};
    const auto first = std::max(offset, chunk.plain_offset);
    const auto last = std::min(end, chunk.plain_offset + chunk.plain_bytes);
    return {chunk.stored_offset + (first - chunk.plain_offset), chunk.stored_offset + (last - chunk.plain_offset)};
}

Error PlainBytes::damaged(const format::Chunk& chunk, const std::string& why) const {
    return {ErrorKind::corrupt, fmt::format("{}, bytes {}-{}, a chunk of variable \"{}\", is damaged: {}.", name_,
                                            chunk.stored_offset, chunk.stored_offset + chunk.stored_bytes - 1,
                                            head_.schema.variables[chunk.variable].name, why)};
}

Result<> PlainBytes::check_stored(const format::Chunk& chunk, std::span<const std::byte> stored) const {
    const auto sum = crc32c(stored);
    if (sum == chunk.crc32c) return {};
    return damaged(chunk, fmt::format("crc32c {:08x} read back, {:08x} expected", sum, chunk.crc32c));
}

Result<> PlainBytes::read_stored(const format::Chunk& chunk, std::span<std::byte> stored) const {
    FB_TRY(file_.read(chunk.stored_offset, stored));
    return check_stored(chunk, stored);
}

Result<> PlainBytes::decode(const format::Chunk& chunk, std::span<const std::byte> stored, std::uint64_t offset,
                            std::span<std::byte> bytes, PageBuffer& room) const {
    FB_TRY(check_stored(chunk, stored));
    const auto& variable = head_.chunk_table.variables[chunk.variable];
    const codec::Filter filter{variable.filter, variable.values};
    const auto from = std::max(offset, chunk.plain_offset);
    const auto to = std::min(offset + bytes.size(), chunk.plain_offset + chunk.plain_bytes);
    const auto place = bytes.subspan(from - offset, to - from);
    // A whole chunk is decoded directly into its place.
    const bool whole = place.size() == variable.chunk_bytes;
    const auto decoded = whole ? place : room.take(variable.chunk_bytes);
    if (const auto done = codec::decode(filter, stored, decoded); !done)
        return done.error().kind == ErrorKind::corrupt ? damaged(chunk, done.error().what) : done.error();
    if (!whole) std::memcpy(place.data(), decoded.data() + (from - chunk.plain_offset), place.size());
    return {};
}

// Reads stretches that lie close together at once, as whole pages: a row of a box is often shorter than a page.
Result<> PlainBytes::read_spread(std::uint64_t offset, std::span<std::byte> bytes, PageBuffer& room) const {
    std::vector<format::Stretch> run;
    const auto take = [&]() -> Result<> {
        if (run.empty()) return {};
        const auto first = round_down(run.front().offset, limits::page_bytes);
        const auto stored = room.take(round_up(run.back().offset + run.back().bytes, limits::page_bytes) - first);
        FB_TRY(file_.read(first, stored));
        for (const auto& stretch : run)
            std::memcpy(bytes.data() + (stretch.plain_offset - offset), stored.data() + (stretch.offset - first),
                        stretch.bytes);
        run.clear();
        return {};
    };
    Result<> outcome;
    format::for_each_stretch(head_, offset, bytes.size(), [&](format::Stretch next) {
        while (outcome && next.bytes > 0) {
            const auto end = run.empty() ? 0 : run.back().offset + run.back().bytes;
            const bool near = !run.empty() && next.offset >= end && next.offset - end <= limits::verify_gap_bytes &&
                              next.offset - run.front().offset < read_bytes_max;
            if (!near) outcome = take();
            const auto from = run.empty() ? next.offset : run.front().offset;
            const auto now = std::min(next.bytes, from + read_bytes_max - next.offset);
            run.push_back({next.plain_offset, next.offset, now});
            next = {next.plain_offset + now, next.offset + now, next.bytes - now};
        }
        return outcome.has_value();
    });
    return outcome ? take() : outcome;
}

Result<> PlainBytes::read(std::uint64_t offset, std::span<std::byte> bytes, Scratch& scratch) const {
    switch (head_.storage) {
        case format::Storage::plain: return file_.read(offset, bytes);
        case format::Storage::compressed: return read_chunks(offset, bytes, scratch);
        case format::Storage::spread: return read_spread(offset, bytes, scratch.stored);
    }
    return {};
}

Result<> PlainBytes::read_chunks(std::uint64_t offset, std::span<std::byte> bytes, Scratch& scratch) const {
    const auto& chunks = head_.chunk_table.chunks;
    const auto end = offset + bytes.size();
    auto at = std::ranges::upper_bound(chunks, offset, {},
                                       [](const auto& chunk) { return chunk.plain_offset + chunk.plain_bytes; });
    while (at != chunks.end() && at->plain_offset < end) {
        auto run = want_of(*at, offset, end);
        auto last = at + 1;
        for (; last != chunks.end() && last->plain_offset < end; ++last) {
            const auto next = want_of(*last, offset, end);
            if (next.begin < run.end || next.begin - run.end > limits::verify_gap_bytes ||
                next.end - run.begin > read_bytes_max)
                break;
            run.end = next.end;
        }
        // Whole pages: past the page cache they are read without a copy.
        const auto first = round_down(run.begin, limits::page_bytes);
        const auto stored = scratch.stored.take(round_up(run.end, limits::page_bytes) - first);
        FB_TRY(file_.read(first, stored));
        for (; at != last; ++at) {
            const auto want = want_of(*at, offset, end);
            const auto own = stored.subspan(want.begin - first, want.end - want.begin);
            if (at->filtered) {
                FB_TRY(decode(*at, own, offset, bytes, scratch.decoded));
            } else {
                const auto from = std::max(offset, at->plain_offset);
                std::memcpy(bytes.data() + (from - offset), own.data(), own.size());
            }
        }
    }
    return {};
}

}  // namespace forebay::catalog
