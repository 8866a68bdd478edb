#include "core/base/crc32c/kernel.hpp"
#include "core/base/crc32c/lanes.hpp"

namespace forebay::crc32c_kernels {

namespace {

// Slicing by 16: M. E. Kounavis and F. L. Berry, "Novel table lookup-based algorithms for high-performance CRC
// generation" (2008), with a table for each of 16 bytes. Two lanes are twice as fast as one, more are no faster.
struct Slices {
    static constexpr std::size_t bytes = 16;

    static std::uint32_t take(std::uint32_t state, const std::byte* from) {
        std::uint64_t first, second;
        std::memcpy(&first, from, sizeof first);
        std::memcpy(&second, from + sizeof first, sizeof second);
        first ^= state;
        const auto pair = [&](int i) {
            return after[15 - i].of[first >> 8 * i & 0xff] ^ after[7 - i].of[second >> 8 * i & 0xff];
        };
        return ((pair(0) ^ pair(1)) ^ (pair(2) ^ pair(3))) ^ ((pair(4) ^ pair(5)) ^ (pair(6) ^ pair(7)));
    }
    static std::uint32_t byte(std::uint32_t state, std::uint8_t data) {
        return after[0].of[(state ^ data) & 0xffu] ^ state >> 8;
    }
    static void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) {
        std::memcpy(to, from, size_bytes);
    }
    static void fence() {}

    static constexpr ByteTable after[bytes] = {table_after(1),  table_after(2),  table_after(3),  table_after(4),
                                               table_after(5),  table_after(6),  table_after(7),  table_after(8),
                                               table_after(9),  table_after(10), table_after(11), table_after(12),
                                               table_after(13), table_after(14), table_after(15), table_after(16)};
};

bool works_everywhere() { return true; }

}  // namespace

const Kernel portable{"portable", works_everywhere, sum_lanes<Slices, 2>, copy_lanes<Slices, 2>};

}  // namespace forebay::crc32c_kernels
