#include "path/restart/scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/base/attempt.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"

namespace forebay::restart {

namespace {

// From this size on a copy past the cache pays off: the application reads its restored arrays much later.
constexpr std::uint64_t stream_bytes_min = 256u << 10;

constexpr std::int64_t weight_of_all = 1 << 20, ranks_max = 1 << 20;
static_assert(ranks_max > limits::ranks_per_node_max);

}  // namespace

Scatter::Scatter(const format::NodeFile& file, const std::vector<format::Segment>& segments, std::vector<Take> takes)
    : file_(file),
      segments_(segments),
      takes_(std::move(takes)),
      needed_(segments.size(), 0),
      weights_(segments.size(), 0) {
    for (const auto& take : takes_) {
        // The taken part of the bytes that the take spans: all for a rank's own box, little for a neighbour's halo.
        const auto span_bytes = static_cast<double>(take.last_byte - take.first_byte + 1);
        const auto weight = 1 + static_cast<std::int64_t>(static_cast<double>(take.walk.total_bytes()) / span_bytes *
                                                          static_cast<double>(weight_of_all));
        const auto begin = file.blocks[take.block].offset_bytes;
        auto at = std::ranges::upper_bound(segments, begin + take.first_byte, {}, &format::Segment::offset);
        for (auto i = static_cast<std::size_t>(at - segments.begin()) - 1;
             i < segments.size() && segments[i].offset <= begin + take.last_byte; ++i) {
            needed_[i] = 1;
            touches_.push_back({i, static_cast<std::size_t>(&take - takes_.data())});
            weights_[i] = std::max(weights_[i], weight);
        }
    }
    std::ranges::sort(touches_, {}, &Touch::segment);
    verifies_ = needed_;
}

std::vector<std::int64_t> Scatter::claims(int rank) const {
    std::vector<std::int64_t> claims(weights_.size(), 0);
    for (std::size_t i = 0; i < claims.size(); ++i)
        // The rank makes equal weights different, so exactly one rank verifies a segment.
        if (weights_[i] != 0) claims[i] = weights_[i] * ranks_max + (ranks_max - 1 - rank);
    return claims;
}

void Scatter::settle(std::span<const std::int64_t> largest, int rank) {
    const auto own = claims(rank);
    for (std::size_t i = 0; i < own.size(); ++i) verifies_[i] = own[i] != 0 && own[i] == largest[i] ? 1 : 0;
}

std::span<const Scatter::Touch> Scatter::touches_of(std::size_t segment) const {
    const auto first = std::ranges::lower_bound(touches_, segment, {}, &Touch::segment);
    return {first, std::ranges::upper_bound(first, touches_.end(), segment, {}, &Touch::segment)};
}

void Scatter::copy(const Take& take, const format::Segment& segment, std::span<const std::byte> bytes) const {
    const auto begin = file_.blocks[take.block].offset_bytes + take.first_byte;  // the origin of the walk's offsets
    const auto end = segment.offset + segment.bytes;
    auto walk = take.walk;
    for (auto done = walk.seek(segment.offset - std::min(segment.offset, begin)); !walk.done(); walk.next(), done = 0) {
        const auto from = begin + static_cast<std::uint64_t>(walk.a()) + done;
        if (from >= end) return;
        const auto now = std::min(walk.run_bytes() - done, end - from);
        std::memcpy(take.to + walk.b() + static_cast<std::int64_t>(done), bytes.data() + (from - segment.offset), now);
    }
}

// The only destination of the whole segment; nullptr if it has other destinations.
std::byte* Scatter::whole(std::size_t number) const {
    const auto& segment = segments_[number];
    const auto touches = touches_of(number);
    if (segment.bytes < stream_bytes_min || touches.size() != 1) return nullptr;
    const auto& take = takes_[touches.front().take];
    const auto begin = file_.blocks[take.block].offset_bytes + take.first_byte;
    if (segment.offset < begin) return nullptr;
    auto walk = take.walk;
    const auto done = walk.seek(segment.offset - begin);
    if (walk.done() || begin + static_cast<std::uint64_t>(walk.a()) + done != segment.offset ||
        walk.run_bytes() - done < segment.bytes)
        return nullptr;
    return take.to + walk.b() + static_cast<std::int64_t>(done);
}

Result<> Scatter::take_one(std::size_t segment, std::span<const std::byte> bytes, const std::string& name) const {
    const auto& place = segments_[segment];
    if (std::byte* to = verifies_[segment] != 0 ? whole(segment) : nullptr; to != nullptr) {
        const auto actual = crc32c_copy(to, bytes.data(), bytes.size());
        return actual == file_.crc32c[place.word] ? Result<>() : format::damaged(file_, place, actual, name);
    }
    if (verifies_[segment] != 0) FB_TRY(format::check_segment(file_, place, bytes, name));
    for (const auto& touch : touches_of(segment)) copy(takes_[touch.take], place, bytes);
    return {};
}

Result<> Scatter::take(std::size_t first, std::size_t end, std::span<const std::byte> bytes, std::uint64_t offset,
                       const std::string& name, sys::Crew& crew) const {
    std::uint64_t needed_bytes = 0;
    for (auto i = first; i < end; ++i)
        if (needed_[i] != 0) needed_bytes += segments_[i].bytes;
    const auto take_needed = [&](std::size_t i) -> Result<> {
        const auto& segment = segments_[i];
        if (needed_[i] == 0) return {};
        if (segment.offset - offset + segment.bytes > bytes.size())
            return Error{ErrorKind::corrupt, fmt::format("{} is cut short.", name)};
        return take_one(i, bytes.subspan(segment.offset - offset, segment.bytes), name);
    };
    std::mutex mutex;  // taken after an error
    auto failed = end;
    Result<> first_error;
    const auto threads = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(needed_bytes / limits::bytes_a_thread_min, 1, crew.threads()));
    crew.each(end - first, threads, [&](std::uint64_t number) {
        const auto i = first + number;
        auto taken = attempt([&] { return take_needed(i); });
        if (taken) return;
        const std::lock_guard lock(mutex);
        if (i < failed) first_error = std::move(taken);
        failed = std::min(failed, i);
    });
    return first_error;
}

}  // namespace forebay::restart
