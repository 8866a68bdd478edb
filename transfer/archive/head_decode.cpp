#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/bytes.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "transfer/archive/head.hpp"
#include "transfer/archive/records.hpp"
#include "transfer/archive/stored.hpp"
#include "transfer/archive/ustar.hpp"

namespace forebay::archive {

namespace {

// Attributes of one entry: 65,536 bytes each, and no file system has many. A path of 4,000 names has at most 1 MB.
constexpr std::uint64_t records_bytes_max = 16u << 20;
// Common records are about a dozen short records. In joined archives each part may have its own.
constexpr std::size_t common_records_max = 1'000;
constexpr std::uint64_t common_bytes_max = 1u << 20, all_common_bytes_max = 32u << 20;
// Far beyond any file, and sums of two do not overflow.
constexpr std::uint64_t stored_bytes_max = 1ull << 60;
constexpr std::uint64_t sparse_bytes_max = INT64_MAX;

struct OldSparse {  // GNU tar before pax: in the block's prefix, or in extra blocks
    char begin[12], bytes[12];
};

Error damaged(const char* what) { return {ErrorKind::corrupt, what}; }

// Octal digits. For large and negative numbers: all bits after the first byte (GNU tar, star).
template <std::size_t Bytes>
Result<std::uint64_t> number_in(const char (&field)[Bytes]) {
    const auto first = static_cast<unsigned char>(field[0]);
    if ((first & 0x80u) != 0) {
        const std::uint64_t outside = first == 0xff ? 0xff : 0;
        std::uint64_t value = first == 0xff ? ~std::uint64_t{0} : first & 0x7fu;
        for (std::size_t at = 1; at < Bytes; ++at) {
            if (value >> 56 != outside) return damaged("a number in its head is out of range");
            value = value << 8 | static_cast<unsigned char>(field[at]);
        }
        return value;
    }
    std::string_view text(field, Bytes);
    text = text.substr(0, text.find('\0'));
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    std::uint64_t value = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '7') return damaged("a number in its head is not a number");
        value = value << 3 | static_cast<std::uint64_t>(digit - '0');
    }
    return value;
}

template <std::size_t Bytes>
std::string_view text_in(const char (&field)[Bytes]) {
    const std::string_view text(field, Bytes);
    return text.substr(0, text.find('\0'));
}

std::uint64_t bytes_of_records(const Records& records) {
    std::uint64_t bytes = 0;
    for (const auto& [key, value] : records) bytes += sizeof records.front() + key.size() + value.size();
    return bytes;
}

class HeadDecoder {
public:
    HeadDecoder(std::span<const std::byte> bytes, HeadState& state) : bytes_(bytes), state_(state) {}
    Result<DecodedHead> read();

private:
    Result<bool> read_block();
    Result<DecodedHead> take_records(char type);
    Result<DecodedHead> take_common(const Records& records);
    Result<DecodedHead> take_entry();
    Result<> take_fields();
    void take_owners();
    Result<> take_kind();
    Result<DecodedHead> take_stored();
    Result<bool> take_old_sparse();
    Result<> check_sums();
    void say_place(DecodedHead& decoded) const;
    DecodedHead cut(std::uint64_t bytes) const { return {.is = DecodedHead::Is::cut, .bytes = bytes}; }

    const std::span<const std::byte> bytes_;
    HeadState& state_;
    UstarBlock block_{};
    std::uint64_t size_ = 0;  // field of the block
    std::uint64_t at_ = 0;    // end of the blocks read so far
    Records own_;
    Draft draft_;
    std::string long_name_, long_link_;
    std::string_view sums_;  // text of the checksums
};

// Returns false if the bytes end before the block.
Result<bool> HeadDecoder::read_block() {
    if (bytes_.size() < at_ + block_bytes) return false;
    std::memcpy(&block_, bytes_.data() + at_, sizeof block_);
    FB_TRY_ASSIGN(check, number_in(block_.check));
    const auto wanted = static_cast<std::int64_t>(check);
    // Some old programs summed signed bytes.
    if (wanted != ustar_check(block_) && wanted != ustar_check<signed char>(block_))
        return damaged("the checksum of its head is wrong");
    FB_TRY_ASSIGN(size, number_in(block_.size));
    if (size > stored_bytes_max) return damaged("its size is out of range");
    size_ = size;
    at_ += block_bytes;
    return true;
}

