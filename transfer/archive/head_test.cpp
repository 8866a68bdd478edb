// Goal: a decoded head equals its member, damage is detected, and a forbidden path is refused.
// Method: encodes and decodes members of each kind with extreme numbers, times and names. Changes each byte of heads.
// Skips stretches of every size of some blocks, and of some large sizes.

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "transfer/archive/acl_text.hpp"
#include "transfer/archive/head.hpp"
#include "transfer/archive/stored.hpp"
#include "transfer/copy/attributes.hpp"

using namespace forebay;
using namespace forebay::archive;

namespace {

constexpr std::uint64_t place = 0x1234'5678'9abc'de00;

std::string whole(const Member& member) {
    auto head = encode_head(member);
    const auto bytes = std::as_writable_bytes(std::span(head.bytes));
    set_stored_sum(bytes, head.sums_at, 0x89abcdef);
    set_place(bytes, head.sums_at, place);
    return head.bytes + map_of(member);
}

DecodedHead read(const std::string& bytes) {
    HeadState state{.is_ours = true};
    return decode_head(bytes_of(bytes), state).value();
}

Member file(const std::string& path, std::uint64_t bytes) {
    Member member{.path = path};
    member.status = {.kind = sys::EntryKind::file, .permissions = 04751, .user = 3, .group = 4'000'000'000};
    member.status.bytes = member.stored_bytes = bytes;
    if (bytes > 0) member.stored = {{0, bytes, 0}};
    member.status.accessed = {5, 6};
    member.status.modified = {1'234'567'890, 987'654'321};
    return member;
}

void check_same(const Member& member) {
    CAPTURE(member.path);
    const auto decoded = read(whole(member));
    REQUIRE(decoded.is == DecodedHead::Is::member);
    const auto& again = decoded.member;
    CHECK(clean_path(again.path).value() == member.path);
    CHECK(again.link_text == member.link_text);
    CHECK(decoded.place == place);
    CHECK((again.end == member.end));
    CHECK((member.same_as.empty() ? again.same_as.empty() : clean_path(again.same_as).value() == member.same_as));
    if (!member.same_as.empty()) return;
    CHECK(again.status.kind == member.status.kind);
    CHECK(again.status.bytes == member.status.bytes);
    CHECK(again.status.device_number == member.status.device_number);
    CHECK(again.stored_bytes == member.stored_bytes);
    CHECK(tree::difference_of(again.status, member.status, {}) == "");
    CHECK(again.status.accessed == member.status.accessed);
    REQUIRE(again.attributes.size() == member.attributes.size());
    for (std::size_t at = 0; at < member.attributes.size(); ++at) {
        CHECK(again.attributes[at].name == member.attributes[at].name);
        CHECK(again.attributes[at].value == member.attributes[at].value);
    }
    CHECK(std::ranges::equal(again.stored, member.stored, [](const StoredStretch& stretch, const StoredStretch& other) {
        return stretch.begin == other.begin && stretch.end == other.end && stretch.stored == other.stored;
    }));
    if (member.status.kind == sys::EntryKind::file) CHECK(again.sum == 0x89abcdefu);
}

std::string acl(std::initializer_list<std::array<std::uint32_t, 3>> entries) {
    std::string value(4, '\0');
    value[0] = 2;
    for (const auto& [tag, permissions, number] : entries) {
        std::string entry(8, '\0');
        store_le(reinterpret_cast<std::byte*>(entry.data()), static_cast<std::uint16_t>(tag));
        store_le(reinterpret_cast<std::byte*>(entry.data()) + 2, static_cast<std::uint16_t>(permissions));
        store_le(reinterpret_cast<std::byte*>(entry.data()) + 4, number);
        value += entry;
    }
    return value;
}

}  // namespace

TEST_CASE("a head says again what it was made of") {
    for (const auto size : {0ull, 1ull, 511ull, 512ull, 8ull << 30, 1ull << 50}) check_same(file("a/b", size));
    for (const std::string& path :
         {std::string(255, 'n'), std::string(98, 'n'), std::string(99, '\xff'), std::string("new\nline"),
          "d/" + std::string(120, '\xfe'), std::string("\xc3"), std::string("-rf")})
        check_same(file(path, 10));
    std::string deep = "d";
    for (int level = 0; level < 4000; ++level) deep += "/directory";
    check_same(file(deep, 10));
    for (const sys::FileTime time :
         {sys::FileTime{-315'619'200, 123'456'789}, {-1, 999'999'999}, {0, 0}, {-5, 0}, {1ll << 40, 1}}) {
        auto member = file("time", 1);
        member.status.modified = time;
        check_same(member);
    }
    auto with_attributes = file("attributes", 3);
    const auto none = 0xffff'ffffu;
    with_attributes.attributes = {
        {"user.a=b%3D", std::string("bytes\0\n=", 8)},
        {"user.empty", ""},
        {tree::access_acl, acl({{1, 7, none}, {2, 6, 1000}, {4, 5, none}, {16, 7, none}, {32, 0, none}})},
        {tree::default_acl, "no ACL that text can say"},
        {"security.capability", std::string(20, '\1')}};
    check_same(with_attributes);
}

TEST_CASE("kinds of entries, links and maps of holes") {
    using sys::EntryKind;
    for (const auto kind : {EntryKind::folder, EntryKind::fifo, EntryKind::socket, EntryKind::character_device,
                            EntryKind::block_device}) {
        Member member{.path = "one"};
        member.status = {.kind = kind, .permissions = 01777, .user = 1, .group = 2};
        if (kind == EntryKind::block_device) member.status.device_number = 4095ull << 32 | 1'048'575;
        check_same(member);
    }
    Member root{.path = "."};
    root.status.kind = EntryKind::folder;
    check_same(root);
    root.end = {.entries = 1'000'000'007, .sum = 0xfedc'ba98'7654'3210};
    check_same(root);
    for (const std::string& text :
         {std::string("x"), std::string(1000, 'x'), std::string(200, '\xfe'), std::string("../\n")}) {
        Member link{.path = "link", .status = {.kind = EntryKind::link}, .link_text = text};
        check_same(link);
        Member hard{.path = "hard", .same_as = "d/" + text.substr(0, 1) + "first"};
        check_same(hard);
        hard.status.kind = EntryKind::socket;
        check_same(hard);
    }
    auto holes = file("holes", 0);
    holes.has_holes = true;
    holes.status.bytes = 1ull << 40;
    for (std::uint64_t at = 0; at < 300; ++at) holes.stored.push_back({at << 20, (at << 20) + 4096, at * 4096});
    holes.map_bytes = map_of(holes).size();
    holes.stored_bytes = holes.map_bytes + 300 * 4096;
    check_same(holes);
    const auto parts = parts_of(holes, 4000, 8200);
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].begin == 4000);
    CHECK(parts[1].begin == 1u << 20);
    CHECK(parts[2].end == (2u << 20) + 8);
}

