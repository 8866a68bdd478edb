// Writes node files for the tests of readers:
//     make_node_file CASE PATH
//     make_node_file combined PATH               both of the cases node-0 and node-1
//     make_node_file manifest PATH NODE_FILE...  the manifest of the files
// node_file_cases.hpp has the cases. `large` comes from large_node_file.hpp, and compressed-CODEC is the same data
// compressed as an agent does it. `compressed-long` has enough chunks for a chunk tree of two levels.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "core/format/combined.hpp"
#include "core/format/manifest.hpp"
#include "core/format/shared.hpp"
#include "path/drain/compress.hpp"
#include "support/large_node_file.hpp"
#include "support/node_file_cases.hpp"

using namespace forebay;

namespace {

test::NodeFileCase case_named(const std::string& name) {
    if (name == "mixed") return test::mixed_case();
    if (name == "many") return test::many_case(1000);
    if (name == "groups") return test::groups_case(500);
    if (name == "bare") return test::bare_case();
    if (name == "huge") return test::huge_case();
    if (name == "patched") return test::patched_case();
    if (name == "field" || name == "lines") return test::field_case();
    if (name == "node-0") return test::snapshot_case(0);
    if (name == "node-1") return test::snapshot_case(1);
    return {};
}

int fail(const char* what) {
    std::perror(what);
    return 1;
}

int make(const test::NodeFileCase& example, const std::string& name, const char* path) {
    auto layout = format::plan_layout(example.schema, example.parts, {});
    if (!layout) return std::fprintf(stderr, "%s\n", layout.error().text().c_str()), 1;

    const int fd = ::open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) return fail(path);
    if (::ftruncate(fd, static_cast<off_t>(layout->file_bytes)) != 0) return fail("ftruncate");
    void* memory = ::mmap(nullptr, layout->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) return fail("mmap");
    const std::span image(static_cast<std::byte*>(memory), layout->file_bytes);

    format::encode(*layout, image);
    if (!example.later_rows.empty()) {
        if (!format::change_rows(*layout, example.later_rows)) return 1;
        format::patch_rows(*layout, image);
    }
    // The 12 GiB stay a hole. Their checksums are wrong, but the readers of this case do not check them.
    if (name != "huge") test::fill(*layout, image);
    else store_le(image.data() + layout->extents[1].offset_bytes + 8, 42.0);
    auto record = test::record_of(example);
    if (name == "lines") record.lineage = {0x5eed00000000f00d, 7, {{{1, 0}, -1}, {{3, 0}, 300}, {{5, 1}, 412}}};
    format::seal(*layout, record, image);
    ::munmap(memory, image.size());
    return ::close(fd) == 0 ? 0 : fail("close");
}

test::NodeFileCase long_case() {
    test::NodeFileCase example;
    example.schema.stream = "restart";
    example.schema.variables = {{"ramp", f64, Kind::array, {9'000'000}, 0, Coverage::full, {}}};
    test::add_rank(example, 0, {});
    example.parts[0].boxes[0] = {{{0}, {9'000'000}}};
    return example;
}

