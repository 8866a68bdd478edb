#include "transfer/archive/acl_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/sys/tree.hpp"

namespace forebay::archive {

namespace {

constexpr std::uint32_t acl_version = 2;
constexpr std::size_t acl_head_bytes = 4, acl_entry_bytes = 8;
constexpr std::uint32_t nobody_named = 0xffff'ffff;
// More entries than any file system stores.
constexpr std::size_t acl_entries_max = 8192;

struct AclTag {
    std::uint16_t number;
    const char* word;
    bool has_number;
};
constexpr std::array acl_tags{AclTag{1, "user", false}, AclTag{2, "user", true},   AclTag{4, "group", false},
                              AclTag{8, "group", true}, AclTag{16, "mask", false}, AclTag{32, "other", false}};

std::vector<std::string_view> split(std::string_view text, char by) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find(by);
        parts.push_back(text.substr(0, end));
        if (end == text.npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::uint32_t> acl_number(std::string_view text) {
    std::uint32_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || end != text.data() + text.size()) return {};
    return number;
}

std::string_view trimmed(std::string_view text) {
    text = text.substr(0, text.find('#'));
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

std::optional<std::uint16_t> acl_permissions(std::string_view text) {
    constexpr std::string_view all = "rwx";
    std::uint16_t permissions = 0;
    if (text.size() != all.size()) return {};
    for (std::size_t at = 0; at < all.size(); ++at)
        if (text[at] == all[at]) permissions |= static_cast<std::uint16_t>(4u >> at);
        else if (text[at] != '-') return {};
    return permissions;
}

struct AclEntry {
    std::uint16_t tag = 0, permissions = 0;
    std::uint32_t number = nobody_named;
};

std::optional<AclEntry> acl_entry(std::string_view text) {
    const auto parts = split(text, ':');
    if (parts.size() < 3 || parts.size() > 4) return {};
    const bool has_number = !parts[1].empty();
    const auto tag = std::ranges::find_if(
        acl_tags, [&](const AclTag& known) { return parts[0] == known.word && known.has_number == has_number; });
    const auto permissions = acl_permissions(parts[2]);
    if (tag == acl_tags.end() || !permissions) return {};
    AclEntry entry{.tag = tag->number, .permissions = *permissions};
    if (!has_number) return entry;
    // A fourth field holds the number. The name may be another user on this host.
    auto number = parts.size() == 4 ? acl_number(parts[3]) : std::nullopt;
    if (!number) number = acl_number(parts[1]);
    const std::string name(parts[1]);
    if (!number) number = parts[0] == "user" ? sys::user_of_name(name) : sys::group_of_name(name);
    if (!number) return {};
    entry.number = *number;
    return entry;
}

}  // namespace

std::string acl_text_of(std::string_view value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(value.data());
    if (value.size() < acl_head_bytes || (value.size() - acl_head_bytes) % acl_entry_bytes != 0) return {};
    if (load_le<std::uint32_t>(bytes) != acl_version) return {};
    std::string text;
    for (auto at = acl_head_bytes; at < value.size(); at += acl_entry_bytes) {
        const auto number = load_le<std::uint16_t>(bytes + at), permissions = load_le<std::uint16_t>(bytes + at + 2);
        const auto tag = std::ranges::find_if(acl_tags, [&](const AclTag& known) { return known.number == number; });
        if (tag == acl_tags.end() || permissions > 7) return {};
        if (!text.empty()) text += ',';
        text += tag->word;
        text += ':';
        if (tag->has_number) text += std::to_string(load_le<std::uint32_t>(bytes + at + 4));
        text += ':';
        for (std::size_t bit = 0; bit < 3; ++bit) text += (permissions & 4u >> bit) != 0 ? "rwx"[bit] : '-';
    }
    return text;
}

std::optional<std::string> acl_value_of(std::string_view text) {
    std::string value(acl_head_bytes, '\0');
    store_le(reinterpret_cast<std::byte*>(value.data()), acl_version);
    std::vector<AclEntry> entries;
    for (const auto line : split(text, '\n')) {
        for (const auto part : split(line, ',')) {
            const auto plain = trimmed(part);
            if (plain.empty()) continue;
            const auto entry = acl_entry(plain);
            if (!entry || entries.size() >= acl_entries_max) return {};
            entries.push_back(*entry);
        }
    }
    // The kernel accepts only this order. bsdtar writes named entries last.
    std::ranges::stable_sort(entries, {}, [](const AclEntry& entry) { return std::pair(entry.tag, entry.number); });
    for (const auto& entry : entries) {
        std::array<std::byte, acl_entry_bytes> bytes;
        store_le(bytes.data(), entry.tag);
        store_le(bytes.data() + 2, entry.permissions);
        store_le(bytes.data() + 4, entry.number);
        value += text_of(bytes);
    }
    return value;
}

}  // namespace forebay::archive
