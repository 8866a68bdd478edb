// Goal: a restart reads a node file from memory if the drained node file lies there, and at the target if not; after
// damage it reads only at the target.
// Method: a snapshot of two nodes in a real directory, and slots: of this save, of another save, damaged.

#include <doctest/doctest.h>

#include "path/catalog/copies.hpp"

#include <algorithm>
#include <filesystem>

#include "support/committed_run.hpp"
#include "support/small_run.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using catalog::SnapshotCopies;

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
    std::unique_ptr<catalog::Copies> in_memory() {
        return catalog::copies_in_memory(manifest, node::staged_files(staging).value());
    }
    SnapshotCopies copies() {
        SnapshotCopies all(store, directory);
        all.add(in_memory(), manifest);
        return all;
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
    CHECK(copies.can_fall_back());
    CHECK_FALSE(copies.of(first).is_mapped());
    CHECK(copies.of(second).is_mapped());
    CHECK(copies.of(first).name_of(first) == node.directory + "/node-00000.h5");
    CHECK(copies.of(second).name_of(second) == node.staging + "/restart.0.h5");
    CHECK(copies.source() == node.directory);  // not all of it is here
    for (const auto& line : {first, second}) {
        auto& copy = copies.of(line);
        CHECK(copy.has(line));
        CHECK(copy.check_record(line));
        CHECK(copy.open(line)->peek().record_crc32c == copy.record_crc32c(line));
        CHECK(copy.open_direct(line).value()->size().value() >= image.size());
    }
    CHECK(copies.of(first).map(first).error().kind == ErrorKind::unsupported);
    auto* const mapping = copies.of(second).map(second).value();
    CHECK(std::ranges::equal(mapping->bytes(), image));
    CHECK(copies.of(second).map(second).value() == mapping);

    copies.fall_back();
    CHECK_FALSE(copies.can_fall_back());
    CHECK_FALSE(copies.of(second).is_mapped());
    CHECK(copies.of(second).name_of(second) == node.directory + "/node-00001.h5");
    CHECK(copies.of(second).open(second)->peek().record.node == 1);
}

TEST_CASE("what is staged of another save, or of a node that the snapshot has not, is no copy") {
    Node node;
    auto other = node.snapshot;
    other.id += 1;
    node.stage("restart.0.h5", test::small_node_file(other, 0));
    CHECK(node.in_memory() == nullptr);
    other = node.snapshot;
    other.sealed_unix_ns += 1;  // the same id, another record
    node.stage("restart.1.h5", test::small_node_file(other, 0));
    CHECK(node.in_memory() == nullptr);
    other = node.snapshot;
    other.nodes = 3;
    node.stage("restart.1.h5", test::small_node_file(other, 2));
    CHECK(node.in_memory() == nullptr);
}

namespace {

// A third kind of place, like the memory of other nodes: it has one file and is not mapped.
class OtherPlace final : public catalog::Copies {
public:
    OtherPlace(sys::Store& store, std::string directory, std::uint32_t node)
        : target_(catalog::copies_at_target(store, std::move(directory))), node_(node) {}
    bool has(const format::NodeLine& line) const override { return line.node == node_; }
    std::string place() const override { return "another place"; }
    std::string name_of(const format::NodeLine& line) const override { return "other " + target_->name_of(line); }
    std::uint32_t record_crc32c(const format::NodeLine& line) const override { return target_->record_crc32c(line); }
    Result<> check_record(const format::NodeLine&) const override { return {}; }
    Result<catalog::NodeReader> open(const format::NodeLine& line) const override { return target_->open(line); }
    bool is_mapped() const override { return false; }
    Result<sys::Mapping*> map(const format::NodeLine& line) override { return target_->map(line); }
    Result<std::unique_ptr<sys::File>> open_direct(const format::NodeLine& line) const override {
        return target_->open_direct(line);
    }

private:
    std::unique_ptr<catalog::Copies> target_;
    std::uint32_t node_;
};

}  // namespace

TEST_CASE("the first place that has a node file gives it, and after damage the target gives all") {
    Node node;
    node.stage("restart.0.h5", test::small_node_file(node.snapshot, 1));
    const auto &first = node.manifest.nodes[0], &second = node.manifest.nodes[1];
    auto copies = node.copies();
    for (const std::uint32_t number : {0u, 1u})
        copies.add(std::make_unique<OtherPlace>(node.store, node.directory, number), node.manifest);
    CHECK(copies.of(first).place() == "another place");
    CHECK(copies.of(second).is_mapped());
    CHECK(copies.source() == node.directory);
    CHECK(copies.at_target().place() == node.directory);
    copies.fall_back();
    CHECK(copies.of(first).place() == node.directory);
    CHECK(copies.of(second).place() == node.directory);
}

TEST_CASE("a record that is not the one that was committed is corrupt at the target") {
    Node node;
    auto line = node.manifest.nodes[1];
    const auto at_target = catalog::copies_at_target(node.store, node.directory);
    CHECK(at_target->check_record(line));
    line.record_crc32c ^= 1;
    CHECK(at_target->check_record(line).error().kind == ErrorKind::corrupt);
}

TEST_CASE("a snapshot that lies in memory alone has the manifest that it would be committed with") {
    Node node;
    const test::SmallSnapshot alone{.id = 0xa1, .step = 130};
    test::commit_all(node.store, node.run, alone).value();
    auto committed = catalog::load_manifest(node.store, test::step_directory(node.run, alone)).value();
    node.stage("restart.0.h5", test::small_node_file(alone, 0));
    const auto path = node.staging + "/restart.0.h5";
    const auto manifest = catalog::manifest_of_staged(path).value();
    for (auto& line : committed.nodes) line.changed_unix_ns.reset();  // of files at the target
    CHECK(format::encode_manifest(manifest) == format::encode_manifest(committed));

    SnapshotCopies copies(node.store, "");
    copies.add(catalog::copies_in_memory(manifest, node::staged_files(node.staging).value()), manifest);
    CHECK(copies.of(manifest.nodes[0]).is_mapped());
    CHECK(copies.directory().empty());
    CHECK_FALSE(copies.can_fall_back());
    CHECK(copies.source() == "staged copy on this node, " + path);
}
