#include "bindings/compat/made/h5part/h5part_names.hpp"

#include <charconv>

namespace forebay::made::h5part {

std::string stored_name(std::string_view name) {
    constexpr char digits[] = "0123456789ABCDEF";
    std::string stored;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = byte >= 0x20 && byte != 0x7f && c != '/' && c != '%' && !(c == '.' && stored.empty());
        if (plain) {
            stored.push_back(c);
            continue;
        }
        stored.push_back('%');
        stored.push_back(digits[byte >> 4]);
        stored.push_back(digits[byte & 0xf]);
    }
    return stored;
}

std::string shown_name(std::string_view stored) {
    std::string name;
    for (std::size_t i = 0; i < stored.size(); ++i) {
        unsigned value = 0;
        const char* digits = stored.data() + i + 1;
        if (stored[i] == '%' && i + 2 < stored.size() &&
            std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
            name.push_back(static_cast<char>(value));
            i += 2;
        } else {
            name.push_back(stored[i]);
        }
    }
    return name;
}

}  // namespace forebay::made::h5part
