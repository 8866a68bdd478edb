// Feeds any text to decode_manifest(), decode_mark() and decode_flagged(). They must not crash. Accepted text must
// encode and decode to the same text. A second attempt has a correct checksum.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/format/flagged.hpp"
#include "core/format/manifest.hpp"
#include "core/format/manifest_text.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

void try_mark(const std::string& text) {
    const auto mark = decode_mark(text, "fuzz.json");
    if (!mark) return;
    const auto encoded = encode_mark(*mark);
    if (!encoded || encode_mark(decode_mark(*encoded, "again.json").value()).value() != *encoded) std::abort();
}

void try_decode(const std::string& text) {
    try_mark(text);
    if (const auto flagged = decode_flagged(text, "fuzz.json"))
        if (encode_flagged(decode_flagged(encode_flagged(*flagged), "again.json").value()) != encode_flagged(*flagged))
            std::abort();
    const auto manifest = decode_manifest(text, "fuzz.json");
    if (!manifest) return;
    const auto encoded = encode_manifest(*manifest);
    const auto again = decode_manifest(encoded, "again.json");
    if (!again || encode_manifest(*again) != encoded || again->nodes != manifest->nodes ||
        again->marks.size() != manifest->marks.size())
        std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string text(reinterpret_cast<const char*>(data), size);
    try_decode(text);
    if (size >= crc_line_bytes) text.resize(size - crc_line_bytes);
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", crc32c(bytes_of(text)));
    text.append(crc_line_begin).append(digits).append(crc_line_end);
    try_decode(text);
    return 0;
}