Result<DecodedHead> HeadDecoder::read() {
    constexpr std::string_view with_records = "xXgLK";
    if (bytes_.size() >= block_bytes &&
        std::ranges::all_of(bytes_.first(block_bytes), [](std::byte byte) { return byte == std::byte{0}; })) {
        if (bytes_.size() < 2 * block_bytes) return cut(2 * block_bytes);
        const bool is_end = std::ranges::all_of(bytes_.subspan(block_bytes, block_bytes),
                                                [](std::byte byte) { return byte == std::byte{0}; });
        if (!is_end) return damaged("the end has one block of zeros, and two are needed");
        return DecodedHead{.is = DecodedHead::Is::end, .bytes = 2 * block_bytes};
    }
    while (true) {
        FB_TRY_ASSIGN(is_there, read_block());
        if (!is_there) return cut(at_ + block_bytes);
        if (with_records.find(block_.type) == with_records.npos) return take_entry();
        FB_TRY_ASSIGN(taken, take_records(block_.type));
        if (taken.is != DecodedHead::Is::skipped || block_.type == 'g') return taken;
    }
}

// `skipped`: the records were taken, and the head goes on.
Result<DecodedHead> HeadDecoder::take_records(char type) {
    if (size_ > records_bytes_max || at_ > 2 * records_bytes_max)
        return damaged("the size of its records is out of range");
    const auto end = at_ + round_up(size_, block_bytes);
    if (bytes_.size() < end) return cut(end);
    const auto text = text_of(bytes_.subspan(at_, size_));
    at_ = end;
    if (type == 'L' || type == 'K') {
        (type == 'L' ? long_name_ : long_link_) = text.substr(0, text.find('\0'));
        return DecodedHead{.is = DecodedHead::Is::skipped};
    }
    if (text.starts_with('\0')) return damaged("its records are zeros");
    FB_TRY_ASSIGN(records, records_from(text));
    const auto sums = text.find(sums_comment);  // ours are the first; a wrong match only fails the comparison
    if (sums != text.npos && sums + sums_comment.size() + 2 * sum_digits + 1 <= text.size())
        sums_ = text.substr(sums + sums_comment.size(), 2 * sum_digits + 1);
    if (type == 'g') return take_common(records);
    own_ = std::move(records);
    return DecodedHead{.is = DecodedHead::Is::skipped};
}

Result<DecodedHead> HeadDecoder::take_common(const Records& records) {
    auto common = state_.common ? *state_.common : Records();
    for (const auto& [key, value] : records) {
        if (key != "comment") {
            const auto known = std::ranges::find(common, key, &Records::value_type::first);
            if (known != common.end()) known->second = value;
            else common.emplace_back(key, value);
            if (common.size() > common_records_max) return damaged("its common records have no end");
            continue;
        }
        FB_TRY(apply_record(draft_, key, value));
        if (value.starts_with(mark_comment)) {
            if (value.substr(mark_comment.size()) != mark_version)
                return Error{ErrorKind::unsupported, "the archive has version " +
                                                         show_text(value.substr(mark_comment.size())) +
                                                         " of forebay's format, and this program reads only version 1"};
            state_.is_ours = true;
        } else if (value == promise_comment) {
            state_.promises_end = true;
        } else if (value.starts_with(socket_comment)) {
            FB_TRY_ASSIGN(about, records_from(std::string_view(value).substr(socket_comment.size())));
            for (const auto& [own_key, own_value] : about) FB_TRY(apply_record(draft_, own_key, own_value));
            draft_.member.status.kind = sys::EntryKind::socket;
            draft_.member.same_as = std::exchange(draft_.member.link_text, {});
        }
    }
    if (!common.empty() && (!state_.common || common != *state_.common)) {
        const auto bytes = bytes_of_records(common);
        state_.common_bytes += bytes;
        if (bytes > common_bytes_max || state_.common_bytes > all_common_bytes_max)
            return damaged("its common records have no end");
        state_.common = std::make_shared<const Records>(std::move(common));
    }
    DecodedHead decoded{.is = DecodedHead::Is::skipped, .bytes = at_};
    if (draft_.member.status.kind != sys::EntryKind::socket) return decoded;
    FB_TRY(check_sums());
    decoded.is = DecodedHead::Is::member;
    say_place(decoded);
    decoded.member = std::move(draft_.member);
    return decoded;
}

