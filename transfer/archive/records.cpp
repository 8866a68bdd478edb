#include "transfer/archive/records.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "transfer/archive/acl_text.hpp"
#include "transfer/archive/stored.hpp"
#include "transfer/archive/ustar.hpp"
#include "transfer/copy/attributes.hpp"

namespace forebay::archive {

namespace {

constexpr std::string_view libarchive_key = "LIBARCHIVE.xattr.";
constexpr std::uint32_t whole_second = 1'000'000'000;

std::string noted(std::string_view what, std::string_view text) {
    return std::string(what) + " \"" + show_text(text.substr(0, 200)) + "\"";
}

void forget_unread(Member& member, Unread::Is is, std::string_view what) {
    std::erase_if(member.unread,
                  [&](const Unread& unread) { return unread.is == is && unread.text.starts_with(what); });
}

Error bad_record(std::string_view key, std::string_view value) {
    return {ErrorKind::corrupt, "its record " + show_text(key) + " is \"" + show_text(value.substr(0, 100)) + "\""};
}

template <class Number>
Result<Number> number_of(std::string_view key, std::string_view text, int base = 10) {
    Number number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (failed != std::errc() || end != text.data() + text.size()) return bad_record(key, text);
    return number;
}

Result<sys::FileTime> time_of(std::string_view key, std::string_view text) {
    const auto dot = text.find('.');
    const bool is_before = text.starts_with('-');
    FB_TRY_ASSIGN(seconds, number_of<std::int64_t>(key, text.substr(0, dot)));
    std::uint32_t nanoseconds = 0;
    if (dot != text.npos) {
        std::string digits(text.substr(dot + 1, 9));
        if (digits.find_first_not_of("0123456789") != digits.npos) return bad_record(key, text);
        digits.resize(9, '0');
        FB_TRY_ASSIGN(fraction, number_of<std::uint32_t>(key, digits));
        nanoseconds = fraction;
    }
    if (!is_before || nanoseconds == 0) return sys::FileTime{.seconds = seconds, .nanoseconds = nanoseconds};
    if (seconds == std::numeric_limits<std::int64_t>::min()) return bad_record(key, text);
    return sys::FileTime{.seconds = seconds - 1, .nanoseconds = whole_second - nanoseconds};
}

int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

// "%3D" is "=". Any other text is unchanged.
std::string without_percents(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const int high = at + 2 < text.size() && text[at] == '%' ? hex_digit(text[at + 1]) : -1;
        const int low = high < 0 ? -1 : hex_digit(text[at + 2]);
        if (low >= 0) at += 2;
        plain += low < 0 ? text[at] : static_cast<char>(high << 4 | low);
    }
    return plain;
}

std::optional<std::string> from_base64(std::string_view text) {
    static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    while (text.ends_with('=')) text.remove_suffix(1);
    std::string bytes;
    std::uint32_t bits = 0, count = 0;
    for (const char digit : text) {
        const auto value = digits.find(digit);
        if (value == digits.npos) return {};
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xffu);
    }
    return bytes;
}

void set_attribute(Member& member, std::string name, std::string value) {
    if (name.empty() || name.find('\0') != name.npos || tree::is_of_file_system(name)) return;
    const auto attribute = std::ranges::find(member.attributes, name, &MemberAttribute::name);
    if (attribute == member.attributes.end()) member.attributes.push_back({std::move(name), std::move(value)});
    else attribute->value = std::move(value);
}

void set_acl(Member& member, std::string_view key, std::string_view text) {
    const auto value = acl_value_of(text);
    if (value) set_attribute(member, key == access_key ? tree::access_acl : tree::default_acl, *value);
    else member.unread.push_back({Unread::Is::attribute, noted(key, text)});
}

Result<> apply_comment(Draft& draft, std::string_view value) {
    if (value.starts_with(place_comment)) {
        FB_TRY_ASSIGN(place, number_of<std::uint64_t>("comment", value.substr(place_comment.size()), 16));
        draft.place = place;
        return {};
    }
    if (value.starts_with(end_comment)) {
        const auto numbers = value.substr(end_comment.size());
        const auto space = numbers.find(' ');
        if (space == numbers.npos) return bad_record("comment", value);
        FB_TRY_ASSIGN(entries, number_of<std::uint64_t>("comment", numbers.substr(0, space)));
        FB_TRY_ASSIGN(sum, number_of<std::uint64_t>("comment", numbers.substr(space + 1), 16));
        draft.member.end = {.entries = entries, .sum = sum};
        return {};
    }
    if (!value.starts_with(sums_comment)) return {};
    const auto digits = value.substr(sums_comment.size());
    if (digits.size() != 2 * sum_digits + 1 || digits[sum_digits] != ' ') return bad_record("comment", value);
    FB_TRY_ASSIGN(stored, number_of<std::uint32_t>("comment", digits.substr(0, sum_digits), 16));
    FB_TRY_ASSIGN(head, number_of<std::uint32_t>("comment", digits.substr(sum_digits + 1), 16));
    draft.sums = {stored, head};
    return {};
}

Result<> apply_map(Draft& draft, std::string_view key, std::string_view text) {
    std::vector<std::uint64_t> numbers;
    while (!text.empty()) {
        const auto word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        FB_TRY_ASSIGN(number, number_of<std::uint64_t>(key, word));
        numbers.push_back(number);
    }
    draft.member.stored.clear();
    for (std::size_t at = 0; at + 1 < numbers.size(); at += 2)
        FB_TRY(
            add_stretch(draft.member.stored, numbers[at], numbers[at + 1], std::numeric_limits<std::int64_t>::max()));
    return {};
}

