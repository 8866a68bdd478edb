// Bytes: docs/formats/run.md.

#include "core/format/neighbour.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/format/json_read.hpp"
#include "core/format/json_text.hpp"

namespace forebay::format {

namespace {

constexpr std::string_view neighbour_kind = "neighbour";
constexpr std::uint64_t neighbour_version = 1;
// A host has an address for each of its networks.
constexpr std::size_t neighbour_addresses_max = 64, neighbour_text_max = 255;

bool is_good(const NeighbourAddress& neighbour) {
    const auto is_name = [](const std::string& text) {
        return !text.empty() && text.size() <= neighbour_text_max && json::is_text(text);
    };
    // An address has no comma, because lists of addresses have commas between them.
    return is_name(neighbour.host) && is_name(neighbour.virtual_node) && neighbour.session > 0 &&
           !neighbour.addresses.empty() && neighbour.addresses.size() <= neighbour_addresses_max &&
           std::ranges::all_of(neighbour.addresses,
                               [&](const std::string& name) { return is_name(name) && name.find(',') == name.npos; });
}

}  // namespace

Result<std::string> encode(const NeighbourAddress& neighbour) {
    if (!is_good(neighbour))
        return Error{ErrorKind::refused,
                     fmt::format("a neighbour needs a node, a session and 1 to {} addresses", neighbour_addresses_max)};
    auto out = fmt::format("{{\"forebay\":\"{}\",\"version\":{},\"host\":", neighbour_kind, neighbour_version);
    json::put_text(out, neighbour.host);
    out += ",\"virtual_node\":";
    json::put_text(out, neighbour.virtual_node);
    out += ",\"session\":";
    json::put_u64(out, neighbour.session);
    out += ",\"addresses\":[";
    for (std::size_t i = 0; i < neighbour.addresses.size(); ++i) {
        if (i > 0) out += ',';
        json::put_text(out, neighbour.addresses[i]);
    }
    return out + "]}\n";
}

Result<NeighbourAddress> decode_neighbour(std::string_view text, const std::string& path) {
    const Error corrupt{ErrorKind::corrupt, fmt::format("{} is not the address of a neighbour.", path)};
    const auto document = json::Document::parse(text);
    if (text.size() > neighbour_bytes_max || !document) return corrupt;
    const auto root = document->root();
    const auto version = root.member("version").u64();
    if (root.member("forebay").text() != neighbour_kind || !version || *version == 0) return corrupt;
    if (*version > neighbour_version)
        return Error{ErrorKind::unsupported, fmt::format("{} has version {}, but this Forebay reads version {}.", path,
                                                         *version, neighbour_version)};
    const auto host = root.member("host").text(), virtual_node = root.member("virtual_node").text();
    const auto session = root.member("session").u64(UINT32_MAX);
    const auto count = root.member("addresses").list();
    if (!host || !virtual_node || !session || count.value_or(0) > neighbour_addresses_max) return corrupt;
    NeighbourAddress neighbour{*host, *virtual_node, static_cast<std::uint32_t>(*session), {}};
    for (std::size_t i = 0; i < count.value_or(0); ++i)
        neighbour.addresses.push_back(root.member("addresses").entry(i).text().value_or(""));
    if (!is_good(neighbour)) return corrupt;
    return neighbour;
}

}  // namespace forebay::format
