// Any bytes go to the decoder of messages and to the reader of their stream: no crash, and no more memory than the
// bytes could fill. An accepted message is encoded to the same bytes. The same bytes as a list of paths: an error, or
// paths that another process reads. The same bytes as a block of paths: no crash.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "transfer/team/team_message.hpp"
#include "transfer/team/team_order.hpp"
#include "transfer/team/team_words.hpp"
#include "transfer/walk/path_list.hpp"

using namespace forebay::tree;

namespace {

constexpr std::size_t list_bytes = 1u << 10;  // of memory: runs and blocks go to files, too

}  // namespace

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
        const auto list = path_list({reinterpret_cast<const char*>(data), size}, by_nul, list_bytes);
        if (!list) continue;
        const auto blocks = (*list)->blocks_from(0).value();
        PathList again(list_bytes);
        for (const auto& block : blocks)
            if (!again.append_block(block)) std::abort();
        if (!again.close() || again.blocks_from(0).value() != blocks) std::abort();
    }
    static_cast<void>(PathList(list_bytes).append_block({reinterpret_cast<const char*>(data), size}));
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