Result<DecodedHead> HeadDecoder::take_entry() {
    if (state_.common)
        for (const auto& [key, value] : *state_.common) FB_TRY(apply_record(draft_, key, value));
    draft_.has_path = false;
    for (const auto& [key, value] : own_) FB_TRY(apply_record(draft_, key, value));
    FB_TRY(take_fields());
    FB_TRY(take_kind());
    if (block_.type == 'S') {
        FB_TRY_ASSIGN(is_whole, take_old_sparse());
        if (!is_whole) return cut(at_ + block_bytes);
    }
    FB_TRY(check_sums());
    return take_stored();
}

Result<> HeadDecoder::take_fields() {
    auto& member = draft_.member;
    if (!long_name_.empty()) {
        member.path = long_name_;
    } else if (!draft_.has_path && member.path.empty()) {
        const auto prefix = text_in(block_.prefix);
        const bool is_posix = std::string_view(block_.magic, posix_magic.size()) == posix_magic;
        member.path = std::string(is_posix ? prefix : "") + (is_posix && !prefix.empty() ? "/" : "") +
                      std::string(text_in(block_.name));
    }
    if (!long_link_.empty()) member.link_text = long_link_;
    else if (!draft_.has_link) member.link_text = text_in(block_.link);
    take_owners();
    auto& status = member.status;
    constexpr std::uint64_t closed_to_others = 0600;
    const auto mode = number_in(block_.mode);
    if (!mode) set_unread(member, Unread::Is::permissions, "permissions", text_in(block_.mode));
    const bool has_owner =
        !has_unread(member, Unread::Is::owner);  // without its owner a setuid file would run as another user
    status.permissions =
        static_cast<std::uint32_t>(mode.has_value() ? *mode : closed_to_others) & (has_owner ? 07777u : 01777u);
    const auto modified = number_in(block_.modified);
    if (!modified) set_unread(member, Unread::Is::times, "modified", text_in(block_.modified));
    if (modified && !draft_.has_modified) status.modified = {.seconds = static_cast<std::int64_t>(*modified)};
    if (status.accessed == sys::FileTime()) status.accessed = status.modified;
    if (!draft_.size) draft_.size = size_;
    if (*draft_.size > stored_bytes_max) return damaged("its size is out of range");
    return {};
}

// An impossible owner is noted but is no error: the later entries are still good.
void HeadDecoder::take_owners() {
    auto& member = draft_.member;
    const auto take = [&](const auto& field, std::uint32_t& into, const char* what) {
        const auto number = number_in(field);
        if (number) set_owner(member, into, what, *number);
        else set_unread_owner(member, into, what, text_in(field));
    };
    if (!draft_.has_user) take(block_.user, member.status.user, "user");
    if (!draft_.has_group) take(block_.group, member.status.group, "group");
}

Result<> HeadDecoder::take_kind() {
    auto& member = draft_.member;
    auto& status = member.status;
    using sys::EntryKind;
    const bool is_named_as_folder = member.path.ends_with('/');
    switch (block_.type) {
        case '1': member.same_as = std::exchange(member.link_text, {}); break;
        case '2': status.kind = EntryKind::link; return {};
        case '3': status.kind = EntryKind::character_device; break;
        case '4': status.kind = EntryKind::block_device; break;
        case '5':
        case 'D': status.kind = EntryKind::folder; break;  // D: followed by a list of names, which is skipped
        case '6': status.kind = EntryKind::fifo; break;
        case '0':
        case '\0':
        case '7':
        case 'S': status.kind = is_named_as_folder ? EntryKind::folder : EntryKind::file; break;
        case 'M':
            return Error{ErrorKind::unsupported, "it is one part of a file, and another archive has the rest", "",
                         "restore all volumes together with the program that made them: tar --multi-volume -xf"};
        default: break;  // unknown: skipped and reported
    }
    member.link_text.clear();
    if (status.kind == EntryKind::character_device || status.kind == EntryKind::block_device) {
        const auto major = number_in(block_.device_major), minor = number_in(block_.device_minor);
        const bool can_be = major && minor && std::max(*major, *minor) <= std::numeric_limits<std::uint32_t>::max();
        if (can_be) status.device_number = *major << 32 | *minor;
        else status.kind = EntryKind::unknown;  // reported later
    }
    return {};
}

