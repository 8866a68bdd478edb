// Goal: the GenericIO decoder accepts whole files. It refuses a header with any byte changed, a file with its end cut,
// and a header with a right checksum and wrong numbers.

#include "insight/foreign/genericio/genericio.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/crc64.hpp"
#include "insight/foreign/genericio/encode.hpp"
#include "insight/foreign/genericio/layout.hpp"
#include "support/span_file.hpp"

using namespace forebay;
using namespace forebay::foreign;
namespace gio = forebay::foreign::genericio;

namespace {

std::vector<std::byte> as_bytes_of(const std::vector<float>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

// Two ranks with 3 and 2 elements of x, y.
std::vector<std::byte> small_file(bool big_endian = false) {
    gio::GioHeader header;
    header.big_endian = big_endian;
    header.elements = 5;
    header.dims = {2, 1, 1};
    header.phys_scale = {256, 256, 128};
    for (const auto* name : {"x", "y"}) header.variables.push_back({name, gio::is_float | gio::is_signed, 4, 4});
    header.ranks = {{.coords = {0, 0, 0}, .elements = 3, .global_rank = 0},
                    {.coords = {1, 0, 0}, .elements = 2, .global_rank = 1}};
    const std::vector<std::vector<std::byte>> columns{as_bytes_of({1, 2, 3, 4, 5}), as_bytes_of({-1, -2, -3, -4, -5})};
    return gio::encode_small(header, columns);
}

Result<gio::GioHeader> decoded(const std::vector<std::byte>& bytes) {
    test::SpanFile file(bytes);
    return gio::read_header(file, "m000");
}

void seal_header(std::vector<std::byte>& bytes) {
    const auto size = load_le<std::uint64_t>(bytes.data() + gio::at_header_bytes);
    std::ranges::copy(gio::trailer(crc64(std::span(bytes).first(size))),
                      bytes.begin() + static_cast<std::ptrdiff_t>(size));
}

// The error for a header with one number changed and its checksum made right.
std::string told(std::uint64_t at, std::uint64_t value) {
    auto bytes = small_file();
    store_le(bytes.data() + at, value);
    seal_header(bytes);
    const auto header = decoded(bytes);
    if (header) return {};
    CHECK(header.error().kind == ErrorKind::corrupt);
    return header.error().text();
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

constexpr std::uint64_t huge = 0xffff'ffff'ffff'fff0;

}  // namespace

TEST_CASE("a whole file of either byte order") {
    for (const bool big : {false, true}) {
        const auto bytes = small_file(big);
        const auto header = decoded(bytes).value();
        CHECK(header.big_endian == big);
        CHECK(header.elements == 5);
        CHECK(header.phys_scale == std::array{256.0, 256.0, 128.0});
        CHECK(header.ranks[1].elements == 2);
        CHECK(header.block(1, 1).stored.end() + gio::crc_bytes == bytes.size());
        test::SpanStore store;
        store.files["m000"] = bytes;
        const auto set = gio::open_set(store, "m000").value();
        CHECK(gio::verify(store, set, {}).value().damage.empty());
        const auto contents = gio::open(store, "m000").value();
        const auto layout = lay_out(contents, "restart").value();
        std::vector<float> values(2);
        OriginReader reader;
        test::SpanFile file(bytes);
        for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
            const auto& block = layout.blocks[i];
            if (layout.schema.variables[block.variable].name != "particles/y" || block.rank != 1) continue;
            const auto to = std::as_writable_bytes(std::span(values));
            reader.read(file, contents.origins[i], 0, to).value();
            if (big) swap_numbers(f32, to);
        }
        CHECK(values == std::vector<float>{-4, -5});
    }
}

TEST_CASE("every byte of the header: changed, it is refused") {
    for (const bool big : {false, true}) {
        const auto whole = small_file(big);
        const auto header_bytes = decoded(whole).value().header_bytes;
        for (std::size_t at = 0; at < header_bytes; ++at)
            for (const auto change : {0x01, 0x80, 0xff}) {
                auto bytes = whole;
                bytes[at] ^= static_cast<std::byte>(change);
                CAPTURE(at);
                const auto header = decoded(bytes);
                REQUIRE_FALSE(header.has_value());
                CHECK((header.error().kind == ErrorKind::corrupt || header.error().kind == ErrorKind::refused));
                CHECK(has(header.error().text(), "m000"));
            }
    }
}

TEST_CASE("every byte of the data: changed, one block is damaged") {
    const auto whole = small_file();
    const auto header_bytes = decoded(whole).value().header_bytes;
    for (auto at = header_bytes; at < whole.size(); ++at) {
        test::SpanStore store;
        store.files["m000"] = whole;
        store.files["m000"][at] ^= std::byte{4};
        const auto verified = gio::verify(store, gio::open_set(store, "m000").value(), {}).value();
        CAPTURE(at);
        REQUIRE(verified.damage.size() == 1);
        CHECK(verified.damage.front().first_byte <= at);
        CHECK(verified.damage.front().last_byte >= at);
        CHECK(verified.damage.front().variable == (verified.damage.front().block % 2 == 0 ? "x" : "y"));
    }
}

TEST_CASE("bytes behind the last block are damage of no block") {
    const auto whole = small_file();
    test::SpanStore store;
    store.files["m000"] = whole;
    store.files["m000"].resize(whole.size() + 4);
    const auto verified = gio::verify(store, gio::open_set(store, "m000").value(), {}).value();
    REQUIRE(verified.damage.size() == 1);
    CHECK(verified.damage.front().variable.empty());
    CHECK(verified.damage.front().first_byte == whole.size());
    CHECK(verified.damage.front().last_byte == whole.size() + 3);
    CHECK(has(verified.damage.front().text, "behind the last block"));
}

TEST_CASE("a file cut anywhere is refused") {
    const auto whole = small_file();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        CHECK_FALSE(decoded({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}).has_value());
    }
}

