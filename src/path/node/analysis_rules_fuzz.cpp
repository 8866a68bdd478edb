// Passes any text to decode_analyses(): it must not crash. An accepted text can be made and is written as it was read.
// Any other text is `corrupt`.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/describe/analysis_list.hpp"
#include "path/node/analysis_rules.hpp"

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto analyses = node::decode_analyses(text);
    if (!analyses) {
        if (analyses.error().kind != ErrorKind::corrupt) std::abort();
        return 0;
    }
    if (node::encode_analyses(*analyses) != text || !describe::check_values("stream", *analyses)) std::abort();
    return 0;
}
