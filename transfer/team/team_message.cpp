// A message is fields one after the other, numbers in little-endian order, texts and lists behind their length. All of
// it may come from another host: no length is believed before the bytes are there.

#include "transfer/team/team_message.hpp"

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"

namespace forebay::tree {

namespace {

// "\nFBYTEA" and a byte that is the version of all that follows.
constexpr std::uint64_t mark = 0x034145545942460aull;
constexpr std::uint64_t mark_mask = 0x00ff'ffff'ffff'ffffull;
constexpr std::size_t frame_head_bytes = 24;  // mark, bytes of the message, its CRC32C, that of the 20 bytes before
constexpr std::size_t head_checked_bytes = 20;
constexpr std::size_t words_max = 4096;
// What is read already is dropped from the stream when it is this much.
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

/// Every look beyond the end gives 0 and spoils the whole.
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
    /// How many things follow, each of which has 8 bytes or more.
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
    if (at_ >= used_max || at_ == bytes_.size()) {
        bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
        at_ = 0;
    }
    return true;
}

}  // namespace forebay::tree
