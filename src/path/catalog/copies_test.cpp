// Goal: a restart reads a node file from memory where the very node file that was drained lies there, and else at the
// target; damage sends it to the target for good.
// Method: a snapshot of two nodes in a real directory, and slots beside it: of this save, of another one, damaged.

#include <doctest/doctest.h>

#include "path/catalog/copies.hpp"

#include <algorithm>
#include <filesystem>

#include "support/committed_run.hpp"
#include "support/small_run.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using catalog::Copies;

namespace {

struct Node {
    Node() {
        test::commit_all(store, run, snapshot).value();
        manifest = catalog::load_manifest(store, directory).value();
        store.make_directories(staging).value();
    }
    void stage(const std::string& name, std::span<const std::byte> bytes) {
        auto file = store.open(staging + "/" + name, sys::Access::create).value();
        file->write(0, bytes).value();
        file->close().value();
        std::filesystem::permissions(staging + "/" + name, std::filesystem::perms(0600));  // as slots have
    }
    Copies copies() {
        Copies found(store, directory);
        found.add_memory(manifest, node::staged_files(staging).value());
        return found;
    }

    sys::Store& store = sys::posix_store();
    test::TempDirectory folder;
    const test::SmallSnapshot snapshot{.nodes = 2};
    const std::string run = folder / "run", staging = folder / "staging";
    const std::string directory = test::step_directory(run, snapshot);
    format::Manifest manifest;
};

}  // namespace

TEST_CASE("a copy in memory is read where its record is the one that was drained") {
    Node node;
    const auto image = test::small_node_file(node.snapshot, 1);
    node.stage("restart.0.h5", image);
    auto copies = node.copies();
    const auto &first = node.manifest.nodes[0], &second = node.manifest.nodes[1];
    CHECK(copies.in_memory());
    CHECK_FALSE(copies.in_memory(first));
    CHECK(copies.in_memory(second));
    CHECK(copies.name_of(first) == node.directory + "/node-00000.h5");
    CHECK(copies.name_of(second) == node.staging + "/restart.0.h5");
    CHECK(copies.source() == node.directory);  // not all of it is here
    CHECK(copies.open(second)->peek().record_crc32c == copies.record_crc32c(second));
    CHECK(copies.open(first)->peek().record_crc32c == copies.record_crc32c(first));
    auto* const mapping = copies.map(second).value();
    CHECK(std::ranges::equal(mapping->bytes(), image));
    CHECK(copies.map(second).value() == mapping);

    copies.leave_memory();
    CHECK_FALSE(copies.in_memory());
    CHECK(copies.name_of(second) == node.directory + "/node-00001.h5");
    CHECK(copies.open(second)->peek().record.node == 1);
}

TEST_CASE("what is staged of another save, or of a node that the snapshot has not, is no copy") {
    Node node;
    auto other = node.snapshot;
    other.id += 1;
    node.stage("restart.0.h5", test::small_node_file(other, 0));
    CHECK_FALSE(node.copies().in_memory());
    other = node.snapshot;
    other.sealed_unix_ns += 1;  // the id of this save, another record
    node.stage("restart.1.h5", test::small_node_file(other, 0));
    CHECK_FALSE(node.copies().in_memory());
    other = node.snapshot;
    other.nodes = 3;
    node.stage("restart.1.h5", test::small_node_file(other, 2));
    CHECK_FALSE(node.copies().in_memory());
}

TEST_CASE("a snapshot that lies in memory alone has the manifest that it would be committed with") {
    Node node;
    const test::SmallSnapshot alone{.id = 0xa1, .step = 130};
    test::commit_all(node.store, node.run, alone).value();
    auto committed = catalog::load_manifest(node.store, test::step_directory(node.run, alone)).value();
    node.stage("restart.0.h5", test::small_node_file(alone, 0));
    const auto path = node.staging + "/restart.0.h5";
    const auto found = catalog::manifest_of_staged(path).value();
    for (auto& line : committed.nodes) line.changed_unix_ns.reset();  // of files at the target
    CHECK(format::encode_manifest(found) == format::encode_manifest(committed));

    Copies copies(node.store, "");
    copies.add_memory(found, node::staged_files(node.staging).value());
    CHECK(copies.in_memory(found.nodes[0]));
    CHECK(copies.directory().empty());
    CHECK(copies.source() == "staged copy on this node, " + path);
}
