// Any bytes as the journal of an export or of a large file's copy: an error, or a journal that is written as the same
// bytes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/move/journal.hpp"

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto journal = move::journal_from(text);
    if (journal && move::text_of(*journal) != text) std::abort();
    return 0;
}
