#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/show_text.hpp"
#include "transfer/archive/acl_text.hpp"
#include "transfer/archive/head.hpp"
#include "transfer/archive/ustar.hpp"
#include "transfer/copy/attributes.hpp"

namespace forebay::archive {

namespace {

constexpr std::uint32_t nanoseconds_of_second = 1'000'000'000;
// libarchive reads at most 1 MiB of records.
constexpr std::uint64_t comment_bytes_max = 1u << 20;
constexpr std::uint64_t comments_together = 16;
constexpr std::size_t sums_bytes = 2 * sum_digits + 1;

// "30 mtime=1700000000.123456789\n": the number counts its own digits, too.
void add_record(std::string& records, std::string_view key, std::string_view value) {
    const auto rest = key.size() + value.size() + 3;
    auto bytes = rest + 1;
    while (rest + std::to_string(bytes).size() != bytes) ++bytes;
    records += std::to_string(bytes);
    records += ' ';
    records += key;
    records += '=';
    records += value;
    records += '\n';
}

// POSIX counts seconds with their fraction: a quarter of a second before 1970 is -0.25.
std::string time_text(sys::FileTime time) {
    if (time.nanoseconds == 0) return std::to_string(time.seconds);
    if (time.seconds >= 0) return fmt::format("{}.{:09}", time.seconds, time.nanoseconds);
    return fmt::format("-{}.{:09}", -(time.seconds + 1), nanoseconds_of_second - time.nanoseconds);
}

template <std::size_t Bytes>
bool set_number(char (&field)[Bytes], std::uint64_t value) {
    const bool fits = value >> (3 * (Bytes - 1)) == 0;
    if (!fits) value = 0;
    for (auto at = Bytes - 1; at > 0; --at, value >>= 3) field[at - 1] = static_cast<char>('0' + (value & 7u));
    return fits;
}

template <std::size_t Bytes>
bool set_text(char (&field)[Bytes], std::string_view text) {
    std::memcpy(field, text.data(), std::min(Bytes, text.size()));
    return text.size() <= Bytes;
}

char type_of(const Member& member) {
    if (!member.same_as.empty()) return '1';
    switch (member.status.kind) {
        case sys::EntryKind::link: return '2';
        case sys::EntryKind::character_device: return '3';
        case sys::EntryKind::block_device: return '4';
        case sys::EntryKind::folder: return '5';
        case sys::EntryKind::fifo: return '6';
        default: return '0';
    }
}

// "./" protects a name that begins with "-" from being read as an option.
std::string name_of(const Member& member) {
    if (member.path == ".") return "./";
    return "./" + member.path + (member.status.kind == sys::EntryKind::folder ? "/" : "");
}

void add_attributes(std::string& records, const Member& member) {
    for (const auto& [name, value] : member.attributes) {
        const bool is_access = name == tree::access_acl;
        if (is_access || name == tree::default_acl) {
            const auto text = acl_text_of(value);
            // As text only if the text gives the same bytes back.
            if (!text.empty() && acl_value_of(text) == value) {
                add_record(records, is_access ? access_key : default_key, text);
                continue;
            }
        }
        std::string key(attribute_key);
        for (const char byte : name) key += byte == '=' ? "%3D" : byte == '%' ? "%25" : std::string(1, byte);
        add_record(records, key, value);
    }
}

// Adds a block with its own checksum, then `records`, in whole blocks.
void add_block(std::string& head, UstarBlock block, std::string_view records = {}) {
    std::memcpy(block.magic, posix_magic.data(), posix_magic.size());
    const auto check = fmt::format("{:06o}", ustar_check(block));
    std::memcpy(block.check, check.data(), check.size());
    block.check[7] = ' ';
    head.append(reinterpret_cast<const char*>(&block), sizeof block);
    head += records;
    head.resize(round_up(head.size(), block_bytes), '\0');
}

void add_records(std::string& head, char type, std::string_view records) {
    UstarBlock block{};
    set_text(block.name, "PaxHeaders/FOREBAY");
    set_number(block.mode, 0600);
    set_number(block.user, 0);
    set_number(block.group, 0);
    set_number(block.modified, 0);
    set_number(block.size, records.size());
    block.type = type;
    add_block(head, block, records);
}

// Times, and all values without a field in the block.
void add_common(std::string& records, const Member& member) {
    add_record(records, "mtime", time_text(member.status.modified));
    add_record(records, "atime", time_text(member.status.accessed));
    add_attributes(records, member);
}

// The begin of each entry. Returns the place of the checksums among the records.
std::size_t add_sums(std::string& records) {
    add_record(records, "comment", std::string(sums_comment) + std::string(sums_bytes, ' '));
    const auto sums_at = records.size() - 1 - sums_bytes;
    add_record(records, "comment", std::string(place_comment) + std::string(place_digits, ' '));
    return sums_at;
}

Head encode_socket(const Member& member) {
    std::string about;
    add_record(about, "path", name_of(member));
    if (!member.same_as.empty()) add_record(about, "linkpath", "./" + member.same_as);
    add_record(about, "mode", fmt::format("{:o}", member.status.permissions));
    add_record(about, "uid", std::to_string(member.status.user));
    add_record(about, "gid", std::to_string(member.status.group));
    add_common(about, member);
    std::string records;
    const auto sums_in_records = add_sums(records);
    add_record(records, "comment", std::string(socket_comment) + about);
    Head head{.bytes = {}, .sums_at = block_bytes + sums_in_records};
    add_records(head.bytes, 'g', records);
    return head;
}

}  // namespace

Head encode_head(const Member& member) {
    if (member.status.kind == sys::EntryKind::socket) return encode_socket(member);
    const auto& status = member.status;
    const auto name = name_of(member);
    const auto link = member.same_as.empty() ? member.link_text : "./" + member.same_as;
    UstarBlock block{};
    block.type = type_of(member);
    std::string records;
    const auto sums_in_records = add_sums(records);
    if (member.end)
        add_record(records, "comment", fmt::format("{}{} {:016x}", end_comment, member.end->entries, member.end->sum));
    // In the block names are bytes. In records they are UTF-8 unless marked as bytes, and GNU tar warns about that
    // mark.
    const bool is_long = !set_text(block.name, name) || member.has_holes;
    const bool has_long_link = !set_text(block.link, link);
    if ((is_long && !is_utf8(name)) || (has_long_link && !is_utf8(link))) add_record(records, "hdrcharset", "BINARY");
    if (member.has_holes) {
        add_record(records, "GNU.sparse.major", "1");
        add_record(records, "GNU.sparse.minor", "0");
        add_record(records, "GNU.sparse.name", name);
        add_record(records, "GNU.sparse.realsize", std::to_string(status.bytes));
        std::memset(block.name, 0, sizeof block.name);
        set_text(block.name,
                 "GNUSparseFile.0/FOREBAY");  // a program without support for holes must not make a wrong file
    } else if (is_long) {
        add_record(records, "path", name);
    }
    if (has_long_link) add_record(records, "linkpath", link);
    const bool is_file = status.kind == sys::EntryKind::file && member.same_as.empty();
    const auto size = is_file ? member.stored_bytes : 0;
    if (!set_number(block.size, size)) add_record(records, "size", std::to_string(size));
    if (!set_number(block.user, status.user)) add_record(records, "uid", std::to_string(status.user));
    if (!set_number(block.group, status.group)) add_record(records, "gid", std::to_string(status.group));
    set_number(block.mode, status.permissions);
    set_number(block.modified, static_cast<std::uint64_t>(std::max<std::int64_t>(status.modified.seconds, 0)));
    set_number(block.device_major, status.device_number >> 32);
    set_number(block.device_minor, status.device_number & 0xffff'ffffu);
    if (member.same_as.empty()) add_common(records, member);
    Head head{.bytes = {}, .sums_at = block_bytes + sums_in_records};
    add_records(head.bytes, 'x', records);
    add_block(head.bytes, block);
    return head;
}

std::uint32_t sum_of_head(std::string_view head, std::size_t own_at) {
    static constexpr std::string_view zeros = "00000000";
    const auto sum = crc32c(bytes_of(zeros), crc32c(bytes_of(head.substr(0, own_at))));
    return crc32c(bytes_of(head.substr(own_at + sum_digits)), sum);
}

void set_stored_sum(std::span<std::byte> head, std::size_t sums_at, std::uint32_t stored_sum) {
    fmt::format_to_n(reinterpret_cast<char*>(head.data()) + sums_at, sum_digits, "{:08x}", stored_sum);
}

std::uint32_t set_place(std::span<std::byte> head, std::size_t sums_at, std::uint64_t place) {
    static constexpr std::string_view between = "\n39 comment=";
    auto* text = reinterpret_cast<char*>(head.data());
    const auto place_at = sums_at + sums_bytes + between.size() + place_comment.size();
    fmt::format_to_n(text + place_at, place_digits, "{:016x}", place);
    const auto own_at = sums_at + sum_digits + 1;
    const auto sum = sum_of_head(text_of(head), own_at);
    fmt::format_to_n(text + own_at, sum_digits, "{:08x}", sum);
    return sum;
}

std::string encode_mark() {
    std::string records, head;
    add_record(records, "comment", std::string(mark_comment) + std::string(mark_version));
    add_record(records, "comment", promise_comment);
    add_records(head, 'g', records);
    return head;
}

std::vector<SkippedBytes> encode_skipped(std::uint64_t bytes, const std::string& again) {
    std::vector<SkippedBytes> pieces;
    std::uint64_t comments = 0;
    for (std::uint64_t offset = 0; offset < bytes; offset += pieces.back().bytes) {
        const auto left = bytes - offset;
        if (comments == comments_together && left >= again.size() + 2 * block_bytes) {
            pieces.push_back({.offset = offset, .bytes = again.size(), .begin = again, .end = {}});
            comments = 0;
            continue;
        }
        auto all = std::min(left, comment_bytes_max);
        if (left - all == block_bytes) all -= block_bytes;  // a comment needs more than one block
        UstarBlock block{};
        set_text(block.name, "PaxHeaders/FOREBAY");
        set_number(block.mode, 0600);
        set_number(block.size, all - block_bytes);
        block.type = 'g';
        SkippedBytes comment{.offset = offset, .bytes = all, .begin = {}, .end = "\n"};
        add_block(comment.begin, block);
        comment.begin += fmt::format("{} comment=", all - block_bytes);
        pieces.push_back(std::move(comment));
        ++comments;
    }
    return pieces;
}

}  // namespace forebay::archive
