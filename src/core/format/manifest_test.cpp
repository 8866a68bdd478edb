// Goal: a manifest reads back as it was written, and any change of its bytes is refused.

#include "core/format/manifest.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

Manifest example(std::uint32_t nodes) {
    Manifest manifest;
    manifest.snapshot_id = 0xf3000000c0ffee9a;
    manifest.step = -120;
    manifest.time = 0.1;
    manifest.sealed_unix_ns = 1'700'000'000'000'000'000;
    manifest.world_ranks = nodes * 12;
    manifest.schema.stream = "restart";
    manifest.schema.tables = {"dm", "gas"};
    manifest.schema.variables = {{"rho",
                                  f32,
                                  Kind::array,
                                  {2400, 2400, 2400},
                                  0,
                                  Coverage::full,
                                  {"kg m-3", "density \"total\"\n", {"z", "y", "x"}, {}}},
                                 {"phi", f32, Kind::array, {2400, 2400, 2400}, 0, Coverage::full, {}},
                                 {"ground", f64, Kind::array, {2400, 2400}, 0, Coverage::partial, {}},
                                 {"dm/x", f32, Kind::particles, {}, 0, Coverage::full, {}},
                                 {"gas/x", f32, Kind::particles, {}, 1, Coverage::full, {}},
                                 {"a", f64, Kind::replicated, {}, 0, Coverage::full, {}}};
    manifest.shapes = distinct_shapes(manifest.schema);
    for (std::uint32_t node = 0; node < nodes; ++node) {
        NodeLine line;
        line.node = node;
        line.path = node_path(node, nodes);
        line.file_bytes = 3'200'004'096 + node;
        line.data_bytes = 3'200'000'000;
        line.record_crc32c = 0x9e3779b9u * (node + 1);
        line.ranks = {{node * 12, 12}};
        line.rows = {7'000'000 + node, 0};
        line.bounds = {Box{{node % 2400, 0, 0}, {1, 1200, 2400}}, std::nullopt};
        manifest.nodes.push_back(line);
    }
    return manifest;
}

void check_same(const Manifest& a, const Manifest& b) {
    CHECK(a.snapshot_id == b.snapshot_id);
    CHECK(a.step == b.step);
    CHECK((a.time == b.time || (std::isnan(a.time) && std::isnan(b.time))));
    CHECK(a.sealed_unix_ns == b.sealed_unix_ns);
    CHECK(a.world_ranks == b.world_ranks);
    CHECK(a.schema == b.schema);
    CHECK(a.shapes == b.shapes);
    CHECK(a.nodes == b.nodes);
}

/// Returns the text with a correct last line.
std::string with_crc(std::string text) {
    text.resize(text.rfind("\"crc32c\""));
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", crc32c(bytes_of(text)));
    return text + "\"crc32c\":\"" + digits + "\"}\n";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    REQUIRE(at != std::string::npos);
    return with_crc(text.replace(at, what.size(), by));
}

}  // namespace

TEST_CASE("manifest: reads back as written, one line a node") {
    auto manifest = example(3);
    for (const double time : {0.1, 0.0, -0.0, 1e300, 3.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
        manifest.time = time;
        const auto text = encode_manifest(manifest);
        const auto decoded = decode_manifest(text, "manifest.json");
        REQUIRE_MESSAGE(decoded.has_value(), (decoded ? "" : decoded.error().text()));
        check_same(*decoded, manifest);
        CHECK(std::signbit(decoded->time) == std::signbit(manifest.time));
        CHECK(std::count(text.begin(), text.end(), '\n') == 5 + 3 + 2);
        CHECK(encode_manifest(*decoded) == text);
    }
}

TEST_CASE("manifest: any byte changed or cut off is refused") {
    const auto text = encode_manifest(example(3));
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto changed = text;
        changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
        const auto decoded = decode_manifest(changed, "manifest.json");
        if (decoded.has_value() || decoded.error().kind != ErrorKind::corrupt) FAIL_CHECK("byte " << at);
        if (decode_manifest(text.substr(0, at), "manifest.json").has_value()) FAIL_CHECK("cut at " << at);
    }
    CHECK_FALSE(decode_manifest(text + "\n", "manifest.json").has_value());
}

