#include "core/describe/coverage.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/splitmix.hpp"
#include "core/describe/geometry.hpp"

namespace forebay {

namespace {

constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
__extension__ using Wide = unsigned __int128;

// The product has 122 bits. 2^61 is 1 modulo the prime, so the high bits are added to the low bits.
std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<Wide>(a) * b;
    return add_weights(static_cast<std::uint64_t>(product & prime), static_cast<std::uint64_t>(product >> 61));
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
    std::uint64_t result = 1;
    for (; exponent > 0; exponent >>= 1, base = times(base, base))
        if ((exponent & 1) != 0) result = times(result, base);
    return result;
}

// Returns a number from 2 to prime - 1 for each dimension.
std::uint64_t base_of(std::uint64_t seed, int dim) {
    // Not 1, because the series is divided by r - 1.
    return 2 + splitmix(seed, static_cast<std::uint64_t>(dim)) % (prime - 2);
}

}  // namespace

std::uint64_t add_weights(std::uint64_t a, std::uint64_t b) {
    const auto sum = a + b;
    return sum >= prime ? sum - prime : sum;
}

std::uint64_t cell_weight(const Box& box, std::uint64_t seed) {
    std::uint64_t weight = 1;
    for (int dim = 0; dim < box.lo.dims(); ++dim) {
        const auto r = base_of(seed, dim);
        // r^lo + ... + r^(lo+size-1) = r^lo (r^size - 1) / (r - 1), with 1/x = x^(prime-2).
        const auto series = times(add_weights(power(r, box.size[dim]), prime - 1), power(r - 1, prime - 2));
        weight = times(weight, times(power(r, box.lo[dim]), series));
    }
    return weight;
}

std::pair<std::size_t, std::size_t> find_overlap(std::span<const Box> boxes) {
    std::vector<std::size_t> order(boxes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return boxes[i].lo[0]; });
    std::vector<std::size_t> active;  // boxes that the sweep along dimension 0 has entered and not left
    for (const auto i : order) {
        std::erase_if(active, [&](std::size_t j) { return boxes[j].lo[0] + boxes[j].size[0] <= boxes[i].lo[0]; });
        // Only boxes that overlap along dimension 0 are compared.
        for (const auto j : active)
            if (intersect(boxes[i], boxes[j])) return {std::min(i, j), std::max(i, j)};
        active.push_back(i);
    }
    return {0, 0};
}

}  // namespace forebay
