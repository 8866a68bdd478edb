#include "restart/scatter.hpp"

#include <algorithm>
#include <cstring>

#include "base/crc32c.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"

namespace forebay::restart {

namespace {

// From here on a copy past the cache pays: the application reads its restored arrays much later.
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
        // What is taken of the bytes that the take spans: all for a rank's own box, little for a neighbour's halo.
        const auto span_bytes = static_cast<double>(take.last_byte - take.first_byte + 1);
        const auto weight = 1 + static_cast<std::int64_t>(static_cast<double>(take.walk.total_bytes()) / span_bytes *
                                                          static_cast<double>(weight_of_all));
        const auto begin = file.blocks[take.block].offset_bytes;
        auto at = std::ranges::upper_bound(segments, begin + take.first_byte, {}, &format::Segment::offset);
        for (auto i = static_cast<std::size_t>(at - segments.begin()) - 1;
             i < segments.size() && segments[i].offset <= begin + take.last_byte; ++i) {
            needed_[i] = 1;
            weights_[i] = std::max(weights_[i], weight);
        }
    }
    verifies_ = needed_;
}

std::vector<std::int64_t> Scatter::claims(int rank) const {
    std::vector<std::int64_t> claims(weights_.size(), 0);
    for (std::size_t i = 0; i < claims.size(); ++i)
        if (weights_[i] != 0) claims[i] = weights_[i] * ranks_max + (ranks_max - 1 - rank);
    return claims;
}

void Scatter::settle(std::span<const std::int64_t> largest, int rank) {
    const auto own = claims(rank);
    for (std::size_t i = 0; i < own.size(); ++i) verifies_[i] = own[i] != 0 && own[i] == largest[i] ? 1 : 0;
}

void Scatter::enter(std::uint64_t end) {
    for (; next_ < takes_.size(); ++next_) {
        const auto& take = takes_[next_];
        if (file_.blocks[take.block].offset_bytes + take.first_byte >= end) return;
        active_.push_back({take});
    }
}

void Scatter::add(std::size_t segment, std::span<const std::byte> bytes) {
    const auto& place = segments_[segment];
    enter(place.offset + place.bytes);
    for (auto& [take, done] : active_) {
        const auto begin = file_.blocks[take.block].offset_bytes + take.first_byte;  // where the walk's offsets start
        while (!take.walk.done()) {
            const auto from = begin + static_cast<std::uint64_t>(take.walk.a()) + done;
            if (from >= place.offset + place.bytes) break;
            const auto now = std::min(take.walk.run_bytes() - done, place.offset + place.bytes - from);
            std::memcpy(take.to + take.walk.b() + static_cast<std::int64_t>(done), bytes.data() + (from - place.offset),
                        now);
            done += now;
            if (done < take.walk.run_bytes()) break;
            take.walk.next();
            done = 0;
        }
    }
    std::erase_if(active_, [](const Active& active) { return active.take.walk.done(); });
}

// The one place where all of a segment goes, if that is all that is taken of it.
std::byte* Scatter::whole(const format::Segment& segment) {
    if (segment.bytes < stream_bytes_min) return nullptr;
    enter(segment.offset + segment.bytes);
    if (active_.size() != 1) return nullptr;
    const auto& [take, done] = active_.front();
    const auto from =
        file_.blocks[take.block].offset_bytes + take.first_byte + static_cast<std::uint64_t>(take.walk.a()) + done;
    if (from != segment.offset || take.walk.run_bytes() - done < segment.bytes) return nullptr;
    return take.to + take.walk.b() + static_cast<std::int64_t>(done);
}

Result<> Scatter::take(std::size_t segment, std::span<const std::byte> bytes, const std::string& name) {
    const auto& place = segments_[segment];
    if (verifies_[segment] == 0) {
        add(segment, bytes);
        return {};
    }
    std::byte* to = whole(place);
    if (to == nullptr) {
        FB_TRY(format::check_segment(file_, place, bytes, name));
        add(segment, bytes);
        return {};
    }
    const auto found = crc32c_copy(to, bytes.data(), bytes.size());
    if (found != file_.crc32c[place.word]) return format::damaged(file_, place, found, name);
    auto& [take, done] = active_.front();
    done += place.bytes;
    if (done == take.walk.run_bytes()) {
        take.walk.next();
        done = 0;
    }
    if (take.walk.done()) active_.clear();
    return {};
}

}  // namespace forebay::restart
