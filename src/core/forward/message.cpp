// Encodes and decodes messages: a header of 32 bytes with its own checksum, then a body of numbers and texts
// (FrameWriter, FrameReader). All input comes from the network. So the length is checked against the kind's limit
// before anything is allocated, a text has no NUL, and a body with a wrong length is refused. Below are the proofs of
// the token, keyed hashes of both nonces.

#include "core/forward/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/forward/limits.hpp"
#include "core/sys/machine.hpp"

namespace forebay::forward {

namespace {

// Header: magic and version, kind, 0, bytes of the body, CRC32C of the body, 0, CRC32C of the 28 bytes before it.
constexpr std::uint64_t magic = 0x3444574659424600ull;  // "\0FBYFWD4"
constexpr std::uint64_t magic_mask = 0x00FFFFFFFFFFFFFFull;
constexpr std::size_t checked_bytes = header_bytes - 4;
constexpr std::uint32_t access_max = static_cast<std::uint32_t>(sys::Access::update_direct);

class FrameWriter {
public:
    template <class T>
    FrameWriter& number(T value) {
        std::array<std::byte, sizeof(T)> bytes;
        store_le(bytes.data(), value);
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    FrameWriter& text(const std::string& text, std::size_t bytes_max) {
        const auto cut = forebay::bytes_of(std::string_view(text).substr(0, bytes_max));
        number(static_cast<std::uint32_t>(cut.size()));
        bytes_.insert(bytes_.end(), cut.begin(), cut.end());
        return *this;
    }
    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

/// A read beyond the end gives 0 and makes the whole body bad.
class FrameReader {
public:
    explicit FrameReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    void number(T& value) {
        if (bytes_.size() < sizeof value) return void(good_ = false);
        value = load_le<T>(bytes_.data());
        bytes_ = bytes_.subspan(sizeof value);
    }
    void text(std::string& text, std::size_t bytes_max) {
        std::uint32_t bytes = 0;
        number(bytes);
        if (!good_ || bytes > bytes_max || bytes > bytes_.size()) return void(good_ = false);
        text = text_of(bytes_.first(bytes));
        // Each text becomes a C string, and a NUL would cut it.
        good_ = text.find('\0') == std::string::npos;
        bytes_ = bytes_.subspan(bytes);
    }
    bool good() const { return good_; }
    bool ended() const { return good_ && bytes_.empty(); }

private:
    std::span<const std::byte> bytes_;
    bool good_ = true;
};

Error corrupt(const char* what) {
    return {ErrorKind::corrupt, fmt::format("{} is not in the format of forebay", what)};
}

std::uint32_t body_bytes_max(FrameKind kind) {
    if (kind == FrameKind::answer || kind == FrameKind::go) return limits::answer_bytes_max;
    return kind == FrameKind::beat ? 0 : limits::request_bytes_max;
}

bool is_kind(std::uint16_t kind) {
    return (kind >= static_cast<std::uint16_t>(FrameKind::hello) && kind <= static_cast<std::uint16_t>(last_request)) ||
           (kind >= static_cast<std::uint16_t>(FrameKind::answer) && kind <= static_cast<std::uint16_t>(FrameKind::go));
}

std::uint64_t word(const SipKey& key, std::uint8_t role, const Greeting& greeting) {
    // The role distinguishes the words, so that a word of one side is not valid for the other.
    const auto message = FrameWriter()
                             .number(role)
                             .number(greeting.client_nonce)
                             .number(greeting.forwarder_nonce)
                             .number(greeting.client)
                             .text(greeting.run, limits::path_bytes_max)
                             .take();
    return siphash(key, message);
}

// The types: a file, a directory, a link to a directory, a link that leads nowhere.
std::uint8_t type_of(const sys::Entry& entry) {
    if (entry.is_link) return entry.is_directory ? 2 : 3;
    return entry.is_directory ? 1 : 0;
}

}  // namespace

HeaderBytes encode(const FrameHeader& header) {
    HeaderBytes bytes{};
    store_le(bytes.data(), magic);
    store_le(bytes.data() + 8, static_cast<std::uint16_t>(header.kind));
    store_le(bytes.data() + 12, header.body_bytes);
    store_le(bytes.data() + 16, header.body_crc);
    store_le(bytes.data() + checked_bytes, crc32c(std::span(bytes).first(checked_bytes)));
    return bytes;
}

Result<FrameHeader> decode_header(std::span<const std::byte> bytes) {
    if (bytes.size() != header_bytes) return corrupt("a message");
    const auto word = load_le<std::uint64_t>(bytes.data());
    if ((word & magic_mask) != (magic & magic_mask)) return corrupt("a message");
    // The magic is right except for its last byte, which is the version.
    if (word != magic)
        return Error{ErrorKind::unsupported, "the other side has another version of forebay", "",
                     "use the same version for both"};
    const auto kind = load_le<std::uint16_t>(bytes.data() + 8);
    if (load_le<std::uint32_t>(bytes.data() + checked_bytes) != crc32c(bytes.first(checked_bytes)) || !is_kind(kind) ||
        load_le<std::uint16_t>(bytes.data() + 10) != 0 || load_le<std::uint64_t>(bytes.data() + 20) != 0)
        return corrupt("a message's header");
    const FrameHeader header{.kind = static_cast<FrameKind>(kind),
                             .body_bytes = load_le<std::uint32_t>(bytes.data() + 12),
                             .body_crc = load_le<std::uint32_t>(bytes.data() + 16)};
    if (header.body_bytes > body_bytes_max(header.kind)) return corrupt("a message's length");
    return header;
}

std::vector<std::byte> encode(const Request& request) {
    return FrameWriter()
        .number(request.file)
        .number(request.offset)
        .number(request.number)
        .number(request.crc)
        .number(static_cast<std::uint32_t>(request.access))
        .text(request.path, limits::path_bytes_max)
        .text(request.other, limits::path_bytes_max)
        .take();
}

Result<Request> decode_request(std::span<const std::byte> body) {
    Request request;
    std::uint32_t access = 0;
    FrameReader reader(body);
    reader.number(request.file);
    reader.number(request.offset);
    reader.number(request.number);
    reader.number(request.crc);
    reader.number(access);
    reader.text(request.path, limits::path_bytes_max);
    reader.text(request.other, limits::path_bytes_max);
    if (!reader.ended() || access > access_max) return corrupt("a request");
    request.access = static_cast<sys::Access>(access);
    return request;
}

std::vector<std::byte> encode(const Answer& answer) {
    FrameWriter writer;
    writer.number(answer.error ? static_cast<std::uint32_t>(answer.error->kind) : 0u)
        .text(answer.error ? answer.error->what : std::string(), limits::error_bytes_max)
        .text(answer.error ? answer.error->safe : std::string(), limits::error_bytes_max)
        .text(answer.error ? answer.error->next : std::string(), limits::error_bytes_max)
        .number(answer.number)
        .number(answer.word)
        .number(answer.crc)
        .number(static_cast<std::uint32_t>(answer.entries.size()));
    for (const auto& entry : answer.entries)
        writer.text(entry.name, limits::path_bytes_max).number(entry.size).number(type_of(entry));
    return writer.take();
}

Result<Answer> decode_answer(std::span<const std::byte> body) {
    Answer answer;
    Error error;
    std::uint32_t kind = 0, count = 0;
    FrameReader reader(body);
    reader.number(kind);
    reader.text(error.what, limits::error_bytes_max);
    reader.text(error.safe, limits::error_bytes_max);
    reader.text(error.next, limits::error_bytes_max);
    reader.number(answer.number);
    reader.number(answer.word);
    reader.number(answer.crc);
    reader.number(count);
    // A wrong count ends with the bytes, before it takes memory.
    for (std::uint32_t i = 0; i < count && reader.good(); ++i) {
        auto& entry = answer.entries.emplace_back();
        std::uint8_t type = 0;
        reader.text(entry.name, limits::path_bytes_max);
        reader.number(entry.size);
        reader.number(type);
        if (type > 3) return corrupt("an answer");
        entry.is_directory = type == 1 || type == 2;
        entry.is_link = type >= 2;
    }
    if (!reader.ended() || kind > static_cast<std::uint32_t>(ErrorKind::broken)) return corrupt("an answer");
    error.kind = static_cast<ErrorKind>(kind);
    if (kind != 0) answer.error = error;
    return answer;
}

Result<SipKey> key_of(const std::string& token) {
    SipKey key{};
    bool good = token.size() == 2 * key.size();
    for (std::size_t i = 0; good && i < key.size(); ++i) {
        unsigned value = 0;
        const char* from = token.data() + 2 * i;
        const auto [end, wrong] = std::from_chars(from, from + 2, value, 16);
        good = wrong == std::errc() && end == from + 2;
        key[i] = static_cast<std::byte>(value);
    }
    if (!good) return Error{ErrorKind::refused, "a token is 32 hexadecimal digits"};
    return key;
}

std::string new_token() { return fmt::format("{:016x}{:016x}", sys::random_u64(), sys::random_u64()); }

std::uint64_t word_of_hello(const SipKey& key, const Greeting& greeting) {
    return word(key, 'h', {.client_nonce = greeting.client_nonce, .client = greeting.client, .run = greeting.run});
}
std::uint64_t word_of_forwarder(const SipKey& key, const Greeting& greeting) { return word(key, 'f', greeting); }
std::uint64_t word_of_client(const SipKey& key, const Greeting& greeting) { return word(key, 'c', greeting); }

Result<> check_path(const std::string& run, const std::string& path) {
    const bool inside = path == run || path.starts_with(run + "/");
    bool plain = !path.empty() && path.front() == '/' && path.size() > 1 && path.size() <= limits::path_bytes_max;
    for (std::size_t at = 0; plain && at < path.size();) {
        const auto end = std::min(path.find('/', at + 1), path.size());
        const auto part = std::string_view(path).substr(at + 1, end - at - 1);
        plain = !part.empty() && part != "." && part != "..";
        at = end;
    }
    if (inside && plain) return {};
    return Error{ErrorKind::refused,
                 fmt::format("{} is outside of the run {}, and this forwarder writes only inside", path, run)};
}

}  // namespace forebay::forward
