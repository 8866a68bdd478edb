// Any output of hosts over ssh, and any text in a site's file.

#include "insight/advice/preflight/ask.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace forebay::advice;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto answer = decode_answer(text)) {
        const auto line = encode(*answer);
        if (!decode_answer(line)) std::abort();
    }
    if (const auto question = decode_question(text))
        if (!decode_question(encode(*question))) std::abort();
    static_cast<void>(Rules::parse(text, "site"));
    return 0;
}
