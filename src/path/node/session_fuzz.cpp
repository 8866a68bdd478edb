// Passes any text to decode_session(): it must not crash. An accepted text has valid options for an agent, and writing
// and reading it again gives the same text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/sys/far_module.hpp"
#include "path/node/staging.hpp"

using namespace forebay;
using namespace forebay::node;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto session = decode_session({reinterpret_cast<const char*>(data), size}, "/fuzz/session.json");
    if (!session) return 0;
    const auto text = encode_session(*session);
    if (!check(session->agent) || !sys::is_whole(session->run) || !text) std::abort();
    const auto again = decode_session(*text, "/again/session.json");
    if (!again || *encode_session(*again) != *text) std::abort();
    return 0;
}
