// The address of an agent that also writes for other nodes of its job: RUN/forebay/sessions/N/neighbour-K.json. Bytes:
// docs/formats/run.md. The address alone gives no access: this needs a token, which is never in a run.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::format {

struct NeighbourAddress {
    std::string host, virtual_node;      // the node of that agent
    std::uint32_t session = 0;           // the session in which it helps
    std::vector<std::string> addresses;  // "host:port", one for each network of the host
};

inline constexpr std::size_t neighbour_bytes_max = 65536;

/// `refused` if decode_neighbour() would not accept it.
Result<std::string> encode(const NeighbourAddress& neighbour);
/// `corrupt` for damage, `unsupported` for a newer version. `path` goes into the error.
Result<NeighbourAddress> decode_neighbour(std::string_view text, const std::string& path);

}  // namespace forebay::format