// Returns false if a further block of the map is cut.
Result<bool> HeadDecoder::take_old_sparse() {
    constexpr std::size_t in_block = 386, in_block_count = 4, more_at = 482, size_at = 483;
    constexpr std::size_t further_count = 21, further_more_at = 504;
    auto& member = draft_.member;
    member.has_holes = true;
    std::array<char, 12> size;
    const auto* block = reinterpret_cast<const char*>(&block_);
    std::memcpy(size.data(), block + size_at, size.size());
    FB_TRY_ASSIGN(file_size, number_in(*reinterpret_cast<const char(*)[12]>(size.data())));
    draft_.file_size = file_size;
    const auto take = [&](const char* from, std::size_t count) -> Result<> {
        for (std::size_t index = 0; index < count; ++index) {
            OldSparse sparse;
            std::memcpy(&sparse, from + index * sizeof sparse, sizeof sparse);
            if (sparse.bytes[0] == '\0') return {};
            FB_TRY_ASSIGN(begin, number_in(sparse.begin));
            FB_TRY_ASSIGN(bytes, number_in(sparse.bytes));
            FB_TRY(add_stretch(member.stored, begin, bytes, file_size));
        }
        return {};
    };
    FB_TRY(take(block + in_block, in_block_count));
    bool has_more = block[more_at] != 0;
    while (has_more) {
        if (at_ > 2 * records_bytes_max) return damaged("its map of holes is out of range");
        if (bytes_.size() < at_ + block_bytes) return false;
        const auto* further = reinterpret_cast<const char*>(bytes_.data() + at_);
        FB_TRY(take(further, further_count));
        has_more = further[further_more_at] != 0;
        at_ += block_bytes;
    }
    return true;
}

Result<> HeadDecoder::check_sums() {
    if (!draft_.sums) {
        if (state_.is_ours) return damaged("the checksum of its head is missing");
        return {};
    }
    const auto own_at = static_cast<std::size_t>(sums_.data() - text_of(bytes_).data()) + sum_digits + 1;
    if (sums_.empty() || sum_of_head(text_of(bytes_.first(at_)), own_at) != draft_.sums->second)
        return damaged("the checksum of its head is wrong");
    if (state_.promises_end && !draft_.place) return damaged("it does not state its place in the archive");
    if (draft_.member.status.kind == sys::EntryKind::file) draft_.member.sum = draft_.sums->first;
    return {};
}

void HeadDecoder::say_place(DecodedHead& decoded) const {
    decoded.place = draft_.place;
    if (draft_.sums) decoded.head_sum = draft_.sums->second;
}

Result<DecodedHead> HeadDecoder::take_stored() {
    auto& member = draft_.member;
    DecodedHead decoded{.is = DecodedHead::Is::member, .bytes = at_, .stored = round_up(*draft_.size, block_bytes)};
    const bool is_file = member.status.kind == sys::EntryKind::file;
    say_place(decoded);
    if (block_.type == 'V') decoded.is = DecodedHead::Is::skipped;  // the name of the archive
    // Only files and unknown kinds have bytes after them. Old programs set sizes on links and devices, too.
    if (!is_file && block_.type != 'D' && (block_.type == '1' || member.status.kind != sys::EntryKind::unknown))
        decoded.stored = 0;
    if (is_file) {
        member.stored_bytes = *draft_.size;
        member.status.bytes = member.has_holes ? draft_.file_size.value_or(0) : *draft_.size;
        if (member.status.bytes > sparse_bytes_max) return damaged("its size is out of range");
        if (member.has_holes && draft_.has_map_before) {
            const auto there = std::min<std::uint64_t>(bytes_.size() - at_, member.stored_bytes);
            FB_TRY_ASSIGN(map, map_from(bytes_.subspan(at_, there), member.status.bytes));
            if (!map && there == member.stored_bytes) return damaged("its map of holes is cut");
            if (!map) return cut(at_ + std::min(member.stored_bytes, 2 * round_up(there + 1, block_bytes)));
            member.stored = std::move(map->stretches);
            member.map_bytes = map->bytes;
        } else if (!member.has_holes && member.status.bytes > 0) {
            member.stored = {{.begin = 0, .end = member.status.bytes, .stored = 0}};
        }
        const auto last = member.stored.empty() ? StoredStretch() : member.stored.back();
        if (member.map_bytes + last.stored + last.end - last.begin > member.stored_bytes ||
            last.end > member.status.bytes)
            return damaged("its map of holes does not match its bytes");
    }
    decoded.member = std::move(member);
    return decoded;
}

}  // namespace

Result<DecodedHead> decode_head(std::span<const std::byte> bytes, HeadState& state) {
    // State changes count only with a whole head, because a cut head is decoded again.
    auto changed = state;
    FB_TRY_ASSIGN(decoded, HeadDecoder(bytes, changed).read());
    if (decoded.is != DecodedHead::Is::cut) state = std::move(changed);
    return decoded;
}

}  // namespace forebay::archive
