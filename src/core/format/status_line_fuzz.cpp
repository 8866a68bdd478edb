// Feeds any text to decode_status(). It must not crash. Accepted text fits, and encodes and decodes to the same text. A
// second attempt has the correct size and checksum.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/format/manifest_text.hpp"
#include "core/format/status_line.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

void try_decode(const std::string& text) {
    const auto line = decode_status(text, "fuzz.json");
    if (!line) return;
    const auto encoded = encode(*line);
    if (encoded.size() != status_bytes || line->streams.size() > status_bytes) std::abort();
    const auto again = decode_status(encoded, "again.json");
    if (!again || encode(*again) != encoded) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string text(reinterpret_cast<const char*>(data), size);
    try_decode(text);
    const auto crc = text.rfind(crc_line_begin);
    if (crc != std::string::npos) text.resize(crc);
    if (text.size() + crc_line_bytes >= status_bytes) text.resize(status_bytes - crc_line_bytes - 1);
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", crc32c(bytes_of(text)));
    text.append(crc_line_begin).append(digits).append(crc_line_end);
    text.resize(status_bytes - 1, ' ');
    try_decode(text + '\n');
    return 0;
}
