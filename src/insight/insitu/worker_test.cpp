// Goal: a worker reads a sealed slot, reports it, and commits results. Parts of two nodes join. Data counts only while
// the lease stands. Invalid lines get an answer. Method: a staging directory made by hand with a sealed slot, and lines
// through text streams.

#include "insight/insitu/worker.hpp"

#include <doctest/doctest.h>

#include "path/catalog/catalog.hpp"
#include "path/catalog/marks.hpp"
#include "support/leased_node.hpp"

using namespace forebay;
using test::CutFields;
using test::LeasedNode;
using test::means_of;

namespace {

bool has_means(const std::string& run) {
    const auto manifest = catalog::load_manifest(sys::posix_store(), run + "/fields.means/step-000120");
    return manifest && manifest->schema.variables.front().name.starts_with("t/");
}

}  // namespace

TEST_CASE("a sealed slot is seen, and its results are committed") {
    const test::TempDirectory folder;
    auto cut = means_of("t");
    cut.name = "cut";
    cut.kind = Analysis::Kind::slice;
    LeasedNode node(folder, {2, 1, 0, 1}, 0, {means_of("t"), cut});
    CHECK(node.answers(node.see()) == "seen\nmade 2\n");
    CHECK(has_means(node.run));
    CHECK(sys::posix_store()
              .exists(node::spool_path(node.staging->directory()) + "/fields.cut.t.step-000120.png")
              .value());
}

TEST_CASE("the parts of two nodes meet at whoever is the second") {
    const test::TempDirectory folder;
    LeasedNode first(folder, {3, 2, 1, 1}, 0, {means_of("t")});
    LeasedNode second(folder, {3, 2, 1, 1}, 1, {means_of("t")});
    CHECK(first.answers(first.see()) == "seen\nmade 0\n");
    CHECK(!has_means(first.run));
    CHECK(second.answers(second.see()) == "seen\nmade 1\n");
    CHECK(has_means(first.run));
    CHECK(sys::posix_store().list(first.run + "/forebay/insitu/fields").value().empty());
}

TEST_CASE("an analysis that cannot be made is a problem, and no more") {
    const test::TempDirectory folder;
    auto bad = means_of("pressure");
    bad.name = "bad";
    LeasedNode node(folder, {}, 0, {bad, means_of("t")});
    const auto answer = node.answers(node.see());
    CHECK(answer.find("problem analysis 'bad'") != std::string::npos);
    CHECK(answer.ends_with("made 1\n"));
}

TEST_CASE("what was read counts only while the lease stands") {
    const test::TempDirectory folder;
    LeasedNode node(folder, {}, 0, {means_of("t")});
    auto& control = node.staging->control().slots[node.slot];
    control.holds = 0;
    CHECK(node.answers(node.see()).starts_with("failed a later save needed the slot"));
    control.holds = node::lease_hold;
    control.snapshot_id = CutFields::id + 1;
    CHECK(node.answers(node.see()).starts_with("failed a later save needed the slot"));
    CHECK(!has_means(node.run));
}

TEST_CASE("a damaged slot, another run and nonsense are answered, and the worker goes on") {
    const test::TempDirectory folder;
    LeasedNode node(folder, {}, 0, {means_of("t")});
    auto answer = node.answers("hello\nsee\nsee 99 12648430 120\n" + node.see());
    CHECK(answer.starts_with("failed the worker does not understand \"hello\"\nfailed"));
    CHECK(answer.ends_with("seen\nmade 1\n"));
    node.session.run_id += 1;
    answer = node.answers(node.see());
    CHECK(answer.starts_with("seen\nfailed"));
    auto mapping = sys::Mapping::open(node.staging->slot_path(node.slot), true).value();
    const auto head = format::open_head(mapping.bytes(), "slot").value();
    mapping.bytes()[head.blocks[head.first_block[1]].offset_bytes] ^= std::byte{1};
    answer = node.answers(node.see());
    CHECK(answer.starts_with("failed"));
    CHECK(answer.find("\"t\"") != std::string::npos);
}

TEST_CASE(
    "a snapshot that fulfils a condition is marked before the agent is told, and what cannot be marked is a problem") {
    const test::TempDirectory folder;
    auto means = means_of("t");
    means.condition = {"t/count > 0", "t/nan > 0", "v/* > 0"};
    means.action = {Analysis::Action::mark, Analysis::Action::tell};
    LeasedNode node(folder, {2, 1, 0, 1}, 0, {means});
    const auto part = node.run + "/fields/" + catalog::part_name(CutFields::step, CutFields::id);
    const auto absent = node.answers(node.see());
    CHECK(absent.find("problem analysis 'means': no result matches condition 'v/* > 0'") != std::string::npos);
    CHECK(absent.find("has no stream \"fields\"") != std::string::npos);
    CHECK(absent.find("\nraise tell ") != std::string::npos);
    sys::posix_store().make_directories(part).value();
    sys::posix_store().remove_tree(node.run + "/fields.means").value();  // otherwise the worker skips it
    const auto answer = node.answers(node.see());
    CHECK(answer.find("\nraise mark,tell ") != std::string::npos);
    CHECK(answer.find(" means: t/count > 0 (t/count is ") != std::string::npos);
    CHECK(answer.ends_with("made 1\n"));
    const auto marks = catalog::marks_beside(sys::posix_store(), part).value();
    REQUIRE(marks.size() == 1);
    CHECK(marks[0].condition == "t/count > 0");
}
