// Any bytes as a chunk, under any filter values: decode() ends with an error or with exactly the requested bytes, and
// touches nothing else. The first 4 input bytes choose the filter and the number of values; the values follow.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/codec/codec.hpp"

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 4) return 0;
    const std::size_t values = data[1] % 9;
    if (size < 4 + values * 4) return 0;
    codec::Filter filter{(data[0] & 1) != 0 ? codec::zfp_id : codec::blosc_id, {}};
    filter.values.resize(values);
    if (values > 0) std::memcpy(filter.values.data(), data + 4, values * 4);
    std::vector<std::byte> stored(size - 4 - values * 4);
    if (!stored.empty()) std::memcpy(stored.data(), data + 4 + values * 4, stored.size());
    std::vector<std::byte> plain(static_cast<std::size_t>(data[2]) * 64 + 8);
    (void)codec::decode(filter, stored, plain);
    return 0;
}
