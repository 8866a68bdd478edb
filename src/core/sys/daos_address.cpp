#include "core/sys/daos_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"

namespace forebay::sys {

namespace {

constexpr std::size_t label_bytes_max = 127;  // DAOS_PROP_LABEL_MAX_LEN

bool is_letter_or_digit(char character) {
    return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z') ||
           (character >= 'A' && character <= 'Z');
}

// A UUID is a label too.
bool is_label(std::string_view text) {
    const auto fits = [](char character) {
        return is_letter_or_digit(character) || std::string_view("._:-").find(character) != std::string_view::npos;
    };
    return !text.empty() && text.size() <= label_bytes_max && std::ranges::all_of(text, fits);
}

std::string_view take_part(std::string_view& rest) {
    const auto part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
}

}  // namespace

Result<DaosPlace> daos_place_from(std::string_view address) {
    const auto refused = [&](const char* why) {
        return Error{ErrorKind::refused, show_text(address) + ": " + why, "", "daos://POOL/CONTAINER/PATH"};
    };
    if (!address.starts_with(daos_scheme)) return refused("it does not begin with daos://");
    auto rest = address.substr(daos_scheme.size());
    DaosPlace place;
    place.pool = take_part(rest);
    place.container = take_part(rest);
    if (!is_label(place.pool)) return refused("the name of a pool is its label or UUID");
    if (!is_label(place.container)) return refused("the name of a container is its label or UUID");
    while (!rest.empty()) {
        const auto part = take_part(rest);
        if (part == "." || part == "..") return refused("its path contains . or ..");
        if (!part.empty()) place.path += "/" + std::string(part);
    }
    return place;
}

Result<DaosPlace> daos_place_of_link(std::string_view value) {
    constexpr std::string_view begin = "DAOS.", middle = "://";
    value = value.substr(0, value.find('\0'));  // the tools of DAOS store the zero that ends their text
    const auto end = value.find(middle);
    const auto wrong = [&] {
        return Error{ErrorKind::refused,
                     std::string("its attribute ") + daos_link_attribute + " has no container: " + show_text(value)};
    };
    if (!value.starts_with(begin) || end == value.npos) return wrong();
    const auto type = value.substr(begin.size(), end - begin.size());
    auto rest = value.substr(end + middle.size());
    DaosPlace place;
    place.pool = take_part(rest);
    place.container = take_part(rest);
    if (!is_uuid(place.pool) || !is_uuid(place.container) || !rest.empty()) return wrong();
    if (type != "POSIX")
        return Error{ErrorKind::unsupported,
                     fmt::format("it belongs to a container of type {}, which holds no files", show_text(type))};
    return place;
}

bool is_uuid(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        const bool is_digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f') ||
                              (text[i] >= 'A' && text[i] <= 'F');
        if (is_dash ? text[i] != '-' : !is_digit) return false;
    }
    return true;
}

// Stripes of 16, 8, 4 or 2 cells of 128 KiB divide the chunk of 2 MiB.
const DaosProfile& daos_profile_for(std::uint32_t ranks) {
    static constexpr std::array<DaosProfile, 6> profiles{{{18, "EC_16P2GX", "RP_3G1", 2},
                                                          {10, "EC_8P2GX", "RP_3G1", 2},
                                                          {6, "EC_4P2GX", "RP_3G1", 2},
                                                          {3, "EC_2P1GX", "RP_2G1", 1},
                                                          {2, "RP_2GX", "RP_2G1", 1},
                                                          {0, "SX", "S1", 0}}};
    if (ranks == 0) return profiles.front();
    return *std::ranges::find_if(profiles, [&](const DaosProfile& profile) { return ranks >= profile.ranks_min; });
}

std::string daos_create_command(const DaosPlace& place, std::uint32_t ranks) {
    const auto& profile = daos_profile_for(ranks);
    return fmt::format(
        "daos container create {} {} --type POSIX --file-oclass={} --dir-oclass={} --chunk-size={} "
        "--properties=cksum:crc32,srv_cksum:on,rd_fac:{},ec_cell_sz:{}",
        place.pool, place.container, profile.file_class, profile.directory_class, daos_chunk_bytes, profile.losses,
        daos_cell_bytes);
}

}  // namespace forebay::sys
