// Goal: open_head() reads back the files of encode(), patch_rows() and seal(). Damaged files are refused.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/format/head.hpp"
#include "support/node_file_cases.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

/// Page-aligned memory, like a mapping.
struct Image {
    explicit Image(std::uint64_t size)
        : memory(static_cast<std::byte*>(std::aligned_alloc(4096, size)), &std::free), bytes(memory.get(), size) {
        std::ranges::fill(bytes, std::byte{0xA5});  // old content of the slot
    }
    std::unique_ptr<std::byte, decltype(&std::free)> memory;
    std::span<std::byte> bytes;
};

Layout layout_of(const test::NodeFileCase& node_case, const LayoutOptions& options = {}) {
    auto layout = plan_layout(node_case.schema, node_case.parts, options);
    REQUIRE_MESSAGE(layout.has_value(), (layout ? "" : layout.error().text()));
    return std::move(*layout);
}

Image sealed(const Layout& layout) {
    Image image(layout.file_bytes);
    encode(layout, image.bytes);
    test::fill(layout, image.bytes);
    seal(layout, test::example_record(6), image.bytes);
    return image;
}

void check_same(const NodeFile& file, const Layout& layout) {
    CHECK(file.schema == layout.schema);
    CHECK(file.ranks == layout.ranks);
    CHECK(file.blocks == layout.blocks);
    CHECK(file.first_block == layout.first_block);
    CHECK(file.crc32c.size() == layout.crc_words);
    CHECK(file.file_bytes == layout.file_bytes);
    REQUIRE(file.extents.size() == layout.extents.size());
    for (std::size_t v = 0; v < layout.extents.size(); ++v) {
        CHECK(file.extents[v].offset_bytes == layout.extents[v].offset_bytes);
        CHECK(file.extents[v].used_bytes == layout.extents[v].used_bytes);
        CHECK(file.extents[v].capacity_bytes == layout.extents[v].capacity_bytes);
    }
}

}  // namespace

TEST_CASE("node file: what is sealed is read back") {
    for (const auto& node_case :
         {test::mixed_case(), test::many_case(300), test::groups_case(100), test::bare_case()}) {
        CAPTURE(node_case.schema.stream);
        const auto layout = layout_of(node_case);
        const auto image = sealed(layout);
        const auto peeked = peek(image.bytes.first(8192), "f.h5");
        REQUIRE_MESSAGE(peeked.has_value(), (peeked ? "" : peeked.error().text()));
        CHECK(peeked->record.snapshot_id == 0x00f30000c0ffee9a);
        CHECK(peeked->record.step == 120);
        CHECK(peeked->record.time == 0.5);
        CHECK(peeked->file_bytes == layout.file_bytes);
        const auto file = open_head(image.bytes.first(peeked->head_bytes), "f.h5");
        REQUIRE_MESSAGE(file.has_value(), (file ? "" : file.error().text()));
        check_same(*file, layout);
        CHECK(file->record_crc32c == peeked->record_crc32c);
    }
}

TEST_CASE("node file: patching equals encoding anew, byte for byte") {
    auto layout = layout_of(test::patched_case());
    const std::vector<std::vector<std::uint64_t>> counts{
        {0, 0, 6, 9}, {1, 0, 0, 0}, {5, 7, 300, 400}, {0, 0, 0, 0}, {12, 0, 0, 1}};
    Image patched(layout.file_bytes);
    encode(layout, patched.bytes);
    for (const auto& rows : counts) {
        REQUIRE(change_rows(layout, rows));
        patch_rows(layout, patched.bytes);
        Image encoded(layout.file_bytes);
        encode(layout, encoded.bytes);
        for (auto* image : {&patched, &encoded}) {
            test::fill(layout, image->bytes);
            seal(layout, test::example_record(2), image->bytes);
        }
        const auto head_bytes = layout.crc_offset_bytes + layout.crc_words * 4;
        CHECK(std::ranges::equal(patched.bytes.first(head_bytes), encoded.bytes.first(head_bytes)));
        const auto file = open_head(patched.bytes.first(head_bytes), "f.h5");
        REQUIRE_MESSAGE(file.has_value(), (file ? "" : file.error().text()));
        check_same(*file, layout);
        CHECK(file->rows(0) == rows[0] + rows[1]);
        CHECK(file->rows(1) == rows[2] + rows[3]);
    }
}