TEST_CASE("each changed byte of a head of ours is seen, or changes nothing") {
    auto member = file("name", 100);
    member.attributes = {{"user.note", "noted"}};
    const auto bytes = whole(member);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        auto changed = bytes;
        changed[at] ^= 1;
        HeadState state{.is_ours = true};
        const auto decoded = decode_head(bytes_of(changed), state);
        CAPTURE(at);
        CHECK((!decoded || decoded->is == DecodedHead::Is::cut));
    }
    for (std::size_t size = 0; size < bytes.size(); size += 100)
        CHECK(read(bytes.substr(0, size)).is == DecodedHead::Is::cut);
}

TEST_CASE("an archive that promises its end has the place of each entry; records of zeros are damage") {
    auto bytes = whole(file("name", 100));
    HeadState state{.is_ours = true, .promises_end = true};
    CHECK(decode_head(bytes_of(bytes), state));
    auto old = encode_head(file("name", 100));
    old.bytes.replace(old.bytes.find("FOREBAY.at="), 11, "FOREBAY.no=");
    const auto span = std::as_writable_bytes(std::span(old.bytes));
    set_stored_sum(span, old.sums_at, 0);
    set_place(span, old.sums_at, 0);
    CHECK_FALSE(decode_head(bytes_of(old.bytes), state));
    HeadState of_before{.is_ours = true};
    CHECK(decode_head(bytes_of(old.bytes), of_before));
    HeadState none;
    auto mark = encode_mark();
    CHECK(decode_head(bytes_of(mark), none));
    CHECK((none.is_ours && none.promises_end));
    std::ranges::fill(mark.begin() + block_bytes, mark.end(), '\0');
    CHECK_FALSE(decode_head(bytes_of(mark), none));
}