TEST_CASE("numbers that contradict one another are told with their place") {
    const auto ranks = gio::global_header_bytes + 2 * gio::variable_bytes;
    CHECK(has(told(gio::at_elements, 4), "more than the 4 elements"));
    CHECK(has(told(gio::at_elements, 6), "6 elements, but ranks have 5"));
    CHECK(has(told(gio::at_variables, huge), "do not fit a header"));
    CHECK(has(told(gio::at_variables + 8, 16), "at least 272 expected"));
    CHECK(has(told(gio::at_variables + 16, 160), "overlap at byte"));
    CHECK(has(told(gio::at_variables + 16, 8), "do not fit"));
    CHECK(has(told(gio::at_ranks, 0), "no ranks"));
    CHECK(has(told(gio::at_ranks, huge / 48), "do not fit a header"));
    CHECK(has(told(gio::at_ranks + 16, 0), "do not fit"));
    CHECK(has(told(gio::at_global_bytes, 100), "a global header of 100 bytes"));
    CHECK(has(told(gio::at_blocks, 47), "at least 48 expected"));
    CHECK(has(told(gio::at_blocks, 48), "do not fit a header"));
    CHECK(has(told(ranks + gio::at_rank_elements, huge), "more than the 5 elements"));
    CHECK(has(told(ranks + gio::at_rank_start, 8), "are not behind the header"));
    CHECK(has(told(ranks + gio::at_rank_start, huge), "are not behind the header"));
    const auto second = load_le<std::uint64_t>(small_file().data() + ranks + gio::rank_bytes + gio::at_rank_start);
    CHECK(has(told(ranks + gio::at_rank_start, second), "are not behind"));
    CHECK(has(told(ranks + gio::rank_bytes + gio::at_rank_start, second - 8), "overlap at byte"));
    CHECK(has(told(gio::global_header_bytes + gio::at_record_bytes, 0), "records of 0 bytes"));
    CHECK(has(told(gio::global_header_bytes + gio::at_record_bytes, 6), "records of 6 bytes, of elements of 4"));
    CHECK(has(told(gio::global_header_bytes + gio::at_record_bytes, huge), "more than the file"));
    CHECK(has(told(gio::global_header_bytes, 'y'), "two variables 'y'"));
    CHECK(has(told(gio::global_header_bytes, 0), "not a valid name of a variable"));
    CHECK(has(told(gio::global_header_bytes, '\n'), "'?' is not a valid name"));
}
