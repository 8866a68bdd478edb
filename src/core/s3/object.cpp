#include "core/s3/object.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>

#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/s3/key.hpp"

namespace forebay::s3 {

namespace {

// The limit of S3 for all metadata of an object: values, and names without "x-amz-meta-".
constexpr std::size_t metadata_bytes_max = 2'048;
constexpr std::string_view meta_prefix = "x-amz-meta-";
constexpr std::uint32_t nanoseconds_in_second = 1'000'000'000;

constexpr std::uint32_t type_mask = 0170000, permission_mask = 07777;

std::uint32_t type_of(sys::EntryKind kind) {
    switch (kind) {
        case sys::EntryKind::folder: return 0040000;
        case sys::EntryKind::link: return 0120000;
        case sys::EntryKind::fifo: return 0010000;
        case sys::EntryKind::socket: return 0140000;
        case sys::EntryKind::character_device: return 0020000;
        case sys::EntryKind::block_device: return 0060000;
        default: return 0100000;
    }
}

sys::EntryKind kind_of(std::uint32_t mode) {
    using enum sys::EntryKind;
    for (const auto kind : {folder, link, fifo, socket, character_device, block_device})
        if (type_of(kind) == (mode & type_mask)) return kind;
    return file;
}

template <class Number>
std::optional<Number> number_from(std::string_view text, int base = 10) {
    Number number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::size_t size_of(const Pairs& headers) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : headers) bytes += name.size() - meta_prefix.size() + value.size();
    return bytes;
}

// The format is "user.a:BASE64,user.b:BASE64".
std::string text_of(const std::map<std::string, std::string>& attributes) {
    std::string text;
    for (const auto& [name, value] : attributes)
        text += (text.empty() ? "" : ",") + header_encoded(name, ",:") + ":" + base64_of(value);
    return text;
}

template <class Each>
void for_each_part(std::string_view text, char separator, const Each& each) {
    while (!text.empty()) {
        const auto part = text.substr(0, text.find(separator));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        each(part);
    }
}

std::map<std::string, std::string> attributes_from(std::string_view text) {
    std::map<std::string, std::string> attributes;
    for_each_part(text, ',', [&](std::string_view part) {
        const auto colon = part.find(':');
        std::string value;
        if (colon == part.npos || !from_base64(part.substr(colon + 1), value)) return;
        attributes[header_decoded(part.substr(0, colon))] = std::move(value);
    });
    return attributes;
}

// The format is "4096-8192,12288-12289", or "-" if all of it is a hole.
std::string text_of(const std::vector<sys::ByteStretch>& data) {
    std::string text;
    for (const auto& stretch : data)
        text += fmt::format("{}{}-{}", text.empty() ? "" : ",", stretch.begin, stretch.end);
    return text.empty() ? "-" : text;
}

std::optional<std::vector<sys::ByteStretch>> data_from(std::string_view text, std::uint64_t bytes) {
    std::vector<sys::ByteStretch> data;
    if (text == "-") return data;
    bool is_good = !text.empty();
    for_each_part(text, ',', [&](std::string_view part) {
        const auto dash = std::min(part.find('-'), part.size());
        const auto begin = number_from<std::uint64_t>(part.substr(0, dash));
        const auto end = number_from<std::uint64_t>(part.substr(std::min(dash + 1, part.size())));
        const auto before = data.empty() ? 0 : data.back().end;
        is_good = is_good && begin && end && *begin >= before && *begin < *end && *end <= bytes;
        if (is_good) data.push_back({*begin, *end});
    });
    if (!is_good) return std::nullopt;  // without a valid map the whole object is read
    return data;
}

}  // namespace

