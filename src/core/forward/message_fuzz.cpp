// Feeds any bytes to the decoders of messages. They must not crash, and must not use more memory than the bytes could
// fill. Accepted input must encode to the same bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/forward/message.hpp"

using namespace forebay::forward;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
    if (const auto header = decode_header(bytes.first(std::min(size, header_bytes))))
        if (!std::ranges::equal(encode(*header), bytes.first(header_bytes))) std::abort();
    if (const auto request = decode_request(bytes))
        if (!std::ranges::equal(encode(*request), bytes)) std::abort();
    if (const auto answer = decode_answer(bytes)) {
        // An answer without an error may carry an unused error text.
        const auto again = decode_answer(encode(*answer));
        if (!again || encode(*again) != encode(*answer)) std::abort();
    }
    return 0;
}
