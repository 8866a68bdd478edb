// Goal: an H5Part file has its rows in the order of the ranks, for any placement on nodes, and damage makes no file.
// Method: a snapshot made by hand, whose nodes have every second rank; HDF5 reads the file back.

#include <doctest/doctest.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "bindings/compat/made/file_run.hpp"
#include "bindings/compat/made/h5part/h5part_file.hpp"
#include "bindings/compat/made/h5part/h5part_names.hpp"
#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/format/layout.hpp"
#include "core/format/manifest.hpp"
#include "core/format/node_file.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/catalog.hpp"

using namespace forebay;

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t nodes = 2, ranks = 4;

std::uint64_t rows_of(std::uint32_t rank) { return rank == 1 ? 0 : 3 + rank; }
std::uint64_t first_of(std::uint32_t rank) {
    std::uint64_t first = 0;
    for (std::uint32_t other = 0; other < rank; ++other) first += rows_of(other);
    return first;
}

Schema schema() {
    Schema schema{.stream = "steps", .tables = {made::h5part::table}, .variables = {}};
    const auto replicated = [&](const std::string& name, Type type, const Extents& shape) {
        schema.variables.push_back(
            {.name = name, .type = type, .kind = Kind::replicated, .shape = shape, .attributes = {}});
    };
    schema.variables.push_back({.name = "particles/i", .type = i32, .kind = Kind::particles, .attributes = {}});
    replicated("file/title", string_of(64), {});
    replicated(made::h5part::group_variable, string_of(64), {});
    replicated(made::h5part::order_variable, i64, {});
    replicated(made::h5part::appends_variable, i32, {});
    return schema;
}

// Node 0 has ranks 0 and 2, node 1 has ranks 1 and 3. Each row holds its global number.
std::vector<std::byte> node_file(std::uint32_t node) {
    std::vector<format::RankPart> parts;
    for (std::uint32_t rank = node; rank < ranks; rank += nodes)
        parts.push_back({rank, std::vector<std::vector<Box>>(5), {rows_of(rank)}});
    const auto layout = format::plan_layout(schema(), parts, {}).value();
    std::vector<std::byte> image(layout.file_bytes);
    format::encode(layout, image);
    auto words = format::crc_words(layout, image);
    for (const auto& block : layout.blocks) {
        const auto bytes = std::span(image).subspan(block.offset_bytes, block.size_bytes);
        const auto& name = layout.schema.variables[block.variable].name;
        if (name.starts_with("particles/")) {
            std::vector<std::int32_t> rows(rows_of(block.rank));
            std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(first_of(block.rank)));
            std::ranges::copy(std::as_bytes(std::span(rows)), bytes.begin());
        }
        if (name == made::h5part::group_variable) std::memcpy(bytes.data(), "Step#7", 6);
        if (name == "file/title") std::memcpy(bytes.data(), "by hand", 7);
        if (!bytes.empty()) words[block.first_segment] = crc32c(bytes);
    }
    format::seal(layout, {.snapshot_id = 0xf3, .step = 7, .node = node, .nodes = nodes, .world_ranks = ranks}, image);
    return image;
}

struct Place {
    fs::path directory = fs::temp_directory_path() / ("forebay-h5part-file-" + std::to_string(sys::random_u64()));
    std::string file = (directory / "dump.h5part").string();
    std::string step = made::FileRun(file).path() + "/steps/step-000007";

    Place() {
        auto& store = sys::posix_store();
        REQUIRE(store.make_directories(step));
        format::Manifest manifest{.snapshot_id = 0xf3, .step = 7, .world_ranks = ranks, .schema = schema()};
        for (std::uint32_t node = 0; node < nodes; ++node) {
            const auto image = node_file(node);
            const auto name = format::node_path(node, nodes);
            manifest.nodes.push_back(format::line_of(format::open_head(image, name).value(), name));
            write(step + "/" + name, image);
        }
        REQUIRE(sys::write_text_durable(store, step + "/manifest.json", format::encode_manifest(manifest)));
    }
    ~Place() { fs::remove_all(directory); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    static void write(const std::string& path, std::span<const std::byte> bytes) {
        auto file = sys::posix_store().open(path, sys::Access::create).value();
        REQUIRE(file->write(0, bytes));
        REQUIRE(file->close());
    }
};

}  // namespace

