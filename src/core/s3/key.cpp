#include "core/s3/key.hpp"

#include <algorithm>

#include "core/base/show_text.hpp"

namespace forebay::s3 {

namespace {

constexpr std::string_view hex_digits = "0123456789ABCDEF";
constexpr std::string_view scheme = "s3://";

void append_hex(std::string& text, unsigned char byte) {
    text += '%';
    text += hex_digits[byte >> 4];
    text += hex_digits[byte & 15u];
}

int digit_of(char digit, bool also_lower) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    if (also_lower && digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}

// Returns the byte of "%XX" at the beginning of `text`, or -1.
int escaped_byte(std::string_view text, bool also_lower) {
    if (text.size() < 3 || text[0] != '%') return -1;
    const int high = digit_of(text[1], also_lower), low = digit_of(text[2], also_lower);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

// Returns true if key_part_of() may write this byte as %XX.
bool is_ever_escaped(int byte) {
    return byte > 0 && (byte >= 0x80 || byte == '%' || is_control(static_cast<unsigned char>(byte)));
}

std::string decoded(std::string_view text, bool plus_is_space) {
    std::string result;
    while (!text.empty()) {
        const int byte = escaped_byte(text, true);
        if (byte >= 0) {
            result += static_cast<char>(byte);
            text.remove_prefix(3);
            continue;
        }
        result += plus_is_space && text[0] == '+' ? ' ' : text[0];
        text.remove_prefix(1);
    }
    return result;
}

}  // namespace

Result<S3Place> place_from(std::string_view address) {
    const auto wrong = [&](const char* why) {
        return Error{ErrorKind::refused, "\"" + show_text(address) + "\" is not an address of S3: " + why, "",
                     "s3://BUCKET/PREFIX"};
    };
    if (!address.starts_with(scheme)) return wrong("it does not begin with s3://");
    auto rest = address.substr(scheme.size());
    S3Place place{.bucket = std::string(rest.substr(0, rest.find('/'))), .prefix = {}};
    const bool is_name = std::ranges::all_of(place.bucket, [](unsigned char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '.' || letter == '-' ||
               letter == '_' || (letter >= 'A' && letter <= 'Z');
    });
    if (place.bucket.size() < 3 || place.bucket.size() > 255 || !is_name)
        return wrong("a bucket needs 3 or more letters, digits, dots and dashes");
    rest.remove_prefix(place.bucket.size());
    while (rest.ends_with('/')) rest.remove_suffix(1);
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const auto part = rest.substr(0, rest.find('/'));
        if (part.empty() || part == "." || part == "..") return wrong("a part of the prefix is empty, \".\" or \"..\"");
        place.prefix += key_part_of(part) + "/";
        rest.remove_prefix(part.size());
    }
    return place;
}

std::string key_part_of(std::string_view name) {
    std::string part;
    while (!name.empty()) {
        const auto first = static_cast<unsigned char>(name[0]);
        const auto character = first_character(name);
        if (character.bytes == 0 || is_control(first) || is_ever_escaped(escaped_byte(name, false))) {
            append_hex(part, first);
            name.remove_prefix(1);
        } else {
            part += name.substr(0, character.bytes);
            name.remove_prefix(character.bytes);
        }
    }
    return part;
}

std::optional<std::string> name_of_key_part(std::string_view part) {
    std::string name;
    for (auto rest = part; !rest.empty();) {
        const int byte = escaped_byte(rest, false);
        const bool is_escape = is_ever_escaped(byte);
        name += is_escape ? static_cast<char>(byte) : rest[0];
        rest.remove_prefix(is_escape ? 3 : 1);
    }
    const bool is_name = !name.empty() && name != "." && name != ".." && name.find('\0') == name.npos;
    // A name has exactly one key, so any other spelling is not an entry.
    if (!is_name || key_part_of(name) != part) return std::nullopt;
    return name;
}

std::string folder_key(const std::string& prefix) { return prefix.empty() ? "%2E/" : prefix; }

std::string url_encoded(std::string_view text, bool keeps_slash) {
    std::string result;
    for (const char letter : text) {
        const bool stays = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_' ||
                           letter == '~' || (letter == '/' && keeps_slash);
        if (stays) result += letter;
        else append_hex(result, static_cast<unsigned char>(letter));
    }
    return result;
}

std::string url_decoded(std::string_view text) { return decoded(text, true); }

std::string header_encoded(std::string_view text, std::string_view reserved) {
    std::string result;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        const bool stays = byte > 0x20 && byte < 0x7f && letter != '%' && reserved.find(letter) == reserved.npos;
        if (stays) result += letter;
        else append_hex(result, byte);
    }
    return result;
}

std::string header_decoded(std::string_view text) { return decoded(text, false); }

}  // namespace forebay::s3
