#include "core/format/json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "core/base/show_text.hpp"

namespace forebay::format::json {
namespace {

template <class T>
void put_number(std::string& out, T value) {
    std::array<char, 32> digits;  // the longest double takes 24
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

}  // namespace

bool is_text(std::string_view text) {
    while (!text.empty()) {
        const auto bytes = first_character(text).bytes;
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
