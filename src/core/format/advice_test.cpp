#include "core/format/advice.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "forebay/result.hpp"

namespace {

using namespace forebay;

format::Advice sample() {
    return {.kind = "preflight",
            .made_unix_ns = 1795420000000000000,
            .made_by = "0.1.0 on login1",
            .key = {{"nodes", "64"}, {"file_system", "lustre"}},
            .measures = {{.name = "drain_rate_bytes_per_second",
                          .value = 1.2e9,
                          .low = 1.1e9,
                          .high = 1.3e9,
                          .cv = 0.08,
                          .samples = 20,
                          .origin = format::MeasureOrigin::measured,
                          .from = "preflight"}},
            .findings = {{.check = "memory",
                          .subject = "nid00123",
                          .severity = format::Severity::fail,
                          .text = "46.1 GB free, need 51.4",
                          .ratio = 0.9,
                          .z = NAN,
                          .samples = 1}},
            .rows = {{.setting = {{"layout", "shared"}},
                      .measures = {{.name = "seconds", .value = 2}},
                      .remarks = {"hint x was not applied"}}},
            .chosen = {{"layout", "node"}},
            .excluded_nodes = {"nid00123"},
            .excluded_targets = {"OST0014"},
            .lines = {"#SBATCH --exclude=nid00123"}};
}

}  // namespace

TEST_CASE("what is written is read") {
    const auto text = format::encode(sample());
    const auto read = format::decode_advice(text, "a.json");
    REQUIRE(read);
    CHECK(format::encode(*read) == text);
    CHECK(read->findings.at(0).severity == format::Severity::fail);
    CHECK(std::isnan(read->findings.at(0).z));
    const auto* rate = format::find(read->measures, "drain_rate_bytes_per_second");
    REQUIRE(rate != nullptr);
    CHECK(rate->origin == format::MeasureOrigin::measured);
    CHECK(rate->high == 1.3e9);
    CHECK(format::find(read->measures, "nothing") == nullptr);
}

TEST_CASE("what is no advice, of a later version or damaged is told apart") {
    const auto kind_of = [](std::string text) { return format::decode_advice(text, "a.json").error().kind; };
    CHECK(kind_of("") == ErrorKind::corrupt);
    CHECK(kind_of("[]") == ErrorKind::corrupt);
    CHECK(kind_of(R"({"forebay":"advice","version":2})") == ErrorKind::unsupported);
    auto text = format::encode(sample());
    text.replace(text.find("\"measured\""), 10, "\"imagined\"");
    const auto read = format::decode_advice(text, "a.json");
    REQUIRE(!read);
    CHECK(read.error().what.find("origin") != std::string::npos);
}

TEST_CASE("names that are no text are spelled out") {
    auto advice = sample();
    advice.findings[0].subject = "n\xff";
    const auto read = format::decode_advice(format::encode(advice), "a.json");
    REQUIRE(read);
    CHECK(read->findings[0].subject == "n\\xff");
}
