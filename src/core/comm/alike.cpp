#include "core/comm/alike.hpp"

#include <algorithm>

#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"

namespace forebay::comm {

Result<std::optional<Unlike>> find_unlike(Group& group, std::span<const std::byte> mine) {
    Unlike found;
    FB_TRY(agree(group, [&] {
        if (group.rank() == 0) found.of_first.assign(mine.begin(), mine.end());
    }));
    FB_TRY(group.broadcast_sized(found.of_first, 0));
    const bool differs = !std::ranges::equal(found.of_first, mine);
    found.others = static_cast<int>(group.sum(differs ? 1 : 0));
    if (found.others == 0) return std::optional<Unlike>();
    found.other = group.size() - static_cast<int>(group.max(differs ? group.size() - group.rank() : 0));
    FB_TRY(agree(group, [&] {
        if (group.rank() == found.other) found.of_other.assign(mine.begin(), mine.end());
    }));
    FB_TRY(group.broadcast_sized(found.of_other, found.other));
    return std::optional(std::move(found));
}

Result<std::optional<Unlike>> agree_alike(Group& group, const Result<>& mine, std::span<const std::byte> bytes) {
    const std::int64_t sum = crc32c(bytes), size = static_cast<std::int64_t>(bytes.size());
    std::int64_t numbers[] = {mine ? 0 : 1, sum, ~sum, size, ~size};
    group.max(numbers);
    if (numbers[0] != 0) return agree(group, mine).error();
    if (is_alike(numbers[1], numbers[2]) && is_alike(numbers[3], numbers[4])) return std::optional<Unlike>();
    return find_unlike(group, bytes);
}

}  // namespace forebay::comm
