// Any bytes given to the decoder of messages between processes that share a tree, and to the reader of their stream: no
// crash, no more memory than the bytes could fill; what is accepted is encoded to the same bytes. The same bytes as a
// list of paths: an error, or names whose list has the same names.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tree/filter.hpp"
#include "tree/team_message.hpp"
#include "tree/team_order.hpp"
#include "tree/team_words.hpp"

using namespace forebay::tree;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    if (const auto message = decode_team_message(bytes)) {
        if (!std::ranges::equal(encode(*message), bytes)) std::abort();
        if (const auto order = order_from(*message); order && message_of(*order) != *message) std::abort();
        if (walked_of(*message).size() != message->texts.size()) std::abort();
        static_cast<void>(unkept_of(*message));
        static_cast<void>(error_of(*message));
    }
    for (const bool by_nul : {false, true}) {
        const auto names = wished_names({reinterpret_cast<const char*>(data), size}, by_nul);
        if (!names) continue;
        const auto list = list_of(*names);
        if (list_of(wished_names(list, true).value()) != list) std::abort();
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
