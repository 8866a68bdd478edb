#include "path/stage/show_value.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes.hpp"

namespace forebay::stage {

namespace {

// Longer strings are documents. The bytes beside show the difference.
constexpr std::size_t string_shown_max = 80;
constexpr std::size_t bytes_shown_max = 32;

template <class T>
std::string show_complex(std::span<const std::byte> bytes) {
    return fmt::format("({}, {})", load_le<T>(bytes.data()), load_le<T>(bytes.data() + sizeof(T)));
}

std::string show_string(std::span<const std::byte> bytes) {
    auto text = std::string(text_of(bytes));
    text.erase(std::min(text.find('\0'), text.size()));
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
    return text.size() <= string_shown_max ? "'" + text + "'" : "'" + text.substr(0, string_shown_max) + "...'";
}

std::string show_bytes(std::span<const std::byte> bytes) {
    std::string text;
    for (const auto byte : bytes.first(std::min(bytes.size(), bytes_shown_max)))
        text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    return text + (bytes.size() > bytes_shown_max ? "..." : "");
}

}  // namespace

std::string show_value(Type type, std::span<const std::byte> bytes) {
    const auto* from = bytes.data();
    switch (type.scalar) {
        case Scalar::f16: return fmt::format("0x{:04x}", load_le<std::uint16_t>(from));
        case Scalar::f32: return fmt::format("{}", load_le<float>(from));
        case Scalar::f64: return fmt::format("{}", load_le<double>(from));
        case Scalar::c64: return show_complex<float>(bytes);
        case Scalar::c128: return show_complex<double>(bytes);
        case Scalar::i8: return fmt::format("{}", static_cast<int>(load_le<std::int8_t>(from)));
        case Scalar::i16: return fmt::format("{}", load_le<std::int16_t>(from));
        case Scalar::i32: return fmt::format("{}", load_le<std::int32_t>(from));
        case Scalar::i64: return fmt::format("{}", load_le<std::int64_t>(from));
        case Scalar::u8: return fmt::format("{}", static_cast<unsigned>(load_le<std::uint8_t>(from)));
        case Scalar::u16: return fmt::format("{}", load_le<std::uint16_t>(from));
        case Scalar::u32: return fmt::format("{}", load_le<std::uint32_t>(from));
        case Scalar::u64: return fmt::format("{}", load_le<std::uint64_t>(from));
        case Scalar::string: return show_string(bytes);
    }
    return show_bytes(bytes);
}

std::pair<std::string, std::string> show_values(Type type, std::span<const std::byte> bytes,
                                                std::span<const std::byte> other) {
    auto first = show_value(type, bytes), second = show_value(type, other);
    if (first != second) return {first, second};
    // Two NaNs, or strings that differ in hidden characters: show bytes from the first difference on.
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(bytes, other).in1 - bytes.begin());
    return {fmt::format("{} (bytes {} from {})", first, show_bytes(bytes.subspan(at)), at),
            fmt::format("{} (bytes {} from {})", second, show_bytes(other.subspan(at)), at)};
}

}  // namespace forebay::stage
