// Goal: a file becomes a variable and the same file again, for any path, mode and time. A batch gets another step by a
// change of its record only.
// Method: both directions; a small node file, and golden files of other forms.

#include "core/format/packed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <vector>

#include "core/format/layout.hpp"
#include "core/format/node_file.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

/// A batch of two files.
std::vector<std::byte> batch_of(std::int64_t step) {
    Schema schema{.stream = "packed-here"};
    RankPart part;
    for (const auto* path : {"a", "d/b"}) {
        schema.variables.push_back(packed_variable({.path = path, .bytes = 5}, 0));
        part.boxes.push_back({{{0}, schema.variables.back().shape}});
    }
    const auto layout = plan_layout(schema, std::span(&part, 1), {}).value();
    std::vector<std::byte> image(layout.file_bytes);
    encode(layout, image);
    seal(layout,
         {.snapshot_id = 7, .step = step, .time = batch_time(step), .sealed_unix_ns = 9, .nodes = 1, .world_ranks = 1},
         image);
    return image;
}

}  // namespace

TEST_CASE("files and variables, both ways") {
    using Limits = std::numeric_limits<std::int64_t>;
    for (const auto* path : {"a", "d/e/f", "_unnamed/00007", "_forebay/x", "not \xff utf8\n%41", "a b", "%"})
        for (const auto time : {Limits::min(), std::int64_t{-1}, std::int64_t{0}, Limits::max()})
            for (const std::uint64_t bytes : {0, 1, 3'000'000}) {
                CAPTURE(path);
                const PackedFile file{.path = path, .bytes = bytes, .mode = 04751, .modified_unix_ns = time};
                const auto variable = packed_variable(file, 7);
                CHECK(check(Schema{.stream = "packed-x", .tables = {}, .variables = {variable}}).has_value());
                CHECK(packed_file(variable) == file);
            }
}

TEST_CASE("another step changes the record, and all that reads the file sees it") {
    const auto before = batch_of(1'700'000'000'123);
    auto after = before;
    constexpr auto pages = record_offset_bytes + record_size_bytes;
    REQUIRE(change_step(std::span(after).first(pages), 9'000'000'000'001, "batch"));
    CHECK(after == batch_of(9'000'000'000'001));
    const auto head = open_head(after, "batch").value();
    CHECK(head.record.step == 9'000'000'000'001);
    CHECK(head.record.time == batch_time(9'000'000'000'001));
    CHECK(std::ranges::equal(std::span(before).subspan(pages), std::span(after).subspan(pages)));
}

TEST_CASE("a record that is damaged, or is not there yet, gets no step") {
    auto image = batch_of(5);
    image[record_offset_bytes + 100] ^= std::byte{1};
    const auto damaged = image;
    CHECK(change_step(image, 6, "batch").error().kind == ErrorKind::corrupt);
    CHECK(image == damaged);
    invalidate(image);
    CHECK(change_step(image, 6, "batch").error().kind == ErrorKind::missing);
    CHECK(change_step(std::span(image).first(4096), 6, "batch").error().kind == ErrorKind::refused);
}

TEST_CASE("a compressed node file is no batch") {
    const char* source = std::getenv("FOREBAY_SOURCE_DIR");
    REQUIRE_MESSAGE(source != nullptr, "run by ctest, or set FOREBAY_SOURCE_DIR");
    std::ifstream in(std::string(source) + "/tests/golden/v2/snapshot/node-00000.h5", std::ios::binary);
    std::vector<std::byte> pages(record_offset_bytes + record_size_bytes);
    REQUIRE(in.read(reinterpret_cast<char*>(pages.data()), static_cast<std::streamsize>(pages.size())));
    const auto before = pages;
    CHECK(change_step(pages, 6, "node-00000.h5").error().kind == ErrorKind::refused);
    CHECK(pages == before);
}
