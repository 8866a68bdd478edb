#include "core/comm/alike.hpp"

#include <algorithm>

#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"

namespace forebay::comm {

Result<std::optional<Unlike>> find_unlike(Group& group, std::span<const std::byte> own_bytes) {
    Unlike unlike;
    FB_TRY(agree(group, [&] {
        if (group.rank() == 0) unlike.of_first.assign(own_bytes.begin(), own_bytes.end());
    }));
    FB_TRY(group.broadcast_sized(unlike.of_first, 0));
    const bool differs = !std::ranges::equal(unlike.of_first, own_bytes);
    unlike.others = static_cast<int>(group.sum(differs ? 1 : 0));
    if (unlike.others == 0) return std::optional<Unlike>();
    unlike.other = group.size() - static_cast<int>(group.max(differs ? group.size() - group.rank() : 0));
    FB_TRY(agree(group, [&] {
        if (group.rank() == unlike.other) unlike.of_other.assign(own_bytes.begin(), own_bytes.end());
    }));
    FB_TRY(group.broadcast_sized(unlike.of_other, unlike.other));
    return std::optional(std::move(unlike));
}

Result<std::optional<Unlike>> agree_alike(Group& group, const Result<>& own_outcome, std::span<const std::byte> bytes) {
    const std::int64_t sum = crc32c(bytes), size = static_cast<std::int64_t>(bytes.size());
    std::int64_t maxima[] = {own_outcome ? 0 : 1, sum, ~sum, size, ~size};
    group.max(maxima);
    const auto [failures, sum_max, sum_inverse_max, size_max, size_inverse_max] = maxima;
    if (failures != 0) return agree(group, own_outcome).error();
    if (is_alike(sum_max, sum_inverse_max) && is_alike(size_max, size_inverse_max)) return std::optional<Unlike>();
    return find_unlike(group, bytes);
}

}  // namespace forebay::comm
