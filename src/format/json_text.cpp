#include "format/json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace forebay::format::json {
namespace {

template <class T>
void put_number(std::string& out, T value) {
    std::array<char, 32> digits;  // the longest double takes 24
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

/// The bytes of the UTF-8 character that starts `text`, or 0: RFC 3629, table 3-7 of Unicode.
std::size_t character_bytes(std::string_view text) {
    const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const auto tail = [&](std::size_t i) { return (at(i) & 0xC0u) == 0x80u; };
    const unsigned lead = at(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        if ((lead == 0xE0 && at(1) < 0xA0) || (lead == 0xED && at(1) > 0x9F)) return 0;
        return tail(1) && tail(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        if ((lead == 0xF0 && at(1) < 0x90) || (lead == 0xF4 && at(1) > 0x8F)) return 0;
        return tail(1) && tail(2) && tail(3) ? 4 : 0;
    }
    return 0;
}

}  // namespace

bool is_text(std::string_view text) {
    while (!text.empty()) {
        const auto bytes = character_bytes(text);
        if (bytes == 0 || text.front() == '\0') return false;
        text.remove_prefix(bytes);
    }
    return true;
}

void put_text(std::string& out, std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            out += hex[static_cast<unsigned char>(c) >> 4];
            out += hex[static_cast<unsigned char>(c) & 15u];
        } else {
            out += c;
        }
    }
    out += '"';
}

void put_f64(std::string& out, double value) {
    if (std::isnan(value)) {
        out += "\"nan\"";
    } else if (std::isinf(value)) {
        out += value < 0 ? "\"-inf\"" : "\"inf\"";
    } else {
        const auto from = out.size();
        put_number(out, value);
        // "-0" would be read as the integer 0.
        if (out.find_first_of(".e", from) == out.npos) out += ".0";
    }
}

void put_i64(std::string& out, std::int64_t value) { put_number(out, value); }
void put_u64(std::string& out, std::uint64_t value) { put_number(out, value); }

void put_extents(std::string& out, const Extents& extents) {
    out += '[';
    for (int dim = 0; dim < extents.dims(); ++dim) {
        if (dim > 0) out += ',';
        put_number(out, extents[dim]);
    }
    out += ']';
}

}  // namespace forebay::format::json
