// Gives any bytes to decode_part(), with and without a correct checksum: no crash, no huge allocation. An accepted part
// encodes to the same bytes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "core/base/crc32c.hpp"
#include "insight/insitu/parts.hpp"

using namespace forebay;

namespace {

void try_part(std::span<const std::byte> bytes) {
    const auto part = insitu::decode_part(bytes, "part");
    if (!part) {
        if (part.error().kind != ErrorKind::corrupt && part.error().kind != ErrorKind::unsupported) std::abort();
        return;
    }
    if (!std::ranges::equal(insitu::encode_part(*part), bytes)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto given = std::as_bytes(std::span(data, size));
    try_part(given);
    constexpr std::size_t crc_bytes = sizeof(std::uint32_t);
    std::vector<std::byte> right(given.begin(), given.end());
    if (right.size() >= crc_bytes) right.resize(right.size() - crc_bytes);
    const std::array crc{crc32c(right)};
    const auto of_crc = std::as_bytes(std::span(crc));
    right.insert(right.end(), of_crc.begin(), of_crc.end());
    try_part(right);
    return 0;
}