TEST_CASE("node file: more rows than the capacity are refused and change nothing") {
    auto layout = layout_of(test::patched_case());
    const auto rows = layout.rows;
    const auto blocks = layout.blocks;
    const std::vector<std::uint64_t> too_many{0, layout.row_capacity[0] + 1, 0, 0};
    const auto changed = change_rows(layout, too_many);
    REQUIRE(!changed);
    CHECK(changed.error().kind == ErrorKind::full);
    CHECK(layout.rows == rows);
    CHECK(layout.blocks == blocks);
    const std::vector<std::uint64_t> wraps{UINT64_MAX, 2, 0, 0};
    CHECK(change_rows(layout, wraps).error().kind == ErrorKind::full);
    const std::vector<std::uint64_t> most{0, layout.row_capacity[0], layout.row_capacity[1], 0};
    CHECK(change_rows(layout, most));
    CHECK(layout.crc_words <= layout.crc_capacity_words);
}

TEST_CASE("node file: before the seal, and after invalidate(), it is missing") {
    const auto layout = layout_of(test::mixed_case());
    Image image(layout.file_bytes);
    encode(layout, image.bytes);
    CHECK(peek(image.bytes.first(8192), "f.h5").error().kind == ErrorKind::missing);
    seal(layout, test::example_record(6), image.bytes);
    CHECK(peek(image.bytes.first(8192), "f.h5"));
    invalidate(image.bytes);
    CHECK(peek(image.bytes.first(8192), "f.h5").error().kind == ErrorKind::missing);
    const std::vector<std::byte> reserved(8192);
    CHECK(peek(reserved, "f.h5").error().kind == ErrorKind::missing);
}

TEST_CASE("node file: other files are refused, newer ones unsupported, cut ones corrupt") {
    const auto layout = layout_of(test::mixed_case());
    auto image = sealed(layout);
    CHECK(peek(image.bytes.first(8191), "f.h5").error().kind == ErrorKind::refused);
    const auto head_bytes = peek(image.bytes.first(8192), "f.h5")->head_bytes;
    CHECK(open_head(image.bytes.first(head_bytes - 1), "f.h5").error().kind == ErrorKind::corrupt);

    std::vector<std::byte> text(8192, std::byte{'x'});
    CHECK(peek(text, "f.h5").error().kind == ErrorKind::refused);

    auto* page = reinterpret_cast<RecordPage*>(image.bytes.data() + record_offset_bytes);
    page->version = shared_version + 1;
    page->record_crc32c = crc32c(image.bytes.subspan(4096, 4092));
    CHECK(peek(image.bytes.first(8192), "f.h5").error().kind == ErrorKind::unsupported);
}

TEST_CASE("node file: a head with any byte changed is refused") {
    const auto layout = layout_of(test::mixed_case());
    auto image = sealed(layout);
    const auto head_bytes = peek(image.bytes.first(8192), "f.h5")->head_bytes;
    std::vector<std::byte> head(image.bytes.begin(), image.bytes.begin() + static_cast<std::ptrdiff_t>(head_bytes));
    for (std::size_t at = 0; at < head.size(); ++at) {
        const auto before = head[at];
        head[at] ^= std::byte{static_cast<unsigned char>(1u << (at % 8))};
        const auto file = open_head(head, "f.h5");
        if (file.has_value()) FAIL_CHECK("byte " << at << " changed, and the head is accepted");
        else if (file.error().kind != ErrorKind::corrupt) FAIL_CHECK("byte " << at << ": " << file.error().text());
        head[at] = before;
    }
}
