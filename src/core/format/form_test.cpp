// Goal: each form gives the file names of the page, knows the places of its nodes, and comes back unchanged from a
// record. A record that no agent can write is damage.
// Method: the forms of small snapshots, and records with changes and new checksums.

#include "core/format/form.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/format/head.hpp"
#include "support/small_run.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

const CombinedFile pair{.nodes_per_file = 2, .first_node = 2, .offsets = {8192, 40960, 81920}};
const CombinedFile last{.nodes_per_file = 2, .first_node = 4};
const SharedFile all{.nodes = 3, .heads_offset = 16384, .region_bytes = 12288, .file_bytes = 65536};

test::SmallSnapshot snapshot_of(std::uint32_t nodes_per_file) { return {.nodes = 3, .nodes_per_file = nodes_per_file}; }

Result<Peek> peek_with(std::uint32_t nodes_per_file, std::uint32_t node, void (*change)(RecordPage&)) {
    auto image = test::small_node_file(snapshot_of(nodes_per_file), node);
    auto page = load_le<RecordPage>(image.data() + record_offset_bytes);
    change(page);
    page.record_crc32c = crc32c(std::as_bytes(std::span(&page, 1)).first(offsetof(RecordPage, record_crc32c)));
    std::memcpy(image.data() + record_offset_bytes, &page, sizeof page);
    return peek(image, "changed");
}

}  // namespace

TEST_CASE("a file is named by its form and the nodes that it holds") {
    CHECK(node_path(3, 5) == "node-00003.h5");
    CHECK(node_path(3, 5, CombinedFile{.nodes_per_file = 2}) == "nodes-00002-00003.h5");
    CHECK(node_path(4, 5, CombinedFile{.nodes_per_file = 2}) == "node-00004.h5");
    CHECK(node_path(4, 5, CombinedFile{.nodes_per_file = 3}) == "nodes-00003-00004.h5");
    CHECK(node_path(4, 5, SharedFile{}) == "shared.h5");
    const auto many = limits::nodes_per_directory + 1;
    CHECK(node_path(0, many) == "g000/node-00000.h5");
    CHECK(node_path(many - 1, many) == fmt::format("g001/node-{:05}.h5", many - 1));
    CHECK(node_path(0, many, CombinedFile{.nodes_per_file = 2}) == "nodes-00000-00001.h5");
}

TEST_CASE("where in its file a node lies, and what says that it has come") {
    CHECK(region_offset(pair, 3) == 40960);
    CHECK(arrival_offset(pair, 2) == 40960 - 4096);
    CHECK(arrival_offset(pair, 3) == 81920 - 4096);
    CHECK(length_of(pair) == 81920);
    CHECK(first_node(pair) == 2);
    CHECK(nodes_in(pair) == 2);
    CHECK(region_offset(all, 2) == 16384 + 2 * 12288);
    CHECK(arrival_offset(all, 2) == 16384 + 3 * 12288 - 4096);
    CHECK(length_of(all) == 65536);
    CHECK(first_node(all) == 0);
    CHECK(nodes_in(all) == 3);
    for (const Form& own : {Form(OwnFile{}), Form(last)}) {
        CHECK(kind_of_file(own) == FormKind::own);
        CHECK(region_offset(own, 4) == 0);
        CHECK(nodes_in(own) == 1);
    }
    CHECK(kind_of(last) == FormKind::combined);
    CHECK(kind_of_file(pair) == FormKind::combined);
    CHECK(kind_of_file(all) == FormKind::shared);
}

TEST_CASE("records and manifest lines say the form that they were given") {
    for (const std::uint32_t nodes_per_file : {1u, 2u, 3u, test::all_in_one}) {
        const auto snapshot = snapshot_of(nodes_per_file);
        for (std::uint32_t node = 0; node < snapshot.nodes; ++node) {
            CAPTURE(nodes_per_file);
            CAPTURE(node);
            const auto form = test::small_form(snapshot, node);
            const auto head = open_head(test::small_node_file(snapshot, node), "small").value();
            CHECK(head.record.form == form);
            CHECK(head.storage == Storage::plain);
            const auto line = line_of(head, node_path(node, snapshot.nodes, form));
            CHECK(line.form == kind_of_file(form));
            CHECK(is_region(line) == !line.path.starts_with("node-"));
            CHECK(holds_replicated(line) == (nodes_per_file != test::all_in_one || node == 0));
        }
    }
}

TEST_CASE("a record whose form cannot be is damaged") {
    const auto damaged = [](std::uint32_t nodes_per_file, std::uint32_t node, void (*change)(RecordPage&)) {
        const auto result = peek_with(nodes_per_file, node, change);
        return !result && result.error().kind == ErrorKind::corrupt;
    };
    CHECK(peek_with(2, 1, [](RecordPage&) {}));
    CHECK(damaged(1, 1, [](RecordPage& page) { page.version = shared_version; }));
    CHECK(damaged(2, 1, [](RecordPage& page) { page.version = shared_version; }));
    CHECK(damaged(2, 1, [](RecordPage& page) { page.group_first_node = 2; }));
    CHECK(damaged(2, 1, [](RecordPage& page) { page.node = 2; }));
    CHECK(damaged(2, 1, [](RecordPage& page) { page.group_nodes = 0; }));
    CHECK(damaged(2, 1, [](RecordPage& page) { page.file_bytes = page.group_offsets[2]; }));
    CHECK(damaged(test::all_in_one, 1, [](RecordPage& page) { page.nodes_per_file = 2; }));
    CHECK(damaged(test::all_in_one, 1, [](RecordPage& page) { page.version = compressed_version; }));
    CHECK(damaged(test::all_in_one, 1, [](RecordPage& page) { page.shared_region_bytes = 4096; }));
}
