#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bindings/compat/genericio/pending.hpp"
#include "bindings/compat/genericio/state.hpp"
#include "core/base/try.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::genericio {

namespace {

Error refusal(const std::string& why, const std::string& next) { return {ErrorKind::refused, why, "", next}; }

// Without check_partitions it opens only one part.
Result<format::Set> open_set(const std::string& file, bool check_partitions) {
    auto& store = sys::posix_store();
    if (check_partitions) return format::open_set(store, file);
    FB_TRY_ASSIGN(in, store.open(file, sys::Access::read));
    FB_TRY_ASSIGN(header, format::read_header(*in, file));
    format::Set set;
    for (std::uint32_t rank = 0; rank < header.ranks.size(); ++rank)
        set.ranks.push_back({0, rank, header.ranks[rank].global_rank});
    set.parts.push_back({file, std::move(header)});
    return set;
}

Result<> check_mismatch(const Data& data, const format::Set& set) {
    const auto ranks = static_cast<std::size_t>(data.ranks.world->size());
    if (set.ranks.size() != ranks)
        return refusal(
            fmt::format("{} was written by {} ranks, but {} ranks read it.", data.file, set.ranks.size(), ranks),
            "open it with MismatchRedistribute or MismatchAllowed, or with the same number of ranks");
    if (data.ranks.is_grid && set.header().dims != data.ranks.dims) {
        const auto& theirs = set.header().dims;
        const auto& ours = data.ranks.dims;
        return refusal(fmt::format("{} was written by a grid of {} x {} x {} ranks, but {} x {} x {} ranks read it.",
                                   data.file, theirs[0], theirs[1], theirs[2], ours[0], ours[1], ours[2]),
                       "open it with MismatchRedistribute or MismatchAllowed, or with the same grid");
    }
    return {};
}

// Copies the bytes [begin, end) of the block to `to`. Reads the rest of the block only for its checksum.
Result<> copy_block(sys::File& file, const foreign::Sealed& block, std::uint64_t begin, std::uint64_t end,
                    std::byte* to) {
    foreign::SealedReader reader;
    FB_TRY(reader.begin(file, block));
    std::vector<std::byte> aside;
    for (std::uint64_t at = 0; at < block.plain_bytes;) {
        // Three parts: before the wanted bytes, the bytes, and after them. Unwanted bytes are read in windows of
        // bounded size.
        const bool wanted = at >= begin && at < end;
        const auto stop = at < begin ? begin : at < end ? end : block.plain_bytes;
        auto now = std::min(stop, block.plain_bytes) - at;
        if (!wanted) {
            now = std::min(now, foreign::limits::window_bytes);
            aside.resize(now);
        }
        FB_TRY(reader.next(wanted ? std::span(to + (at - begin), now) : std::span(aside)));
        at += now;
    }
    return {};
}

Error damaged(const Data& data, const std::string& variable, int rank, const Error& error) {
    if (error.kind != ErrorKind::corrupt) return error;
    return {ErrorKind::corrupt, fmt::format("{}: '{}' of rank {}: {}", data.file, variable, rank, error.what), "",
            fmt::format("forebay verify {}", data.file)};
}

}  // namespace

std::vector<int> share_of(int file_ranks, int rank, int ranks) {
    const int each = file_ranks / ranks, more = file_ranks % ranks;
    if (each == 0) return ranks - rank <= more ? std::vector<int>{ranks - rank - 1} : std::vector<int>{};
    const int before = std::max(0, rank - (ranks - more));  // ranks below this rank that have one more
    std::vector<int> share(static_cast<std::size_t>(each + (ranks - rank <= more ? 1 : 0)));
    for (std::size_t i = 0; i < share.size(); ++i) share[i] = rank * each + before + static_cast<int>(i);
    return share;
}

Result<> open(Data& data, Mismatch mismatch, bool check_partitions) {
    data.opened.reset();
    // The file may still be made by its last writer. One rank waits for all.
    FB_TRY(made::on_first_rank(data.ranks, [&] { return await_file(data.file); }));
    auto set = open_set(data.file, check_partitions);
    const auto own_result = [&]() -> Result<> {
        if (!set) return set.error();
        return mismatch == Mismatch::disallowed ? check_mismatch(data, *set) : Result<>();
    }();
    FB_TRY(comm::agree(*data.ranks.world, own_result));
    Opened opened{.set = std::move(*set), .redistributes = mismatch == Mismatch::redistribute, .sources = {}};
    const int rank = data.ranks.world->rank();
    opened.sources = opened.redistributes
                         ? share_of(static_cast<int>(opened.set.ranks.size()), rank, data.ranks.world->size())
                         : std::vector<int>{rank};
    data.opened = std::make_shared<const Opened>(std::move(opened));
    return {};
}

Result<std::uint64_t> read(const Data& data, int file_rank, std::uint64_t first, std::uint64_t rows, std::uint64_t at) {
    const auto& set = data.opened->set;
    const auto& place = set.ranks[static_cast<std::size_t>(file_rank)];
    const auto& part = set.parts[place.part];
    if (first > set.rank(static_cast<std::size_t>(file_rank)).elements ||
        rows > set.rank(static_cast<std::size_t>(file_rank)).elements - first)
        return refusal(fmt::format("rank {} of {} has no records {} to {}.", file_rank, data.file, first, first + rows),
                       "readNumElems() returns the number");
    FB_TRY_ASSIGN(file, sys::posix_store().open(part.path, sys::Access::read));
    std::uint64_t bytes = 0;
    for (const auto& column : data.columns) {
        const auto& wanted = column.variable;
        const auto variable = std::ranges::find(part.header.variables, wanted.name, &format::GioVariable::name);
        if (variable == part.header.variables.end())
            return refusal(fmt::format("{} has no variable '{}'.", data.file, wanted.name),
                           "forebay show " + data.file);
        constexpr auto numbers = format::is_float | format::is_signed;
        if (variable->record_bytes != wanted.record_bytes || (variable->flags & numbers) != (wanted.flags & numbers))
            return refusal(
                fmt::format("'{}' in {} has records of {} bytes ({}), but the call reads {} bytes ({}).", wanted.name,
                            data.file, variable->record_bytes, format::flags_text(variable->flags & numbers),
                            wanted.record_bytes, format::flags_text(wanted.flags & numbers)),
                "read it as it was written. forebay show " + data.file);
        const auto index = static_cast<std::size_t>(variable - part.header.variables.begin());
        FB_TRY_ASSIGN(block, part.header.sealed(place.rank, index, part.path));
        auto* to = column.data + at * wanted.record_bytes;
        const auto done =
            copy_block(*file, block, first * wanted.record_bytes, (first + rows) * wanted.record_bytes, to);
        if (!done) return damaged(data, wanted.name, file_rank, done.error());
        if (part.header.big_endian && variable->element_bytes > 1)
            for (std::uint64_t i = 0; i < rows * wanted.record_bytes; i += variable->element_bytes)
                std::reverse(to + i, to + i + variable->element_bytes);
        bytes += block.stored.bytes;
    }
    return bytes;
}

}  // namespace forebay::genericio
