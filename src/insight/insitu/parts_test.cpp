// Goal: parts of a snapshot join when all exist, and never with parts of another save or other options. Damaged files
// are refused. Method: the simulated disk; every truncation, and a flip of every byte, of a part.

#include "insight/insitu/parts.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/passing_store.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using insitu::NodePart;
using test::SimStore;

namespace {

NodePart part_of(std::uint32_t node, std::int64_t step = 120, std::uint64_t id = 0xf3) {
    // Each step gets a number on the line, in order.
    return {{{3, 1}, static_cast<std::uint64_t>(step), step, id},
            node,
            2,
            77,
            {{"means t", {std::byte{1}, std::byte{2}}}, {"cut t", {}}}};
}

struct PartsDisk {
    PartsDisk() { disk.make_directories("run").value(); }
    std::vector<std::string> steps() {
        std::vector<std::string> names;
        for (const auto& entry : disk.list("run/forebay/insitu/fields").value()) names.push_back(entry.name);
        return names;
    }
    SimStore disk;
};

}  // namespace

TEST_CASE("a part comes back as it was, or not at all") {
    const auto part = part_of(1);
    const auto bytes = insitu::encode_part(part);
    CHECK(insitu::decode_part(bytes, "part").value() == part);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(insitu::decode_part(std::span(bytes).first(size), "part").error().kind == ErrorKind::corrupt);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        auto flipped = bytes;
        flipped[i] ^= std::byte{0x10};
        CHECK(!insitu::decode_part(flipped, "part"));
    }
}

TEST_CASE("parts meet when all are there") {
    PartsDisk run;
    REQUIRE(insitu::write_part(run.disk, "run", "fields", part_of(0)));
    CHECK(!insitu::take_parts(run.disk, "run", "fields", part_of(0)).value());
    // From another save of the step.
    REQUIRE(insitu::write_part(run.disk, "run", "fields", part_of(1, 120, 0xf4)));
    CHECK(!insitu::take_parts(run.disk, "run", "fields", part_of(0)).value());
    REQUIRE(insitu::write_part(run.disk, "run", "fields", part_of(1)));
    const auto all = insitu::take_parts(run.disk, "run", "fields", part_of(1)).value();
    REQUIRE(all);
    CHECK(*all == std::vector{part_of(0), part_of(1)});
}

TEST_CASE("one node alone takes the parts, and its next worker gets them again") {
    PartsDisk run;
    for (const std::uint32_t node : {0, 1}) REQUIRE(insitu::write_part(run.disk, "run", "fields", part_of(node)));
    // One runs before each operation of the other.
    for (int at = 0; at < 4; ++at) {
        CAPTURE(at);
        auto disk = run.disk.clone();
        std::optional<std::vector<NodePart>> other;
        test::InterruptedStore slow(*disk, at,
                                    [&] { other = insitu::take_parts(*disk, "run", "fields", part_of(1)).value(); });
        const auto own = insitu::take_parts(slow, "run", "fields", part_of(0)).value();
        CHECK(own.has_value() != other.has_value());
        const std::uint32_t winner = own ? 0 : 1;
        REQUIRE(insitu::write_part(*disk, "run", "fields", part_of(winner)));
        CHECK(insitu::take_parts(*disk, "run", "fields", part_of(winner)).value() == (own ? own : other));
        CHECK(!insitu::take_parts(*disk, "run", "fields", part_of(1 - winner)).value());
        REQUIRE(insitu::remove_parts(*disk, "run", "fields", part_of(0).save));
        CHECK(disk->list("run/forebay/insitu/fields").value().empty());
    }
}

TEST_CASE("parts of other options never meet") {
    PartsDisk run;
    auto other = part_of(1);
    other.rules_crc32c = 78;
    REQUIRE(insitu::write_part(run.disk, "run", "fields", part_of(0)));
    REQUIRE(insitu::write_part(run.disk, "run", "fields", other));
    const auto all = insitu::take_parts(run.disk, "run", "fields", part_of(0));
    REQUIRE(!all);
    CHECK(all.error().kind == ErrorKind::refused);
    CHECK(all.error().what.find("node-00001") != std::string::npos);
}

TEST_CASE("parts of a step go with it, and those of steps before that nobody completes") {
    PartsDisk run;
    REQUIRE(insitu::remove_parts(run.disk, "run", "fields", part_of(0).save));  // nothing to remove is no error
    for (const std::int64_t step : {80, 120, 160})
        REQUIRE(insitu::write_part(run.disk, "run", "fields", part_of(0, step)));
    REQUIRE(run.disk.make_directories("run/forebay/insitu/fields/of-others"));
    REQUIRE(insitu::remove_parts(run.disk, "run", "fields", part_of(0).save));
    CHECK(run.steps() == std::vector<std::string>{"line-3.1.save-160.step-000160.00000000000000f3", "of-others"});
}

TEST_CASE("parts of a later save stay, though it is of an earlier step, or of the same one") {
    PartsDisk run;
    auto back = part_of(0, 40), again = part_of(0, 120, 0xf4);
    back.save.line = {3, 2};
    again.save.number = 121;
    for (const auto& part : {part_of(0), back, again}) REQUIRE(insitu::write_part(run.disk, "run", "fields", part));
    REQUIRE(insitu::remove_parts(run.disk, "run", "fields", part_of(0).save));
    CHECK(run.steps().size() == 2);
    REQUIRE(insitu::remove_parts(run.disk, "run", "fields", again.save));
    CHECK(run.steps() == std::vector<std::string>{"line-3.2.save-40.step-000040.00000000000000f3"});
}

TEST_CASE("no part makes a run that is gone") {
    SimStore disk;
    CHECK(insitu::write_part(disk, "run", "fields", part_of(0)).error().kind == ErrorKind::missing);
    CHECK(!disk.exists("run").value());
}
