// Protocol-buffer messages as text, written field by field. A timeline needs only varints, doubles, texts and nested
// messages.
//
// Own code instead of a library: a timeline has some 30 fields of one fixed schema. Debian's protozero is similar, but
// every build would need its header to save the 30 lines below. libprotobuf is megabytes, plus a schema compiler. The
// tests read the output with Perfetto's own classes.

#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::report {

class ProtoMessage {
public:
    ProtoMessage& number(std::uint32_t field, std::uint64_t value) {
        varint(field << 3 | wire_varint);
        varint(value);
        return *this;
    }
    ProtoMessage& real(std::uint32_t field, double value) {
        varint(field << 3 | wire_64_bits);
        const auto bits = std::bit_cast<std::uint64_t>(value);
        for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xff);
        return *this;
    }
    ProtoMessage& text(std::uint32_t field, std::string_view value) {
        varint(field << 3 | wire_bytes);
        varint(value.size());
        bytes_ += value;
        return *this;
    }
    ProtoMessage& message(std::uint32_t field, const ProtoMessage& value) { return text(field, value.bytes_); }
    const std::string& bytes() const { return bytes_; }

private:
    static constexpr std::uint32_t wire_varint = 0, wire_64_bits = 1, wire_bytes = 2;
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }
    std::string bytes_;
};

}  // namespace forebay::report