TEST_CASE("manifest: wrong values with a right checksum are refused") {
    const auto text = encode_manifest(example(3));
    const auto kind = [&](const std::string& what, const std::string& by) {
        const auto decoded = decode_manifest(replaced(text, what, by), "manifest.json");
        return decoded.has_value() ? "accepted" : name_of(decoded.error().kind);
    };
    CHECK(kind("\"version\":1", "\"version\":5") == std::string("unsupported"));
    const std::pair<const char*, const char*> wrong[] = {{"node-00001.h5", "../node-1.h5"},
                                                         {"node-00001.h5", "/etc/passwd"},
                                                         {"node-00001.h5", "a//b"},
                                                         {"node-00001.h5", ".part"},
                                                         {"\"node\":1", "\"node\":0"},
                                                         {"\"node\":1", "\"node\":-1"},
                                                         {"[12,12]", "[12,13000]"},
                                                         {"[12,12]", "[12,0]"},
                                                         {"[7000000,0]", "[7000000]"},
                                                         {"[7000000,0]", "[7000000,-1]"},
                                                         {"[1,1200,2400]", "[1,1200]"},
                                                         {"[1,1200,2400]", "[1,1200,2401]"},
                                                         {"\"shapes\":[[2400", "\"shapes\":[[2401"},
                                                         {"\"f32\"", "\"f33\""},
                                                         {"\"step\":-120", "\"step\":1.5"},
                                                         {"\"step\":-120", "\"step\":18446744073709551615"},
                                                         {"\"data\":", "\"data\":9"},
                                                         {"restart", "../restart"},
                                                         {"f3000000", "F3000000"},
                                                         {"forebay manifest", "forebay"}};
    for (const auto& change : wrong) {
        const auto* const by = change.second;
        CAPTURE(by);
        CHECK(kind(change.first, by) == std::string("corrupt"));
    }
}

TEST_CASE("manifest: the path of a node file") {
    CHECK(node_path(3, 128) == "node-00003.h5");
    CHECK(node_path(0, 129) == "g000/node-00000.h5");
    CHECK(node_path(131, 8100) == "g001/node-00131.h5");
    CHECK(node_path(200'000, 1u << 20) == "g1562/node-200000.h5");
}

TEST_CASE("manifest: 8,100 nodes stay a few MB and decode in a moment") {
    const auto manifest = example(8100);
    const auto start = std::clock();
    const auto text = encode_manifest(manifest);
    const auto encoded = std::clock();
    const auto decoded = decode_manifest(text, "manifest.json");
    const auto end = std::clock();
    REQUIRE(decoded);
    check_same(*decoded, manifest);
    // Processor time, because the machine may have other work.
    const auto ms = [](std::clock_t from, std::clock_t to) {
        return 1000.0 * static_cast<double>(to - from) / CLOCKS_PER_SEC;
    };
    MESSAGE(text.size() << " bytes, encoded in " << ms(start, encoded) << " ms, decoded in " << ms(encoded, end)
                        << " ms");
    CHECK(text.size() < 3'000'000);
    CHECK(ms(encoded, end) < 2000);
}

TEST_CASE("marks are a line of their own, which readers that do not know it pass over; too many of them are refused") {
    auto manifest = example(1);
    const auto unmarked = encode_manifest(manifest);
    manifest.marks = {{"numbers", "*/nan > 0", "rho/nan", 3}, {"", "the inflow was \"wrong\"", "", 0}};
    const auto text = encode_manifest(manifest);
    CHECK(text.find("\n\"marks\":[{\"analysis\":\"numbers\",\"condition\":\"*/nan > 0\",\"result\":\"rho/nan\","
                    "\"value\":3.0},{\"analysis\":\"\",") != text.npos);
    CHECK(decode_manifest(text, "m.json").value().marks == manifest.marks);
    CHECK(decode_manifest_head(text, "m.json").value().step == manifest.step);
    CHECK(text.substr(0, text.find("\"marks\"")) == unmarked.substr(0, unmarked.find("\"schema\"")));
    manifest.marks.resize(marks_max + 1, manifest.marks[0]);
    CHECK(decode_manifest(encode_manifest(manifest), "m.json").error().kind == ErrorKind::corrupt);
    manifest.marks = {{"numbers", "", "", 0}};
    CHECK(decode_manifest(encode_manifest(manifest), "m.json").error().kind == ErrorKind::corrupt);
}

TEST_CASE("a mark reads back from its file, and any change of it is refused") {
    const Mark mark{"numbers", "x != 1", "x", std::numeric_limits<double>::quiet_NaN()};
    const auto text = encode_mark(mark).value();
    const auto read = decode_mark(text, "a.json").value();
    CHECK(read.condition == mark.condition);
    CHECK(std::isnan(read.value));
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto changed = text;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        CHECK_FALSE(decode_mark(changed, "a.json"));
        CHECK_FALSE(decode_mark(text.substr(0, i), "a.json"));
    }
    CHECK(encode_mark({"", std::string(mark_text_bytes_max + 1, 'x'), "", 0}).error().kind == ErrorKind::refused);
}
