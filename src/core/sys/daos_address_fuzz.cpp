// Any bytes as a DAOS address, and as the attribute of a path that stands for a container. The result is an error, or a
// place whose address reads back as the same place.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/sys/daos_address.hpp"

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto& place : {sys::daos_place_from(text), sys::daos_place_of_link(text)}) {
        if (!place) continue;
        const auto again = sys::daos_place_from(place->address());
        if (!again || again->address() != place->address()) std::abort();
        if (place->path.find("/../") != std::string::npos || place->path.ends_with("/..")) std::abort();
    }
    return 0;
}
