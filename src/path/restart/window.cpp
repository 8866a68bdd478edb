#include "path/restart/window.hpp"

#include <algorithm>
#include <atomic>
#include <deque>

#include "core/base/attempt.hpp"
#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/thread.hpp"

namespace forebay::restart {

namespace {

// Measured on a virtual disk: larger reads are no faster, and a ring larger than the cache is slower.
constexpr std::uint64_t buffer_bytes_most = 4u << 20;
// Two whole segments and the pages around them.
constexpr std::uint64_t buffer_bytes_least = 2 * limits::segment_bytes + 2 * limits::page_bytes;
// A rank with an error does not ring: the other ranks look for it this often.
constexpr std::chrono::milliseconds failure_pause{50};

}  // namespace

// The state of one buffer, shared by the ranks. Its k-th piece may be read into it from turn 2 k on, by one lane, and
// is there from turn 2 k + 1 on. The last rank that leaves it sets turn 2 k + 2.
struct Window::Buffer {
    std::atomic<std::uint32_t> turn{0};
    std::atomic<std::uint32_t> left{0};    // ranks that are done with the piece
    std::atomic<std::uint32_t> failed{0};  // only in the first buffer: a rank has an error, all must leave
};

Result<Window> Window::open(comm::Group& node, sys::Store& store, const std::string& path, std::uint64_t window_bytes) {
    Window window;
    window.node_ = &node;
    window.buffer_bytes_ =
        std::clamp(round_down(window_bytes / 4, limits::page_bytes), buffer_bytes_least, buffer_bytes_most);
    window.buffers_ = std::max<std::uint64_t>(window_bytes / window.buffer_bytes_, 2);
    const auto total =
        round_up(window.buffers_ * sizeof(Buffer), limits::page_bytes) + window.buffers_ * window.buffer_bytes_;
    const auto map = [&](Result<sys::Mapping> mapping) -> Result<> {
        if (!mapping) return mapping.error();
        window.mapping_ = std::move(*mapping);
        return {};
    };
    // The first rank makes the file before the other ranks open it.
    const bool leads = node.rank() == 0;
    FB_TRY(comm::agree(node, [&] { return leads ? map(sys::Mapping::create(path, total)) : Result<>(); }));
    FB_TRY(comm::agree(node, [&] { return leads ? Result<>() : map(sys::Mapping::open(path, true)); }));
    // All ranks have mapped the file, so no crash leaves it behind from here on.
    FB_TRY(comm::agree(node, [&] { return leads ? store.remove(path) : Result<>(); }));
    return window;
}

// A new file is all zeros, and so is a new Buffer.
Window::Buffer& Window::buffer(std::uint64_t piece) {
    return reinterpret_cast<Buffer*>(mapping_.bytes().data())[piece % buffers_];
}

std::span<std::byte> Window::place(std::uint64_t piece) {
    return mapping_.bytes().last(buffers_ * buffer_bytes_).subspan(piece % buffers_ * buffer_bytes_, buffer_bytes_);
}

std::vector<Window::Piece> Window::cut(const std::vector<format::Segment>& segments,
                                       const std::vector<std::int64_t>& needed) const {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (needed[i] == 0) continue;
        const auto begin = round_down(segments[i].offset, limits::page_bytes);
        const auto end = round_up(segments[i].offset + segments[i].bytes, limits::page_bytes);
        // Gaps below 64 KiB are read too: a disk takes longer to start another read.
        if (!pieces.empty() && begin <= pieces.back().offset + pieces.back().bytes + limits::packed_variable_bytes &&
            end - pieces.back().offset <= buffer_bytes_) {
            pieces.back().last = i;
            pieces.back().bytes = end - pieces.back().offset;
        } else {
            pieces.push_back({i, i, begin, end - begin});
        }
    }
    return pieces;
}

// The first turn at which the buffer may be reused for this piece.
std::uint32_t Window::turn_of(std::uint64_t piece) const { return static_cast<std::uint32_t>(2 * (piece / buffers_)); }

bool Window::reached(Buffer& buffer, std::uint32_t turn) {
    for (;;) {
        const auto seen = buffer.turn.load(std::memory_order_acquire);
        if (seen >= turn) return true;
        if (this->buffer(0).failed.load() != 0) return false;
        sys::wait_on(buffer.turn, seen, failure_pause);
    }
}

// In each group of lanes() pieces, rank r reads the r-th piece, the r + ranks-th and so on. With 8 lanes and 3 ranks
// rank 1 reads the pieces 1, 4, 7, 9, 12, 15, 17 and so on.
std::uint64_t Window::own_lanes() const {
    const auto rank = static_cast<std::uint64_t>(node_->rank()), ranks = static_cast<std::uint64_t>(node_->size());
    return rank < lanes() ? (lanes() - rank - 1) / ranks + 1 : 0;
}

