// Feeds any text to decode_options(). It must not crash. An accepted text has options that can work; any other text is
// `refused`, never another kind of error.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "bindings/api/state.hpp"

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    auto options = decode_options(text, "fuzz.toml");
    if (!options) {
        if (options.error().kind != ErrorKind::refused) std::abort();
        return 0;
    }
    if (options->run.empty()) options->run = "run";
    if (!check(*options)) std::abort();
    return 0;
}