Result<> apply_sparse(Draft& draft, std::string_view key, std::string_view value) {
    draft.member.has_holes = true;
    if (key == "name") {
        draft.member.path = value;
        draft.has_path = true;
    } else if (key == "major") {
        draft.has_map_before = value == "1";
        if (value != "1" && value != "0")
            return Error{ErrorKind::unsupported, "its map of holes is of version " + show_text(value)};
    } else if (key == "realsize" || key == "size") {
        FB_TRY_ASSIGN(size, number_of<std::uint64_t>(key, value));
        draft.file_size = size;
    } else if (key == "map") {
        return apply_map(draft, key, value);
    } else if (key == "offset") {
        FB_TRY_ASSIGN(begin, number_of<std::uint64_t>(key, value));
        draft.next_begin = begin;
    } else if (key == "numbytes") {
        FB_TRY_ASSIGN(bytes, number_of<std::uint64_t>(key, value));
        if (!draft.next_begin) return bad_record(key, value);
        return add_stretch(draft.member.stored, *draft.next_begin, bytes, std::numeric_limits<std::int64_t>::max());
    }
    return {};
}

}  // namespace

Result<Records> records_from(std::string_view text) {
    Records records;
    while (!text.empty() && text.front() != '\0') {
        std::size_t bytes = 0;
        const auto [digits_end, failed] = std::from_chars(text.data(), text.data() + text.size(), bytes);
        const auto begin = static_cast<std::size_t>(digits_end - text.data()) + 1;
        const auto equals = text.find('=');
        const bool fits = failed == std::errc() && bytes <= text.size() && begin < bytes && text[begin - 1] == ' ' &&
                          text[bytes - 1] == '\n' && equals >= begin && equals < bytes - 1;
        if (!fits) return Error{ErrorKind::corrupt, "its records are damaged"};
        records.emplace_back(text.substr(begin, equals - begin), text.substr(equals + 1, bytes - equals - 2));
        text.remove_prefix(bytes);
    }
    return records;
}

void set_unread(Member& member, Unread::Is is, const std::string& what, std::string_view text) {
    forget_unread(member, is, what);
    member.unread.push_back({is, noted(what, text)});
}

bool has_unread(const Member& member, Unread::Is is) {
    return std::ranges::find(member.unread, is, &Unread::is) != member.unread.end();
}

void set_unread_owner(Member& member, std::uint32_t& field, const std::string& what, std::string_view text) {
    constexpr std::uint32_t nobody = 65534;  // the kernel's number for ids that it cannot show
    set_unread(member, Unread::Is::owner, what, text);
    field = nobody;
}

void set_owner(Member& member, std::uint32_t& field, const std::string& what, std::uint64_t number) {
    const bool can_be = number < UINT32_MAX;  // UINT32_MAX means "unchanged" to chown
    if (!can_be) return set_unread_owner(member, field, what, std::to_string(number));
    forget_unread(member, Unread::Is::owner, what);
    field = static_cast<std::uint32_t>(number);
}

Result<> apply_record(Draft& draft, std::string_view key, std::string_view value) {
    constexpr std::string_view sparse_key = "GNU.sparse.";
    auto& member = draft.member;
    const auto set = [&](auto& field, int base = 10) -> Result<> {
        FB_TRY_ASSIGN(number, number_of<std::remove_reference_t<decltype(field)>>(key, value, base));
        field = number;
        return {};
    };
    // Records of other programs may have impossible values. Then, as in tar, the head's own number counts.
    const auto set_time = [&](sys::FileTime& field) {
        const auto time = time_of(key, value);
        if (time) field = *time;
        return time.has_value();
    };
    const auto set_number = [&](std::uint32_t& field, const std::string& what) {
        const auto number = number_of<std::uint64_t>(key, value);
        if (number) set_owner(member, field, what, *number);
        else set_unread_owner(member, field, what, value);
    };
    if (key == "comment") return apply_comment(draft, value);
    if (key == "path" && !draft.has_path) {
        member.path = value;
        draft.has_path = true;
    } else if (key == "linkpath") {
        member.link_text = value;
        draft.has_link = true;
    } else if (key == "size") {
        FB_TRY_ASSIGN(size, number_of<std::uint64_t>(key, value));
        draft.size = size;
    } else if (key == "uid") {
        draft.has_user = true;
        set_number(member.status.user, "user");
    } else if (key == "gid") {
        draft.has_group = true;
        set_number(member.status.group, "group");
    } else if (key == "mode") {  // of our sockets
        return set(member.status.permissions, 8);
    } else if (key == "mtime") {
        draft.has_modified = set_time(member.status.modified);
        if (draft.has_modified) forget_unread(member, Unread::Is::times, "modified");
        else set_unread(member, Unread::Is::times, "modified", value);
    } else if (key == "atime") {
        set_time(member.status.accessed);
    } else if (key.starts_with(attribute_key)) {
        set_attribute(member, without_percents(key.substr(attribute_key.size())), std::string(value));
    } else if (key.starts_with(libarchive_key)) {
        const auto plain = from_base64(value);
        if (!plain) set_unread(member, Unread::Is::attribute, std::string(key), value);
        else set_attribute(member, without_percents(key.substr(libarchive_key.size())), *plain);
    } else if (key == access_key || key == default_key) {
        set_acl(member, key, value);
    } else if (key.starts_with(sparse_key)) {
        return apply_sparse(draft, key.substr(sparse_key.size()), value);
    }
    return {};
}

}  // namespace forebay::archive
