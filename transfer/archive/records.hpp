// Values of pax records, by their keys.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "transfer/archive/head.hpp"

namespace forebay::archive {

/// A member while its head is being read.
struct Draft {
    Member member;
    std::optional<std::uint64_t> size;        // stored bytes
    std::optional<std::uint64_t> file_size;   // for a file with holes
    bool has_map_before = false;              // GNU.sparse.1.0: the map lies before the bytes
    std::optional<std::uint64_t> next_begin;  // GNU.sparse.0.0: offset and size alternate
    bool has_path = false, has_link = false, has_modified = false, has_user = false, has_group = false;
    std::optional<std::pair<std::uint32_t, std::uint32_t>> sums;  // of the bytes, of the head
    std::optional<std::uint64_t> place;
};

/// "KEY=VALUE" records, each after its length.
Result<Records> records_from(std::string_view text);
/// Returns `corrupt` for an invalid value.
Result<> apply_record(Draft& draft, std::string_view key, std::string_view value);

/// Sets the number of a user or a group. An impossible number is noted as unread, and `field` is nobody's.
void set_owner(Member& member, std::uint32_t& field, const std::string& what, std::uint64_t number);
/// The same for a text that is no number: "-1".
void set_unread_owner(Member& member, std::uint32_t& field, const std::string& what, std::string_view text);
/// Notes an unread part of a head and replaces an earlier note about it.
void set_unread(Member& member, Unread::Is is, const std::string& what, std::string_view text);
/// True if such a part is noted.
bool has_unread(const Member& member, Unread::Is is);

}  // namespace forebay::archive
