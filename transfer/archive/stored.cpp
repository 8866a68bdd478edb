#include "transfer/archive/stored.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "transfer/copy/file_data.hpp"

namespace forebay::archive {

namespace {

// 4,000,000 stretches. Their table takes as much memory as the map.
constexpr std::uint64_t map_bytes_max = 64u << 20;

Error bad_map(const char* why) { return {ErrorKind::corrupt, std::string("its map of holes ") + why}; }

// The number before the next line end; nothing if the bytes end before it.
Result<std::optional<std::uint64_t>> next_number(std::string_view& text) {
    const auto end = text.find('\n');
    if (end == text.npos) {
        if (text.size() > 20) return bad_map("has a number with too many digits");
        return std::optional<std::uint64_t>();
    }
    std::uint64_t number = 0;
    const auto [stop, failed] = std::from_chars(text.data(), text.data() + end, number);
    if (failed != std::errc() || stop != text.data() + end || end == 0) return bad_map("has an invalid number");
    text.remove_prefix(end + 1);
    return std::optional(number);
}

}  // namespace

Result<> find_stored(sys::OpenFile& file, Member& member) {
    const auto size = member.status.bytes;
    if (size == 0) FB_TRY(tree::check_empty(file));
    member.stored.clear();
    member.map_bytes = 0;
    member.has_holes = tree::has_holes(member.status);
    if (!member.has_holes) {
        if (size > 0) member.stored.push_back({.begin = 0, .end = size, .stored = 0});
        member.stored_bytes = size;
        return {};
    }
    std::uint64_t stored = 0;
    for (std::uint64_t at = 0; at < size;) {
        FB_TRY_ASSIGN(data, file.next_data(at));
        if (!data || data->begin >= size) break;
        // Whole blocks are stored, so neighbouring stretches may overlap after rounding.
        const auto end = std::min(round_up(data->end, block_bytes), size);
        auto begin = round_down(data->begin, block_bytes);
        if (!member.stored.empty() && member.stored.back().end >= begin) {
            begin = member.stored.back().end;
            member.stored.back().end = std::max(begin, end);
        } else {
            member.stored.push_back({.begin = begin, .end = end, .stored = stored});
        }
        stored = member.stored.back().stored + member.stored.back().end - member.stored.back().begin;
        at = std::max(data->end, at + 1);
    }
    member.map_bytes = map_of(member).size();
    if (member.map_bytes > map_bytes_max)
        return Error{ErrorKind::unsupported, "it has more pieces between holes than the map of an archive holds"};
    member.stored_bytes = member.map_bytes + stored;
    return {};
}

std::string map_of(const Member& member) {
    if (!member.has_holes) return {};
    const bool ends_with_hole = member.stored.empty() || member.stored.back().end < member.status.bytes;
    auto text = std::to_string(member.stored.size() + (ends_with_hole ? 1 : 0)) + "\n";
    for (const auto& stretch : member.stored)
        text += std::to_string(stretch.begin) + "\n" + std::to_string(stretch.end - stretch.begin) + "\n";
    if (ends_with_hole) text += std::to_string(member.status.bytes) + "\n0\n";
    text.resize(round_up(text.size(), block_bytes), '\0');
    return text;
}

Result<> add_stretch(std::vector<StoredStretch>& stretches, std::uint64_t begin, std::uint64_t bytes,
                     std::uint64_t file_bytes) {
    const auto last = stretches.empty() ? StoredStretch() : stretches.back();
    if (begin < last.end || begin > file_bytes || bytes > file_bytes - begin) return bad_map("does not match the file");
    if (bytes > 0)
        stretches.push_back({.begin = begin, .end = begin + bytes, .stored = last.stored + last.end - last.begin});
    return {};
}

Result<std::optional<SparseMap>> map_from(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
    const auto whole = text_of(bytes);
    auto text = whole;
    const auto need_more = [&]() -> Result<std::optional<SparseMap>> {
        if (whole.size() >= map_bytes_max) return bad_map("is too long");
        return std::optional<SparseMap>();
    };
    FB_TRY_ASSIGN(count, next_number(text));
    if (!count) return need_more();
    if (*count > map_bytes_max / 4) return bad_map("is too long");
    SparseMap map;
    map.stretches.reserve(std::min<std::uint64_t>(*count, whole.size() / 4));  // two digits and two line ends each
    for (std::uint64_t entry = 0; entry < *count; ++entry) {
        FB_TRY_ASSIGN(begin, next_number(text));
        if (!begin) return need_more();
        FB_TRY_ASSIGN(length, next_number(text));
        if (!length) return need_more();
        FB_TRY(add_stretch(map.stretches, *begin, *length, file_bytes));
    }
    map.bytes = round_up(whole.size() - text.size(), block_bytes);
    return std::optional(std::move(map));
}

std::vector<StoredStretch> parts_of(const Member& member, std::uint64_t begin, std::uint64_t end) {
    std::vector<StoredStretch> parts;
    auto at = std::ranges::upper_bound(member.stored, begin, {}, &StoredStretch::stored);
    if (at != member.stored.begin()) --at;
    for (; at != member.stored.end() && at->stored < end; ++at) {
        const auto first = std::max(begin, at->stored), last = std::min(end, at->stored + at->end - at->begin);
        if (first >= last) continue;
        const auto in_file = at->begin + first - at->stored;
        parts.push_back({.begin = in_file, .end = in_file + last - first, .stored = first});
    }
    return parts;
}

}  // namespace forebay::archive