TEST_CASE("what is passed over is whole, and its heads are few between entries") {
    const auto again = whole({.path = ".", .status = {.kind = sys::EntryKind::folder}});
    for (std::uint64_t blocks : {2u, 3u, 4u, 2047u, 2048u, 2049u, 2050u, 2051u, 4097u, 100'000u, 123'457u}) {
        CAPTURE(blocks);
        std::string bytes(blocks * block_bytes, '\x5a');
        for (const auto& piece : encode_skipped(bytes.size(), again)) {
            std::ranges::copy(piece.begin, bytes.begin() + static_cast<std::ptrdiff_t>(piece.offset));
            std::ranges::copy(
                piece.end, bytes.begin() + static_cast<std::ptrdiff_t>(piece.offset + piece.bytes - piece.end.size()));
        }
        HeadState state{.is_ours = true};
        auto rest = bytes_of(bytes);
        int alone = 0;
        while (!rest.empty()) {
            const auto decoded = decode_head(rest, state).value();
            REQUIRE(decoded.is != DecodedHead::Is::cut);
            alone = decoded.is == DecodedHead::Is::member ? 0 : alone + 1;
            CHECK(alone < 20);
            if (decoded.is == DecodedHead::Is::member) CHECK(clean_path(decoded.member.path).value() == ".");
            rest = rest.subspan(decoded.bytes + decoded.stored);
        }
    }
}

TEST_CASE("paths that lead out of the target are refused") {
    CHECK(clean_path("./a//b/./c/").value() == "a/b/c");
    CHECK(clean_path("./").value() == ".");
    CHECK(clean_path("..a/b..").value() == "..a/b..");
    CHECK(clean_path("//a/b").value() == "a/b");
    CHECK(clean_path("/").value() == ".");
    for (const auto* path : {"", "..", "/..", "a/..", "a/../../b", "./../a"}) CHECK_FALSE(clean_path(path));
    CHECK_FALSE(clean_path(std::string_view("a\0b", 3)));
}

TEST_CASE("ACLs of other programs") {
    const auto none = 0xffff'ffffu;
    const auto value = acl({{1, 6, none}, {2, 4, 77}, {4, 4, none}, {16, 4, none}, {32, 0, none}});
    CHECK(acl_value_of("user::rw-,user:77:r--,group::r--,mask::r--,other::---") == value);
    CHECK(acl_value_of("user::rw-\nuser:nobody-of-this-name:r--:77\ngroup::r-- # text\nmask::r--\nother::---\n") ==
          value);
    CHECK(acl_value_of("user::rw-,user:root:r--,group::r--,mask::r--,other::---").value().substr(16, 4) ==
          std::string(4, '\0'));
    for (const auto* text : {"user::rw", "user::rwz", "nobody::rwx", "user:no-such-user-here:rwx", "user"})
        CHECK_FALSE(acl_value_of(text));
    CHECK(acl_text_of("short").empty());
}
