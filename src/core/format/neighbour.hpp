// Where an agent is reached that also writes for other nodes of its job. RUN/forebay/sessions/N/neighbour-K.json;
// docs/formats/run.md. It admits nobody: that takes a token, which is never in a run.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::format {

struct NeighbourAddress {
    std::string host, virtual_node;      // the node of that agent
    std::uint32_t session = 0;           // in which it helps
    std::vector<std::string> addresses;  // "host:port", one for each network of the host
};

inline constexpr std::size_t neighbour_bytes_max = 65536;

/// `refused` for what decode_neighbour() would not accept.
Result<std::string> encode(const NeighbourAddress& neighbour);
/// `corrupt` for damage, `unsupported` for a newer version; `path` stands in the error.
Result<NeighbourAddress> decode_neighbour(std::string_view text, const std::string& path);

}  // namespace forebay::format
