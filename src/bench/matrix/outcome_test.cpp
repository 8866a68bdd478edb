// Goal: every output form shows the statistics of the samples, beside published figures of the same setting.

#include "bench/matrix/outcome.hpp"

#include <doctest/doctest.h>

using namespace forebay;
using namespace forebay::bench;

namespace {

constexpr const char* rate = "write_rate_bytes_per_second";

RowResult row_of(const Words& words, Samples samples) {
    auto setting = setting_from(words);
    REQUIRE(setting);
    RowResult row{.setting = *setting, .samples = std::move(samples)};
    row.ranks = 4;
    row.nodes = row.ranks_per_node = 2;
    row.bytes = 4096;
    return row;
}

RowOutcome two_rows() {
    RowOutcome outcome;
    outcome.of.title = "two <ways>";
    outcome.of.source = "somebody, 2019";
    outcome.of.published = {{{{"via", "posix"}}, rate, 10e9, false}, {{{"via", "mpiio"}}, rate, 40e9, false}};
    outcome.environment = {{"forebay", "0 on a host"}, {"processor", "one, fast"}};
    outcome.rows.push_back(row_of({{"via", "posix"}}, {{rate, {3e9, 1e9, 2e9}}}));
    outcome.rows.push_back(
        row_of({{"via", "mpiio"}}, {{rate, {1e9}}, {"file_create_operations_per_second", {500, 700}}}));
    outcome.rows.push_back(row_of({{"via", "dfs"}}, {}));
    outcome.rows.back().skipped = "not here";
    return outcome;
}

}  // namespace

TEST_CASE("outcome: medians, spread and ratios of each row") {
    const auto outcome = two_rows();
    const auto first = lines_of(outcome, outcome.rows[0]).at(0), second = lines_of(outcome, outcome.rows[1]).at(0);
    CHECK(first.median == 2e9);
    CHECK(first.min == 1e9);
    CHECK(first.max == 3e9);
    CHECK(first.deviation == doctest::Approx(1e9));
    CHECK(first.interval.low >= first.min);
    CHECK(first.ratio == 1);
    CHECK(second.ratio == 0.5);
    CHECK(second.published->value == 40e9);
    CHECK(second.published_ratio == 4);
    CHECK(axes_of(outcome) == std::vector<std::string>{"via"});
    CHECK(name_of_row(outcome, outcome.rows[1]) == "mpiio");
}

TEST_CASE("outcome: advice that others read, with the ranks and nodes that there were") {
    const auto text = format::encode(advice_of(two_rows()));
    const auto back = format::decode_advice(text, "bench.json");
    REQUIRE(back);
    CHECK(back->kind == "bench");
    CHECK(back->made_by == "0 on a host");
    REQUIRE(back->rows.size() == 3);
    CHECK(word_of(back->rows[0].setting, "ranks") == "4");
    CHECK(word_of(back->rows[0].setting, "nodes") == "2");
    const auto* measure = format::find(back->rows[0].measures, rate);
    REQUIRE(measure != nullptr);
    CHECK(measure->value == 2e9);
    CHECK(measure->cv == doctest::Approx(0.5));
    CHECK(measure->samples == 3);
    CHECK(measure->origin == format::MeasureOrigin::measured);
    CHECK(format::find(back->rows[1].measures, std::string("published_") + rate)->from == "somebody, 2019");
    CHECK(back->rows[2].remarks.at(0) == "skipped: not here");
}

TEST_CASE("outcome: a plan takes the row with the fastest drain, a node's part of what it read, and its name") {
    constexpr const char *drain = "drain_rate_bytes_per_second", *read = "read_rate_bytes_per_second";
    RowOutcome outcome;
    outcome.rows.push_back(row_of({{"via", "posix"}}, {{read, {9e9}}}));
    for (const auto& [xfer, rate_of_drain] : {std::pair{"1M", 1e9}, {"4M", 2e9}, {"8M", 1.5e9}})
        outcome.rows.push_back(row_of({{"via", "forebay"}, {"xfer", xfer}}, {{read, {3e9}}, {drain, {rate_of_drain}}}));
    const auto advice = advice_of(outcome);
    CHECK(format::find(advice.measures, drain)->value == 2e9);
    CHECK(format::find(advice.measures, read)->value == 1.5e9);
    for (const auto& measure : advice.measures) CHECK(measure.from == "row forebay, 4M");
    outcome.rows.resize(1);
    CHECK(advice_of(outcome).measures.empty());
}

TEST_CASE("outcome: tables and the page show all rows, and text of others stays text") {
    const auto outcome = two_rows();
    const auto table = table_of(outcome).text, csv = csv_of(outcome), ior = ior_tables_of(outcome),
               page = page_of(outcome);
    CHECK(table.find("40.0 GB/s") != std::string::npos);
    CHECK(table.find("skipped: dfs: not here") != std::string::npos);
    const std::string line =
        "timed: posix until files are closed, mpiio until files are closed, dfs until files are "
        "closed; of all rows: --size 64M --xfer 1M --durable close --op write,read --dumps 1 --data 1xu8";
    CHECK(table.find(line + "\n") != std::string::npos);
    CHECK(page.find(line + ".") != std::string::npos);
    CHECK(csv.find("mpiio,shared") != std::string::npos);
    CHECK(ior.find("Max Write: 2861.02 MiB/sec (3000.00 MB/sec)") != std::string::npos);
    CHECK(ior.find("   File creation             700.000        500.000        600.000        141.421") !=
          std::string::npos);
    CHECK(page.find("two &lt;ways&gt;") != std::string::npos);
    CHECK(page.find("<ways>") == std::string::npos);
    CHECK(page.find("class=\"drain\"") != std::string::npos);
}
