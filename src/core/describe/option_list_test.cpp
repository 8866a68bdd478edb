// Goal: each stream option is described, checked and compared from one list, and the table of the page equals the list.
// Method: values beyond the bounds; each option changed alone; the rows of docs/reference/configuration.md, without
// links and marks, and of the list.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "core/describe/option_list.hpp"
#include "support/guide_table.hpp"

using namespace forebay;
using describe::settings_of, describe::check_values;

namespace {

std::string refusal(const std::function<void(StreamOptions&)>& change) {
    StreamOptions options;
    change(options);
    const auto checked = check_values("s", options);
    return checked ? "" : checked.error().text();
}

}  // namespace

TEST_CASE("the guide's table has a row for each option of a stream: its values, default and meaning") {
    const auto rows = test::rows_of_guide("configuration.md", "## Streams");
    const auto lines = describe::stream_option_lines();
    for (const auto& line : lines) {
        CAPTURE(line.key);
        const auto row = std::ranges::find_if(rows, [&](const auto& cells) { return cells.at(0) == line.key; });
        REQUIRE(row != rows.end());
        REQUIRE(row->size() == 4);
        CHECK(row->at(1) == line.values);
        CHECK(row->at(2) == line.by_default);
        CHECK_MESSAGE(row->at(3).starts_with(line.meaning), row->at(3));
    }
    CHECK(rows.size() == lines.size());
}

TEST_CASE("each option that is changed is told by its name and value") {
    const auto difference = [](const std::function<void(StreamOptions&)>& change) {
        StreamOptions options;
        const auto before = settings_of(options);
        change(options);
        const auto after = settings_of(options);
        const auto [own, other] = std::ranges::mismatch(before, after);
        return other == after.end() ? "" : other->name + " " + other->value;
    };
    CHECK(difference([](StreamOptions& o) { o.slots = 2; }) == "slots 2");
    CHECK(difference([](StreamOptions& o) { o.policy = Policy::newest_only; }) == "policy newest_only");
    CHECK(difference([](StreamOptions& o) { o.wait_max = std::chrono::milliseconds(250); }) == "wait_max_seconds 0.25");
    CHECK(difference([](StreamOptions& o) { o.view = false; }) == "view false");
    CHECK(difference([](StreamOptions& o) { o.conventions.push_back(Convention::netcdf); }) ==
          "conventions plain, netcdf");
    CHECK(difference([](StreamOptions& o) { o.rate_bytes_per_second = 5; }) == "rate_bytes_per_second 5");
    CHECK(difference([](StreamOptions& o) { o.file = TargetFile::combined(16); }) == "file combined:16");
    CHECK(difference([](StreamOptions& o) { o.compression.error = 1e-3; }) == "compression.error 0.001");
    CHECK(difference([](StreamOptions& o) {
              o.variable_compression = {{"u*", {}}};
          }) == "compression.variables 'u*' codec none");
    CHECK(difference([](StreamOptions& o) { o.policy = static_cast<Policy>(9); }) == "policy number 9");
}

TEST_CASE("a value that its line excludes is refused by its name") {
    CHECK(refusal([](StreamOptions&) {}).empty());
    CHECK(refusal([](StreamOptions& o) { o.slots = 0; }).find("slots is 0: 1 or 2.") != std::string::npos);
    CHECK(refusal([](StreamOptions& o) { o.slots = 3; }).find("slots is 3: 1 or 2.") != std::string::npos);
    CHECK(refusal([](StreamOptions& o) { o.keep = -1; }).find("keep is -1: 0 or more.") != std::string::npos);
    CHECK(refusal([](StreamOptions& o) { o.keep_abandoned = -2; }).find("keep_abandoned is -2: -1 or more.") !=
          std::string::npos);
    CHECK(refusal([](StreamOptions& o) { o.priority = std::numeric_limits<int>::min(); }).empty());
    CHECK(
        refusal([](StreamOptions& o) { o.rate_bytes_per_second = std::numeric_limits<std::uint64_t>::max(); }).empty());
    CHECK(refusal([](StreamOptions& o) { o.deadline = std::chrono::milliseconds(-1); }).find("deadline_seconds") !=
          std::string::npos);
    CHECK(refusal([](StreamOptions& o) {
              o.policy = static_cast<Policy>(9);
          }).find("policy is number 9: wait, wait_at_most, skip, newest_only.") != std::string::npos);
    CHECK(refusal([](StreamOptions& o) { o.file = TargetFile::combined(1); }).find("file is combined:1: ") !=
          std::string::npos);
    CHECK(refusal([](StreamOptions& o) { o.file = TargetFile::combined(257); }).find("file is combined:257: ") !=
          std::string::npos);
    CHECK(refusal([](StreamOptions& o) { o.conventions = {static_cast<Convention>(7)}; }).find("view is number 7") !=
          std::string::npos);
}

TEST_CASE("a file at the target is what its word says, and back") {
    for (const auto& file : {TargetFile::own(), TargetFile::combined(2), TargetFile::combined(256),
                             TargetFile::shared(), TargetFile::shared_h5part()}) {
        CAPTURE(name_of(file));
        CHECK(parse_target_file(name_of(file)).value() == file);
    }
    for (const auto* wrong : {"", "Own", "combined", "combined:", "combined:1", "combined:257", "combined:+2",
                              "combined:2 ", "shared_h5part"}) {
        CAPTURE(wrong);
        const auto refused = parse_target_file(wrong);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
        CHECK(refused.error().text().find("\"" + std::string(wrong) + "\"") != std::string::npos);
    }
}
