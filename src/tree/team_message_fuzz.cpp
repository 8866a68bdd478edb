// Any bytes given to the decoder of messages between processes that share a tree, and to the reader of their stream: no
// crash, no more memory than the bytes could fill; what is accepted is encoded to the same bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tree/team_message.hpp"
#include "tree/team_order.hpp"

using namespace forebay::tree;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    if (const auto message = decode_team_message(bytes)) {
        if (!std::ranges::equal(encode(*message), bytes)) std::abort();
        if (const auto order = order_from(*message); order && message_of(*order) != *message) std::abort();
    }
    TeamStream stream;
    TeamMessage message;
    for (std::size_t at = 0; at < size; at += 7) {
        stream.add(bytes.subspan(at, std::min<std::size_t>(7, size - at)));
        while (true) {
            const auto come = stream.next(message);
            if (!come) return 0;
            if (!*come) break;
        }
    }
    return 0;
}