TEST_CASE("h5part: rows stand in the order of the ranks, of nodes that hold every other one") {
    const Place place;
    const auto result = made::make_h5part_file(sys::posix_store(), {.file = place.file});
    REQUIRE_MESSAGE(result, result.error().text());
    CHECK(result->steps == 1);
    CHECK(result->datasets == 1);
    CHECK_FALSE(fs::exists(made::FileRun(place.file).path()));
    const auto file = H5Fopen(place.file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    REQUIRE(file >= 0);
    std::vector<std::int32_t> rows(first_of(ranks)), wanted(rows.size());
    std::iota(wanted.begin(), wanted.end(), 0);
    const auto dataset = H5Dopen2(file, "Step#7/i", H5P_DEFAULT);
    REQUIRE(dataset >= 0);
    CHECK(H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) >= 0);
    CHECK(rows == wanted);
    CHECK(H5Aexists(file, "title") > 0);
    H5Dclose(dataset);
    H5Fclose(file);
}

TEST_CASE("h5part: a damaged byte makes no file, and all that was written stays") {
    const Place place;
    auto image = node_file(1);
    const auto layout = format::open_head(image, "node").value();
    image[layout.extents[0].offset_bytes + 5] ^= std::byte{1};
    Place::write(place.step + "/" + format::node_path(1, nodes), image);
    const auto result = made::make_h5part_file(sys::posix_store(), {.file = place.file});
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::corrupt);
    CHECK(result.error().text().find("rank 3") != std::string::npos);
    CHECK_FALSE(fs::exists(place.file));
    CHECK_FALSE(fs::exists(place.file + ".part"));
    CHECK(fs::exists(place.step + "/manifest.json"));
    CHECK(fs::exists(made::FileRun(place.file).failed_path()));
}

// libhdf5 1.10 frees nothing of a file that it could not flush.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier): LeakSanitizer's name
const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

TEST_CASE("h5part: a full file system is said as that, and nothing gets the name") {
    const Place place;
    fs::create_symlink("/dev/full", place.file + ".part");
    const auto result = made::make_h5part_file(sys::posix_store(), {.file = place.file});
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::full);
    CHECK_FALSE(fs::exists(place.file));
    CHECK(fs::exists(place.step + "/manifest.json"));
}

TEST_CASE("h5part: of a run that was kept a file that somebody has removed is made again") {
    const Place place;
    auto& store = sys::posix_store();
    REQUIRE(made::make_h5part_file(store, {.file = place.file, .keep = true}));
    REQUIRE(store.remove(place.file));
    const auto file = made::make_h5part_file(store, {.file = place.file});
    REQUIRE(file);
    CHECK_FALSE(file->was_there);
    CHECK(fs::exists(place.file));
    CHECK_FALSE(fs::exists(made::FileRun(place.file).path()));
}

TEST_CASE("h5part: a file that is there keeps its steps") {
    const Place place;
    auto& store = sys::posix_store();
    REQUIRE(made::make_h5part_file(store, {.file = place.file, .keep = true}));
    const auto run = made::FileRun(place.file).path();
    REQUIRE(store.remove(made::FileRun(place.file).made_path()));
    const auto has_step = [&](const char* step) {
        const auto file = H5Fopen(place.file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
        REQUIRE(file >= 0);
        const bool has = H5Lexists(file, step, H5P_DEFAULT) > 0;
        H5Fclose(file);
        return has;
    };
    SUBCASE("when a writer that appends committed nothing") {
        fs::remove_all(run + "/steps");
        made::H5PartMaking making{.file = place.file};
        SUBCASE("and died") {}
        SUBCASE("and closed it") { making.snapshots = 0; }
        const auto file = made::make_h5part_file(store, making);
        REQUIRE_MESSAGE(file, file.error().text());
        CHECK(file->was_there);
    }
    SUBCASE("when another step of a writer that died is drained later") {
        const auto file = H5Fopen(place.file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        REQUIRE(H5Lmove(file, "Step#7", file, "Step#6", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        H5Fclose(file);
        const auto result = made::make_h5part_file(store, {.file = place.file});
        REQUIRE_MESSAGE(result, result.error().text());
        CHECK(result->steps == 1);
        CHECK(has_step("Step#6"));
    }
    CHECK(has_step("Step#7"));
    CHECK_FALSE(fs::exists(run));
}

TEST_CASE("h5part: names of variables hold any name of H5Part") {
    for (const auto* name : {"x", "a/b", "100%", ".hidden", "..", "tab\there", "%2F", "é"}) {
        CAPTURE(name);
        CHECK(made::h5part::shown_name(made::h5part::stored_name(name)) == name);
        CHECK(made::h5part::stored_name(name).find('/') == std::string::npos);
    }
}
