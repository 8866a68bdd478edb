// Goal: the order of saves needs no clock. Lines come back unchanged from a record and a manifest. Impossible lines are
// damage.

#include "core/format/lineage.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/format/head.hpp"
#include "support/small_run.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

const Lineage lineage{.run_id = 0xf30000c0ffee9a00, .save = 7, .lines = {{{1, 0}, -1}, {{3, 0}, 200}, {{5, 2}, 300}}};

std::vector<std::byte> image_with(const Lineage& given) {
    return test::small_node_file({.nodes = 2, .lineage = given}, 1);
}

// The checksum is computed again: with a wrong checksum the record would be damaged anyway.
Result<Peek> peek_with(void (*change)(RecordPage&)) {
    auto image = image_with(lineage);
    RecordPage page;
    std::memcpy(&page, image.data() + record_offset_bytes, sizeof page);
    change(page);
    page.record_crc32c = crc32c(std::as_bytes(std::span(&page, 1)).first(offsetof(RecordPage, record_crc32c)));
    std::memcpy(image.data() + record_offset_bytes, &page, sizeof page);
    return peek(image, "image");
}

Manifest manifest_with(const Lineage& given) {
    const auto head = open_head(image_with(given), "image").value();
    Manifest manifest{.snapshot_id = head.record.snapshot_id,
                      .step = head.record.step,
                      .time = head.record.time,
                      .sealed_unix_ns = head.record.sealed_unix_ns,
                      .world_ranks = head.record.world_ranks,
                      .lineage = given,
                      .schema = head.schema,
                      .shapes = distinct_shapes(head.schema),
                      .nodes = {line_of(head, "node-00001.h5")}};
    return manifest;
}

}  // namespace

TEST_CASE(
    "later is what a later session saved, then what it saved later; clocks decide between unnumbered saves alone") {
    const Save first{.snapshot_id = 9, .sealed_unix_ns = 1000, .line = {1, 0}, .number = 4};
    const auto differing = [&](auto change) {
        auto other = first;
        other.sealed_unix_ns = 1;  // a clock that was set back
        change(other);
        return is_later(other, first) && !is_later(first, other);
    };
    CHECK(differing([](Save& other) { other.line.session = 2; }));
    CHECK(differing([](Save& other) { other.line.turn = 1; }));
    CHECK(differing([](Save& other) { other.number = 5; }));
    CHECK(differing([](Save& other) { other.snapshot_id = 10; }));
    CHECK_FALSE(is_later(first, first));
    const Save old{.snapshot_id = 9, .sealed_unix_ns = 1000}, older{.snapshot_id = 10, .sealed_unix_ns = 999};
    CHECK(is_later(old, older));
    CHECK(is_later(first, old));
}

TEST_CASE("a line abandons what earlier ones have above the step that it goes on from") {
    const LineStart start{{5, 0}, 300};
    CHECK_FALSE(abandons(start, {4, 9}, 300));
    CHECK(abandons(start, {4, 9}, 301));
    CHECK_FALSE(abandons(start, {5, 0}, 301));
    CHECK_FALSE(abandons(start, {6, 0}, 301));
    CHECK(abandons({{5, 1}, -1}, {5, 0}, 0));
    CHECK(name_of(Line{5, 0}) == "5");
    CHECK(name_of(Line{5, 1}) == "5.1");
}

TEST_CASE("the record holds the lineage, and what no session can have written is damage") {
    CHECK(peek(image_with(lineage), "image").value().record.lineage == lineage);
    CHECK(peek(image_with({}), "image").value().record.lineage == Lineage{});
    Lineage full{.run_id = 1, .save = 1, .lines = {}};
    for (std::uint32_t i = 1; i <= line_starts_max; ++i) full.lines.push_back({{i, 0}, i});
    CHECK(peek(image_with(full), "image").value().record.lineage == full);
    for (const auto change : {+[](RecordPage& page) { page.lines = line_starts_max + 1; },
                              +[](RecordPage& page) { page.lines = 4; },  // a line of session 0
                              +[](RecordPage& page) { page.line_starts[1].session = 1; },
                              +[](RecordPage& page) { page.line_starts[2].from = -2; }}) {
        const auto peeked = peek_with(change);
        REQUIRE_FALSE(peeked);
        CHECK(peeked.error().kind == ErrorKind::corrupt);
    }
}

TEST_CASE("another lineage changes the record alone, which stays whole") {
    auto image = image_with(lineage);
    const auto before = image;
    REQUIRE(change_lineage({.run_id = 77}, image, "image"));
    const auto head = open_head(image, "image").value();
    CHECK(head.record.lineage == Lineage{.run_id = 77});
    CHECK(head.record.step == open_head(before, "image").value().record.step);
    const auto rest = [](const std::vector<std::byte>& of) {
        return std::vector(of.begin() + record_offset_bytes + record_size_bytes, of.end());
    };
    CHECK(rest(image) == rest(before));
    image[record_offset_bytes + 100] ^= std::byte{1};
    CHECK(change_lineage({}, image, "image").error().kind == ErrorKind::corrupt);
}

TEST_CASE("the manifest holds the lineage, and its first two lines can be read and checked alone") {
    const auto manifest = manifest_with(lineage);
    const auto text = encode_manifest(manifest);
    CHECK(decode_manifest(text, "manifest").value().lineage == lineage);
    const auto head =
        decode_manifest_head(std::string_view(text).substr(0, manifest_head_bytes_max), "manifest").value();
    CHECK(head.lineage == lineage);
    CHECK(head.snapshot_id == manifest.snapshot_id);
    CHECK(head.step == manifest.step);
    CHECK(head.time == manifest.time);
    CHECK(head.sealed_unix_ns == manifest.sealed_unix_ns);
    CHECK(head.world_ranks == manifest.world_ranks);
    // Every flipped bit in the two lines is found without the rest.
    const auto second_line = text.find('\n', text.find('\n') + 1);
    for (std::size_t at = 0; at < second_line; ++at) {
        auto damaged = text;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        CAPTURE(at);
        const auto read = decode_manifest_head(damaged, "manifest");
        REQUIRE_FALSE(read);
        // The content of another version is not known.
        CHECK((read.error().kind == ErrorKind::corrupt || read.error().kind == ErrorKind::unsupported));
    }
    CHECK_FALSE(decode_manifest_head(std::string_view(text).substr(0, second_line), "manifest"));
    Lineage full{.run_id = ~std::uint64_t{0}, .save = ~std::uint64_t{0}, .lines = {}};
    for (std::uint32_t i = 1; i <= line_starts_max; ++i)
        full.lines.push_back({{UINT32_MAX - 100 + i, UINT32_MAX}, INT64_MAX - 100 + i});
    const auto longest = encode_manifest(manifest_with(full));
    CHECK(decode_manifest_head(longest, "manifest").value().lineage == full);
}

TEST_CASE("a manifest of before there were lines is read, and written as it was") {
    const auto text = encode_manifest(manifest_with({}));
    CHECK(text.find("\"version\":1,") != std::string::npos);
    const auto head = decode_manifest_head(text, "manifest").value();
    CHECK(head.lineage == Lineage{});
    CHECK(head.step == 120);
}
