// Changes a control page in any way: check() must not crash, and an accepted page leads to no place outside the page
// and its staging directory. Every 4 bytes of input are one change: 3 for the place, 1 for the value.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "path/node/control.hpp"

using namespace forebay;
using namespace forebay::node;

namespace {

void fill(Control& page) {
    page.stream_count = 2;
    page.slot_count = 3;
    set_text(page.streams[0].name, "restart");
    set_text(page.streams[1].name, "movie");
    for (std::uint32_t i = 0; i < 3; ++i) {
        page.slots[i].stream = i / 2;
        page.slots[i].number = i % 2;
    }
    page.magic = control_magic;
}

void check_promises(const Control& page) {
    if (page.flagged_put - page.flagged_taken > flagged_max) std::abort();
    for (const auto& flagged : page.flagged)
        if (flagged.stream >= streams_max || std::strlen(flagged.text.data()) >= flagged.text.size()) std::abort();
    for (std::uint32_t i = 0; i < page.slot_count; ++i) {
        const auto& slot = page.slots[i];
        const auto name = slot_file_name(page, slot);
        const bool inside = name.find('/') == name.npos && !name.starts_with('.') && name.ends_with(".h5");
        if (!inside || name_of(slot.state) == std::string("unknown")) std::abort();
        if (std::strlen(slot.error_text.data()) >= slot.error_text.size()) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Control page;
    fill(page);
    auto* bytes = reinterpret_cast<unsigned char*>(&page);
    for (; size >= 4; data += 4, size -= 4) bytes[(data[0] | data[1] << 8 | data[2] << 16) % sizeof page] = data[3];
    if (check(page, "/fuzz/control")) check_promises(page);
    return 0;
}
