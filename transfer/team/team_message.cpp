// A message is a row of fields. Numbers are little-endian; texts and lists follow their length. The bytes may come from
// another host: a length is used only after a check against the bytes present.

#include "transfer/team/team_message.hpp"

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"

namespace forebay::tree {

namespace {

// "\nFBYTEA" and a byte with the protocol version.
constexpr std::uint64_t mark = 0x034145545942460aull;
constexpr std::uint64_t mark_mask = 0x00ff'ffff'ffff'ffffull;
constexpr std::size_t frame_head_bytes = 24;  // mark, bytes of the message, its CRC32C, CRC32C of the 20 bytes before
constexpr std::size_t head_checked_bytes = 20;
constexpr std::size_t words_max = 4096;
// Read bytes are dropped from the stream above this size.
constexpr std::size_t used_max = 1u << 20;

class FieldsWriter {
public:
    void number(std::uint64_t value) {
        const auto at = bytes_.size();
        bytes_.resize(at + sizeof value);
        store_le(bytes_.data() + at, value);
    }
    void text(const std::string& value) {
        number(value.size());
        const auto bytes = bytes_of(value);
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

/// A read beyond the end returns 0 and makes the message invalid.
class FieldsReader {
public:
    explicit FieldsReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::uint64_t number() {
        if (bytes_.size() < sizeof(std::uint64_t)) {
            good_ = false;
            return 0;
        }
        const auto value = load_le<std::uint64_t>(bytes_.data());
        bytes_ = bytes_.subspan(sizeof value);
        return value;
    }
    std::string text() {
        const auto size = number();
        if (!good_ || size > bytes_.size()) {
            good_ = false;
            return {};
        }
        std::string value(text_of(bytes_.first(size)));
        bytes_ = bytes_.subspan(size);
        return value;
    }
    /// A number of things that follow, each of at least 8 bytes.
    std::uint64_t count() {
        const auto size = number();
        if (size > bytes_.size() / sizeof(std::uint64_t)) good_ = false;
        return good_ ? size : 0;
    }
    bool good() const { return good_; }
    bool ended() const { return good_ && bytes_.empty(); }

private:
    std::span<const std::byte> bytes_;
    bool good_ = true;
};

Error corrupt() { return {ErrorKind::corrupt, "another process of this command sent an invalid message"}; }

}  // namespace

std::vector<std::byte> encode(const TeamMessage& message) {
    FieldsWriter writer;
    writer.number(static_cast<std::uint64_t>(message.kind));
    for (const auto number : {message.process, message.number, message.flags, message.id.device, message.id.number,
                              message.other_id.device, message.other_id.number})
        writer.number(number);
    writer.text(message.path);
    writer.text(message.text);
    writer.number(message.numbers.size());
    for (const auto number : message.numbers) writer.number(number);
    writer.number(message.texts.size());
    for (const auto& text : message.texts) writer.text(text);
    return writer.take();
}

Result<TeamMessage> decode_team_message(std::span<const std::byte> bytes) {
    TeamMessage message;
    FieldsReader reader(bytes);
    const auto kind = reader.number();
    for (auto* number : {&message.process, &message.number, &message.flags, &message.id.device, &message.id.number,
                         &message.other_id.device, &message.other_id.number})
        *number = reader.number();
    message.path = reader.text();
    message.text = reader.text();
    const auto numbers = reader.count();
    message.numbers.reserve(numbers);
    for (std::uint64_t i = 0; i < numbers; ++i) message.numbers.push_back(reader.number());
    const auto texts = reader.count();
    for (std::uint64_t i = 0; i < texts && reader.good(); ++i) message.texts.push_back(reader.text());
    if (!reader.ended() || kind < 1 || kind > static_cast<std::uint64_t>(last_team_kind)) return corrupt();
    message.kind = static_cast<TeamKind>(kind);
    return message;
}

void append_frame(std::vector<std::byte>& stream, const TeamMessage& message) {
    const auto body = encode(message);
    const auto at = stream.size();
    stream.resize(at + frame_head_bytes);
    auto* head = stream.data() + at;
    store_le(head, mark);
    store_le(head + 8, static_cast<std::uint64_t>(body.size()));
    store_le(head + 16, crc32c(body));
    store_le(head + head_checked_bytes, crc32c(std::span(head, head_checked_bytes)));
    stream.insert(stream.end(), body.begin(), body.end());
}

Result<bool> TeamStream::next(TeamMessage& message) {
    auto left = std::span(bytes_).subspan(at_);
    if (!has_begun_) {
        const auto first = static_cast<std::byte>(mark & 0xffu);
        // A login may print a greeting before the first message. Keep it for error texts and search for the mark.
        while (left.size() >= sizeof mark) {
            if ((load_le<std::uint64_t>(left.data()) & mark_mask) == (mark & mark_mask)) break;
            const auto match = std::ranges::find(left.subspan(1), first);
            const auto skipped = left.first(static_cast<std::size_t>(match - left.begin()));
            words_ += text_of(skipped);
            if (words_.size() > words_max) words_.erase(0, words_.size() - words_max);
            at_ += skipped.size();
            left = left.subspan(skipped.size());
        }
    }
    if (left.size() < frame_head_bytes) return false;
    const auto word = load_le<std::uint64_t>(left.data());
    if ((word & mark_mask) != (mark & mark_mask)) return corrupt();
    if (word != mark) return Error{ErrorKind::unsupported, "the other forebay speaks another version of this protocol"};
    has_begun_ = true;
    const auto size = load_le<std::uint64_t>(left.data() + 8);
    // The head has its own checksum: a damaged length must not make the reader wait for bytes that never come.
    if (load_le<std::uint32_t>(left.data() + head_checked_bytes) != crc32c(left.first(head_checked_bytes)) ||
        size > team_message_bytes_max)
        return corrupt();
    if (left.size() < frame_head_bytes + size) return false;
    const auto body = left.subspan(frame_head_bytes, size);
    if (crc32c(body) != load_le<std::uint32_t>(left.data() + 16)) return corrupt();
    auto decoded = decode_team_message(body);
    if (!decoded) return decoded.error();
    message = std::move(*decoded);
    at_ += frame_head_bytes + size;
    // Each erase moves the rest, so it happens only after many messages.
    if (at_ >= used_max || at_ == bytes_.size()) {
        bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
        at_ = 0;
    }
    return true;
}

}  // namespace forebay::tree