std::uint64_t Window::own_piece(std::uint64_t count) const {
    const auto rank = static_cast<std::uint64_t>(node_->rank()), ranks = static_cast<std::uint64_t>(node_->size());
    return count / own_lanes() * lanes() + rank + count % own_lanes() * ranks;
}

Result<bool> Window::fill(const catalog::PlainBytes& source, const Piece& piece, std::uint64_t number,
                          catalog::PlainBytes::Scratch& scratch) {
    const auto turn = turn_of(number);
    auto& own = buffer(number);
    if (!reached(own, turn)) return false;
    // Another rank may have set the turn, after reads of its own mapping. This load orders our write after this rank's
    // reads.
    (void)own.left.load(std::memory_order_acquire);
    FB_TRY(source.read(piece.offset, place(number).first(piece.bytes), scratch));
    own.turn.store(turn + 1, std::memory_order_release);
    sys::wake_all(own.turn);
    return true;
}

// Every reader thread takes this rank's next piece, so any number of threads reads the pieces in order.
Result<> Window::fill_on(const catalog::PlainBytes& source, const std::vector<Piece>& pieces, std::uint64_t end,
                         std::atomic<std::uint64_t>& next, catalog::PlainBytes::Scratch& scratch) {
    if (own_lanes() == 0) return {};
    for (;;) {
        auto count = next.load();
        do {
            if (own_piece(count) >= end) return {};
        } while (!next.compare_exchange_weak(count, count + 1));
        const auto i = own_piece(count);
        FB_TRY_ASSIGN(filled, fill(source, pieces[i], pieces_done_ + i, scratch));
        if (!filled) return {};
    }
}

Result<> Window::empty(const std::string& name, const std::vector<Piece>& pieces, const Scatter& scatter,
                       sys::Crew& crew, const FillUpTo& fill_up_to) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        FB_TRY(fill_up_to(i + 1));
        const auto& piece = pieces[i];
        const auto number = pieces_done_ + i;
        const auto turn = turn_of(number);
        const auto& wanted = scatter.needed();
        const bool takes = std::any_of(wanted.begin() + static_cast<std::ptrdiff_t>(piece.first),
                                       wanted.begin() + static_cast<std::ptrdiff_t>(piece.last) + 1,
                                       [](char segment) { return segment != 0; });
        auto& here = buffer(number);
        // Without a need for the bytes, a rank only waits until the buffer is this piece's.
        if (!reached(here, takes ? turn + 1 : turn)) return {};
        if (takes) FB_TRY(scatter.take(piece.first, piece.last + 1, place(number), piece.offset, name, crew));
        // A rank that takes nothing also counts, so the buffer is free only after all ranks.
        if (here.left.fetch_add(1) + 1 < static_cast<std::uint32_t>(node_->size())) continue;
        here.left.store(0);
        here.turn.store(turn + 2, std::memory_order_release);
        sys::wake_all(here.turn);
    }
    return {};
}

Result<> Window::read(const catalog::PlainBytes& source, const std::string& name,
                      const std::vector<format::Segment>& segments, Scatter& scatter, std::vector<std::int64_t>& claims,
                      sys::Crew& crew) {
    node_->max(claims);
    const auto noted = [&](Result<> end) {
        if (!end) buffer(0).failed.store(1);
        return end;
    };
    std::deque<Result<>> ends;  // a deque, because its elements never move
    std::vector<Piece> pieces;
    std::atomic<std::uint64_t> next{0};
    std::vector<sys::Thread> readers;
    const auto read_beside = [&](Result<>& end) {
        end = noted(attempt([&] {
            catalog::PlainBytes::Scratch scratch;
            return fill_on(source, pieces, pieces.size(), next, scratch);
        }));
    };
    // If some readers cannot start, the restart goes on: the others read everything.
    const auto start_readers = [&]() -> Result<> {
        readers.reserve(own_lanes());
        while (readers.size() < own_lanes()) {
            auto& end = ends.emplace_back();
            FB_TRY_ASSIGN(reader, sys::Thread::start([&] { read_beside(end); }));
            readers.push_back(std::move(reader));
        }
        return {};
    };
    const auto own_end = noted(attempt([&]() -> Result<> {
        scatter.settle(claims, node_->rank());
        pieces = cut(segments, claims);
        static_cast<void>(attempt(start_readers));
        // Without a reader this rank reads each of its pieces when it needs it. All pieces before are there by then, or
        // are read by ranks that have not come so far.
        catalog::PlainBytes::Scratch scratch;
        return empty(name, pieces, scatter, crew, [&](std::uint64_t end) {
            return readers.empty() ? fill_on(source, pieces, end, next, scratch) : Result<>();
        });
    }));
    readers.clear();  // joins
    pieces_done_ += pieces.size();
    const auto failed = std::ranges::find_if(ends, [](const Result<>& end) { return !end; });
    return comm::agree(*node_, failed == ends.end() ? own_end : *failed);
}

}  // namespace forebay::restart
