// Reads any bytes as a file of timings. It must not crash. No index of the result may be out of range, and the result
// must come back the same after writing and reading.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/format/timing.hpp"

using namespace forebay::format;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto timings = decode_timings({reinterpret_cast<const std::byte*>(data), size});
    if (timings.damaged_bytes > size) std::abort();
    for (const auto& batch : timings.batches) {
        const auto bytes = encode(batch);
        if (bytes.size() > timing_batch_bytes_max) std::abort();
        const auto again = decode_timings(bytes);
        if (again.batches.size() != 1 || again.damaged_bytes != 0) std::abort();
        for (const auto& timing : again.batches[0].timings)
            if (timing.target != no_target && timing.target >= again.batches[0].targets.size()) std::abort();
    }
    return 0;
}