/// A small case: a variable for each filter, one without a filter and one too small for any.
test::NodeFileCase golden_case() {
    test::NodeFileCase example;
    example.schema.stream = "restart";
    example.schema.variables = {{"fields/u", f64, Kind::array, {2, 5000}, 0, Coverage::full, {.unit = "m s-1"}},
                                {"fields/rough", f32, Kind::array, {2, 10'000}, 0, Coverage::full, {}},
                                {"plain", i32, Kind::array, {2, 10}, 0, Coverage::full, {}},
                                {"time", f64, Kind::replicated, {}, 0, Coverage::full, {}}};
    for (std::uint64_t rank = 0; rank < 2; ++rank) {
        test::add_rank(example, static_cast<std::uint32_t>(rank), {});
        example.parts[rank].boxes[0] = {{{rank, 0}, {1, 5000}}};
        example.parts[rank].boxes[1] = {{{rank, 0}, {1, 10'000}}};
        example.parts[rank].boxes[2] = {{{rank, 0}, {1, 10}}};
    }
    return example;
}

std::vector<std::byte> image_of(const test::NodeFileCase& example) {
    const auto layout = format::plan_layout(example.schema, example.parts, {}).value();
    std::vector<std::byte> image(layout.file_bytes);
    format::encode(layout, image);
    test::fill(layout, image);
    format::seal(layout, test::record_of(example), image);
    return image;
}

int make_compressed(const std::string& name, const char* path) {
    const auto image = name == "compressed-long"     ? image_of(long_case())
                       : name == "compressed-golden" ? image_of(golden_case())
                                                     : test::large_node_file();
    node::CompressionRules rules{{.codec = Codec::zstd, .level = 3}, {}};
    if (name == "compressed-golden") rules.variables = {{"fields/rough", {.codec = Codec::zfp, .error = 1e-3}}};
    if (name == "compressed-lz4") rules.all = {.codec = Codec::lz4, .shuffle = Shuffle::bits};
    if (name == "compressed-zfp") rules.all = {.codec = Codec::zfp, .error = 1e-4};
    if (name == "compressed-reversible") rules.all = {.codec = Codec::zfp};
    drain::CompressionMemory memory{.rules = rules};
    const drain::NodeDrain drain{.store = &sys::posix_store(), .run = ""};
    const auto file = format::open_head(image, path);
    if (!file) return std::fprintf(stderr, "%s\n", file.error().text().c_str()), 1;
    if (name == "large") return std::ofstream(path, std::ios::binary) << text_of(image) ? 0 : fail(path);
    const auto compressed = drain::write_compressed(drain, memory, *file, image, path, path);
    if (!compressed) return std::fprintf(stderr, "%s\n", compressed.error().text().c_str()), 1;
    return 0;
}

// The regions lie as close as allowed, so that the file is small.
int make_combined(const char* path) {
    std::vector<std::vector<std::byte>> images;
    std::vector<format::Layout> layouts;
    for (const int node : {0, 1}) {
        const auto example = test::snapshot_case(node);
        layouts.push_back(format::plan_layout(example.schema, example.parts, {}).value());
        images.emplace_back(layouts.back().file_bytes);
        format::encode(layouts.back(), images.back());
        test::fill(layouts.back(), images.back());
    }
    format::CombinedFile form{.nodes_per_file = 2, .first_node = 0};
    form.offsets.push_back(round_up(format::combined_head_bytes(layouts[0].schema, 2), limits::page_bytes));
    for (const auto& image : images) form.offsets.push_back(form.offsets.back() + image.size() + limits::page_bytes);

    std::vector<std::byte> file(form.offsets.back());
    const auto put = [&](std::uint64_t at, std::span<const std::byte> bytes) {
        std::ranges::copy(bytes, file.begin() + static_cast<std::ptrdiff_t>(at));
    };
    std::vector<format::Region> regions;
    auto record = test::record_of(test::snapshot_case(0));
    record.form = form;
    for (const std::uint32_t node : {0u, 1u}) {
        record.node = node;
        const auto crc = format::seal(layouts[node], record, images[node]);
        put(form.offsets[node], images[node]);
        put(format::arrival_offset(form, node), format::encode_arrival(record, crc));
        regions.push_back(format::region_of(format::open_head(images[node], path).value()));
    }
    put(0, format::encode_combined_head(format::page_of(record), layouts[0].schema, regions));
    std::ofstream out(path, std::ios::binary);
    out << text_of(file);
    return out.flush() ? 0 : fail(path);
}

// The golden snapshot with `fields/u` cut into boxes of columns, which are not contiguous in the dataset.
test::NodeFileCase shared_case(std::uint32_t node) {
    auto example = test::snapshot_case(node);
    for (auto& part : example.parts) {
        part.boxes[0].clear();
        if (part.rank < 4) part.boxes[0] = {{{0, part.rank}, {10, 1}}};
    }
    return example;
}

int make_shared(const char* path, format::SharedNaming naming) {
    std::vector<format::Layout> layouts;
    for (const int node : {0, 1}) {
        const auto example = shared_case(node);
        layouts.push_back(format::plan_layout(example.schema, example.parts, {}).value());
    }
    const auto& schema = layouts[0].schema;
    const auto rows_in = [&](std::size_t nodes) {
        std::vector<std::uint64_t> rows(schema.tables.size(), 0);
        for (std::size_t node = 0; node < nodes; ++node)
            for (std::size_t i = 0; i < layouts[node].rows.size(); ++i)
                rows[i / layouts[node].ranks.size()] += layouts[node].rows[i];
        return rows;
    };
    const auto head_bytes = std::max(layouts[0].data_offset_bytes, layouts[1].data_offset_bytes);
    const auto plan = format::place_shared(schema,
                                           {.nodes = 2,
                                            .naming = static_cast<std::uint32_t>(naming),
                                            .heads_offset = format::shared_heads_offset(schema, naming),
                                            .region_bytes = head_bytes + limits::page_bytes,
                                            .alignment_bytes = limits::page_bytes},
                                           rows_in(2));
    auto record = test::record_of(test::snapshot_case(0));
    record.form = plan.places;
    std::vector<std::byte> file(plan.places.file_bytes);
    const auto put = [&](std::uint64_t at, std::span<const std::byte> bytes) {
        std::ranges::copy(bytes, file.begin() + static_cast<std::ptrdiff_t>(at));
    };
    for (const std::uint32_t node : {0u, 1u}) {
        std::vector<std::byte> image(layouts[node].file_bytes);
        format::encode(layouts[node], image);
        format::patch_shared(layouts[node], format::own_offsets(plan, schema, rows_in(node)), image);
        test::fill(layouts[node], image);
        record.node = node;
        format::seal(layouts[node], record, image);
        const auto region = format::encode_region(format::open_head(image, path).value(), image);
        const auto stored = format::open_head(region, path).value();
        put(format::region_offset(record.form, node), region);
        put(format::arrival_offset(record.form, node), format::encode_arrival(record, stored.record_crc32c));
        format::for_each_stretch(stored, 0, image.size(), [&](const format::Stretch& stretch) {
            put(stretch.offset, std::span(image).subspan(stretch.plain_offset, stretch.bytes));
            return true;
        });
    }
    put(0, format::encode_shared_head(format::page_of(record), schema, rows_in(2)));
    std::ofstream out(path, std::ios::binary);
    out << text_of(file);
    return out.flush() ? 0 : fail(path);
}

int make_manifest(const char* path, std::span<char*> node_files) {
    format::Manifest manifest;
    for (const char* node_file : node_files) {
        std::ifstream in(node_file, std::ios::binary);
        const std::string name(node_file);
        // "FILE@OFFSET" means a region of a combined file.
        const auto at = name.rfind('@');
        if (at != std::string::npos) in.open(name.substr(0, at), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        const auto skip = at == std::string::npos ? 0 : std::stoull(name.substr(at + 1));
        const auto file = format::open_head(bytes_of(std::string_view(text).substr(skip)), node_file);
        if (!file) return std::fprintf(stderr, "%s\n", file.error().text().c_str()), 1;
        manifest.snapshot_id = file->record.snapshot_id;
        manifest.step = file->record.step;
        manifest.time = file->record.time;
        manifest.sealed_unix_ns = file->record.sealed_unix_ns;
        manifest.world_ranks = file->record.world_ranks;
        manifest.lineage = file->record.lineage;
        manifest.schema = file->schema;
        manifest.nodes.push_back(
            format::line_of(*file, format::node_path(file->record.node, file->record.nodes, file->record.form)));
    }
    manifest.shapes = format::distinct_shapes(manifest.schema);
    std::ofstream out(path, std::ios::binary);
    out << format::encode_manifest(manifest);
    return out.flush() ? 0 : fail(path);
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 3 && std::string("manifest") == arguments[1])
        return make_manifest(arguments[2], {arguments + 3, arguments + count});
    if (count == 3 && std::string("combined") == arguments[1]) return make_combined(arguments[2]);
    if (count == 3 && std::string("shared") == arguments[1])
        return make_shared(arguments[2], format::SharedNaming::own);
    if (count == 3 && std::string("shared-h5part") == arguments[1])
        return make_shared(arguments[2], format::SharedNaming::h5part);
    if (count != 3) return std::fprintf(stderr, "usage: make_node_file CASE PATH | manifest PATH NODE_FILE...\n"), 2;
    const std::string name = arguments[1];
    if (name == "large" || name.starts_with("compressed-")) return make_compressed(name, arguments[2]);
    const auto example = case_named(name);
    if (example.parts.empty()) return std::fprintf(stderr, "no case %s\n", arguments[1]), 2;
    return make(example, name, arguments[2]);
}
