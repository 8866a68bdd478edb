#include "core/base/show_text.hpp"

namespace forebay {

namespace {

void spell_out(std::string& out, std::string_view bytes) {
    constexpr std::string_view hex = "0123456789abcdef";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += "\\x";
        out += hex[byte >> 4];
        out += hex[byte & 15u];
    }
}

std::string shown(std::string_view text, bool lines) {
    std::string out;
    while (!text.empty()) {
        const auto [bytes, number] = first_character(text);
        const bool is_our_line = lines && text.starts_with("\n  ");
        const auto taken = bytes == 0 ? 1 : bytes;
        if (bytes != 0 && (is_our_line || !commands_terminals(number))) out += text.substr(0, taken);
        else spell_out(out, text.substr(0, taken));
        text.remove_prefix(taken);
    }
    return out;
}

}  // namespace

Character first_character(std::string_view text) {
    const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const auto tail = [&](std::size_t i) { return (at(i) & 0xC0u) == 0x80u; };
    const std::uint32_t lead = at(0);
    if (lead < 0x80) return {1, lead};
    // RFC 3629: 0xC0 and 0xC1 would begin longer forms of ASCII characters.
    if (lead >= 0xC2 && lead <= 0xDF && tail(1)) return {2, (lead & 0x1Fu) << 6 | (at(1) & 0x3Fu)};
    if (lead >= 0xE0 && lead <= 0xEF && tail(1) && tail(2)) {
        const auto number = (lead & 0x0Fu) << 12 | (at(1) & 0x3Fu) << 6 | (at(2) & 0x3Fu);
        const bool is_surrogate = number >= 0xD800 && number <= 0xDFFF;
        // RFC 3629 allows neither longer forms of a character nor surrogates.
        return number < 0x800 || is_surrogate ? Character{} : Character{3, number};
    }
    if (lead >= 0xF0 && lead <= 0xF4 && tail(1) && tail(2) && tail(3)) {
        const auto number = (lead & 0x07u) << 18 | (at(1) & 0x3Fu) << 12 | (at(2) & 0x3Fu) << 6 | (at(3) & 0x3Fu);
        return number < 0x10000 || number > 0x10FFFF ? Character{} : Character{4, number};
    }
    return {};
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto first = first_character(text);
        if (first.bytes == 0) return false;
        text.remove_prefix(first.bytes);
    }
    return true;
}

bool commands_terminals(std::uint32_t number) {
    const auto within = [&](std::uint32_t first, std::uint32_t last) { return first <= number && number <= last; };
    const bool is_control = number < 0x20 || within(0x7F, 0x9F);
    const bool is_separator = within(0x2028, 0x2029);
    const bool is_direction =
        number == 0x061C || within(0x200E, 0x200F) || within(0x202A, 0x202E) || within(0x2066, 0x2069);
    return is_control || is_separator || is_direction;
}

std::string show_text(std::string_view text) { return shown(text, false); }
std::string show_message(std::string_view text) { return shown(text, true); }

bool is_showable(std::string_view text) {
    while (!text.empty()) {
        const auto [bytes, number] = first_character(text);
        if (bytes == 0 || commands_terminals(number)) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

}  // namespace forebay