Pairs ObjectState::headers() const {
    Pairs headers;
    const auto add = [&](const char* name, std::string value) {
        headers.emplace_back(std::string(meta_prefix) + name, std::move(value));
    };
    add("mode", fmt::format("{:o}", type_of(kind) | permissions));
    add("uid", std::to_string(user));
    add("gid", std::to_string(group));
    add("mtime", time_text(modified));
    add("atime", time_text(accessed));
    if (kind == sys::EntryKind::link) add("forebay-link", header_encoded(link_text));
    if (kind == sys::EntryKind::character_device || kind == sys::EntryKind::block_device)
        add("forebay-device", fmt::format("{}:{}", device_number >> 32, device_number & 0xffff'ffffu));
    if (!attributes.empty()) add("forebay-attributes", text_of(attributes));
    if (data) {
        add("forebay-data", text_of(*data));
        // The map of holes goes first: a file is complete without it.
        if (size_of(headers) > metadata_bytes_max) headers.pop_back();
    }
    return headers;
}

Result<> ObjectState::check_size() const {
    auto without_map = *this;
    without_map.data.reset();
    const auto bytes = size_of(without_map.headers());
    if (bytes <= metadata_bytes_max) return {};
    return Error{ErrorKind::unsupported,
                 fmt::format("the metadata of an S3 object have at most {} bytes, and these need {}",
                             metadata_bytes_max, bytes)};
}

ObjectState new_state(sys::EntryKind kind, std::uint32_t permissions, const sys::NewEntryOwner& owner) {
    ObjectState state{
        .kind = kind, .permissions = permissions & ~owner.umask, .user = owner.user, .group = owner.group};
    state.modified = state.accessed = {.seconds = std::time(nullptr)};
    return state;
}

ObjectInfo object_from(const std::string& key, const HttpAnswer& answer, const sys::NewEntryOwner& owner) {
    ObjectInfo object{.key = key, .etag = answer.header("etag"), .crc32c = {}};
    const bool is_folder = key.ends_with('/');
    const auto& range = answer.header("content-range");  // "bytes 0-9/443"
    const auto total = range.empty() ? std::string_view(answer.header("content-length"))
                                     : std::string_view(range).substr(std::min(range.find('/'), range.size() - 1) + 1);
    object.bytes = number_from<std::uint64_t>(total).value_or(0);
    auto put = curl_getdate(answer.header("last-modified").c_str(), nullptr);
    object.state.has_times = put >= 0;
    if (put < 0) put = std::time(nullptr);
    object.changed.seconds = put;
    // S3 has whole seconds. The hash of the ETag distinguishes versions of one second.
    object.changed.nanoseconds =
        static_cast<std::uint32_t>(siphash({}, std::as_bytes(std::span(object.etag))) % nanoseconds_in_second);
    // The checksum in the answer to a range covers only that range.
    if (range.empty() && answer.header("x-amz-checksum-type") != "COMPOSITE")
        object.crc32c = checksum_from(answer.header("x-amz-checksum-crc32c"));

    const auto meta = [&](const char* name) -> const std::string& {
        return answer.header(std::string(meta_prefix) + name);
    };
    auto& state = object.state;
    const auto mode = number_from<std::uint32_t>(meta("mode"), 8);
    // An object with bytes is a file, even if its mode says otherwise.
    state.kind = is_folder ? sys::EntryKind::folder : mode && object.bytes == 0 ? kind_of(*mode) : sys::EntryKind::file;
    if (state.kind == sys::EntryKind::folder && !is_folder) state.kind = sys::EntryKind::file;
    const auto usual = (is_folder ? 0777u : 0666u) & ~owner.umask;
    state.permissions = mode ? *mode & permission_mask : usual;
    state.user = number_from<std::uint32_t>(meta("uid")).value_or(owner.user);
    state.group = number_from<std::uint32_t>(meta("gid")).value_or(owner.group);
    state.modified = time_from(meta("mtime")).value_or(sys::FileTime{.seconds = put});
    state.accessed = time_from(meta("atime")).value_or(state.modified);
    if (state.kind == sys::EntryKind::link) state.link_text = header_decoded(meta("forebay-link"));
    const std::string_view device = meta("forebay-device");
    if (const auto colon = device.find(':'); colon != device.npos)
        state.device_number = std::uint64_t{number_from<std::uint32_t>(device.substr(0, colon)).value_or(0)} << 32 |
                              number_from<std::uint32_t>(device.substr(colon + 1)).value_or(0);
    state.attributes = attributes_from(meta("forebay-attributes"));
    state.data = data_from(meta("forebay-data"), object.bytes);
    return object;
}

std::uint64_t number_of_key(const std::string& key) { return siphash({}, std::as_bytes(std::span(key))); }

sys::EntryStatus status_of(const ObjectInfo& object, std::uint64_t device) {
    const auto& state = object.state;
    const auto bytes = state.kind == sys::EntryKind::folder ? 0 : object.bytes;
    sys::EntryStatus status{.kind = state.kind,
                            .permissions = state.permissions,
                            .user = state.user,
                            .group = state.group,
                            .bytes = bytes,
                            .allocated_bytes = bytes,
                            .device_number = state.device_number,
                            .id = {device, number_of_key(object.key)},
                            .accessed = state.accessed,
                            .modified = state.modified,
                            .changed = object.changed,
                            .has_times = state.has_times};
    if (state.kind == sys::EntryKind::link) status.bytes = state.link_text.size();
    if (state.data) {
        status.allocated_bytes = 0;
        for (const auto& stretch : *state.data) status.allocated_bytes += stretch.end - stretch.begin;
    }
    return status;
}

std::string time_text(sys::FileTime time) {
    // Nanoseconds count forward, also before 1970: -1 s and 500,000,000 ns is -0.5.
    const bool is_before = time.seconds < 0 && time.nanoseconds > 0;
    const auto seconds = is_before ? -(time.seconds + 1) : time.seconds;
    const auto nanoseconds = is_before ? nanoseconds_in_second - time.nanoseconds : time.nanoseconds;
    return fmt::format("{}{}.{:09}", is_before ? "-" : "", seconds, nanoseconds);
}

std::optional<sys::FileTime> time_from(std::string_view text) {
    const bool is_before = text.starts_with('-');
    if (is_before) text.remove_prefix(1);
    const auto dot = std::min(text.find('.'), text.size());
    auto fraction = std::string(text.substr(std::min(dot + 1, text.size())));
    if (fraction.size() > 9) fraction.resize(9);  // more digits than nanoseconds
    fraction.resize(9, '0');
    const auto seconds = number_from<std::int64_t>(text.substr(0, dot));
    const auto nanoseconds = number_from<std::uint32_t>(fraction);
    if (!seconds || *seconds < 0 || !nanoseconds) return std::nullopt;
    if (!is_before) return sys::FileTime{*seconds, *nanoseconds};
    if (*nanoseconds == 0) return sys::FileTime{-*seconds, 0};
    return sys::FileTime{-*seconds - 1, nanoseconds_in_second - *nanoseconds};
}

std::string checksum_text(std::uint32_t crc32c) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(crc32c >> shift & 0xffu);
    return base64_of(bytes);
}

std::optional<std::uint32_t> checksum_from(std::string_view text) {
    std::string bytes;
    if (!from_base64(text, bytes) || bytes.size() != 4) return std::nullopt;
    std::uint32_t crc32c = 0;
    for (const char byte : bytes) crc32c = crc32c << 8 | static_cast<unsigned char>(byte);
    return crc32c;
}

}  // namespace forebay::s3
