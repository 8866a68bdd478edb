// Goal: the names of files alone show each form's arrived and missing files, also if one of several files has another
// form, and no file of another form enters a manifest. Method: node files of small snapshots brought by an agent's
// calls onto the simulated disk.

#include <doctest/doctest.h>

#include "path/catalog/forms/file_form.hpp"
#include "path/drain/node_drain.hpp"
#include "support/sim_store.hpp"
#include "support/small_run.hpp"

using namespace forebay;
using catalog::form_of;
using test::SimStore;

namespace {

test::SmallSnapshot snapshot_of(std::uint32_t nodes_per_file) { return {.nodes = 3, .nodes_per_file = nodes_per_file}; }

void bring(SimStore& disk, const test::SmallSnapshot& snapshot, std::uint32_t node) {
    const drain::NodeDrain how{.store = &disk, .run = "run", .write = {.block_bytes = 65536, .in_flight = 1}};
    REQUIRE(drain::drain_node_file(how, test::small_node_file(snapshot, node), "slot"));
}

catalog::WantedSnapshot wanted_of(const test::SmallSnapshot& snapshot) {
    return {.snapshot_id = snapshot.id,
            .step = snapshot.step,
            .nodes = snapshot.nodes,
            .form = test::small_form(snapshot, 0)};
}

}  // namespace

TEST_CASE("a file's name is that of one form alone") {
    for (const std::string name : {"node-00003.h5", "nodes-00002-00003.h5", "shared.h5"}) {
        int forms = 0;
        for (const auto* form : catalog::all_forms()) forms += form->is_named(name) ? 1 : 0;
        CAPTURE(name);
        CHECK(forms == 1);
    }
    CHECK(catalog::own_form().is_named("node-00003.h5"));
    CHECK(catalog::combined_form().is_named("nodes-00002-00003.h5"));
    CHECK(catalog::shared_form().is_named("shared.h5"));
    for (const auto* form : catalog::all_forms()) {
        CHECK_FALSE(form->is_named("manifest.json"));
        CHECK_FALSE(form->is_named("node-00003.h5.tmp"));
    }
    CHECK(&form_of(format::FormKind::own) == &catalog::own_form());
    CHECK(&form_of(format::FormKind::combined) == &catalog::combined_form());
    CHECK(&form_of(format::FormKind::shared) == &catalog::shared_form());
}

TEST_CASE("each form tells which node has not come, and gives all heads in order when none is absent") {
    for (const std::uint32_t nodes_per_file : {1u, 2u, 3u, test::all_in_one}) {
        CAPTURE(nodes_per_file);
        const auto snapshot = snapshot_of(nodes_per_file);
        const auto part = test::part_directory("run", snapshot);
        const auto wanted = wanted_of(snapshot);
        SimStore disk("run");
        for (const std::uint32_t node : {2u, 0u, 1u}) {
            const auto absent = form_of(wanted.form).absent(disk, part, wanted);
            REQUIRE(absent);
            CHECK(absent->has_value());
            bring(disk, snapshot, node);
        }
        CHECK(form_of(wanted.form).absent(disk, part, wanted).value() == std::nullopt);
        std::uint32_t nodes = 0;
        REQUIRE(
            form_of(wanted.form)
                .assemble(disk, part, wanted, [&](const auto& head, std::uint32_t node, const auto& path, const auto&) {
                    CHECK(head.record.node == nodes);
                    CHECK(node == nodes++);
                    CHECK(path == format::node_path(node, 3, wanted.form));
                    return Result<>();
                }));
        CHECK(nodes == 3);
    }
}

TEST_CASE("a file of another form than its name says is refused") {
    const auto own = snapshot_of(2), other = snapshot_of(test::all_in_one);
    SimStore disk("run");
    for (std::uint32_t node = 0; node < 3; ++node) bring(disk, other, node);
    const auto part = test::part_directory("run", own);
    REQUIRE(disk.rename(part + "/shared.h5", part + "/nodes-00000-00001.h5"));
    const auto wanted = wanted_of(own);
    const auto outcome = form_of(wanted.form).assemble(disk, part, wanted, [](auto&&...) { return Result<>(); });
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == ErrorKind::refused);
}
