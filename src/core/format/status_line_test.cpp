// Goal: a status reads back as it was written, and always has 4096 bytes. A torn or changed status is refused.
// Method: lines by hand, with each byte changed and each cut tried; a line with too much content; the worked example of
// docs/formats/status.md.

#include "core/format/status_line.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

using namespace forebay;
using namespace forebay::format;

namespace {

StatusLine example() {
    StatusLine line;
    line.unix_ns = 1795420060000000000;
    line.period_seconds = 1;
    line.host = "nid00412";
    line.virtual_node = "0";
    line.agent = "process";
    line.state = "serving";
    line.session = 3;
    line.nodes = 8;
    line.application_lives = true;
    line.began_unix_ns = 1795419000000000000;
    line.job_ends_unix_ns = 1795422600000000000;
    line.counts.commits = 12;
    line.counts.drains = 96;
    line.counts.aborts = 1;
    line.counts.overtakes = 2;
    line.counts.bytes_drained = 206158430208;
    line.counts.bytes_stored = 103079215104;
    line.counts.backlog_bytes = 2147483648;
    line.counts.drain_seconds = 120.5;
    line.counts.drain_cpu_seconds = 14.25;
    line.counts.rate_bytes_per_second = 1.75e9;
    line.counts.slowdown_percent = 0.8;
    line.counts.steps_counted = 4800;
    line.last_error = "step 1300 of stream 'restart' is NOT committed";
    line.why = "step 1200 waited 3.1 s for a slot, because the drain of step 1100 took 3.1 times its median";
    line.streams.push_back({.name = "restart",
                            .counts = {.newest_durable_step = 1200, .not_analysed = 1, .scripts_missed = 2},
                            .slots = {{"draining", 1300, 2147483648, 1073741824, 1795420058000000000},
                                      {"committed", 1200, 2147483648, 2147483648, 1795419998000000000}}});
    return line;
}

StatusLine decoded(const std::string& text) { return decode_status(text, "status.json").value(); }

void check_alike(const StatusLine& line, const StatusLine& other) {
    CHECK(encode(line) == encode(other));
    CHECK(line.host == other.host);
    CHECK(line.last_error == other.last_error);
    CHECK(line.why == other.why);
    CHECK(line.application_lives == other.application_lives);
    CHECK(line.counts.bytes_stored == other.counts.bytes_stored);
    CHECK(line.job_ends_unix_ns == other.job_ends_unix_ns);
    REQUIRE(line.streams.size() == other.streams.size());
    for (std::size_t i = 0; i < line.streams.size(); ++i) {
        CHECK(line.streams[i].name == other.streams[i].name);
        REQUIRE(line.streams[i].slots.size() == other.streams[i].slots.size());
        for (std::size_t k = 0; k < line.streams[i].slots.size(); ++k)
            CHECK(line.streams[i].slots[k].drained_bytes == other.streams[i].slots[k].drained_bytes);
    }
}

StatusLine full(std::size_t streams) {
    auto line = example();
    line.host = std::string(300, '\x01');
    line.virtual_node = line.agent = line.state = std::string(300, '"');
    line.last_error = std::string(5000, '\n');
    line.why = std::string(5000, '\xff');
    line.unix_ns = line.began_unix_ns = line.job_ends_unix_ns = std::numeric_limits<std::int64_t>::min();
    line.counts.commits = line.counts.drains = line.counts.aborts = line.counts.overtakes = line.counts.bytes_drained =
        UINT64_MAX;
    line.counts.bytes_stored = line.counts.backlog_bytes = line.counts.steps_counted = UINT64_MAX;
    line.counts.drain_seconds = line.counts.drain_cpu_seconds = line.period_seconds =
        -std::numeric_limits<double>::denorm_min();
    line.counts.rate_bytes_per_second = line.counts.slowdown_percent = -std::numeric_limits<double>::max();
    line.session = line.nodes = UINT32_MAX;
    line.streams.assign(streams, line.streams[0]);
    return line;
}

}  // namespace

TEST_CASE("a line reads back as it was written") {
    const auto text = encode(example());
    CHECK(text.size() == status_bytes);
    CHECK(text.back() == '\n');
    check_alike(decoded(text), example());
    check_alike(decoded(encode(StatusLine{})), {});
    auto odd = example();
    odd.counts.slowdown_percent = std::numeric_limits<double>::infinity();
    odd.host = "a\"b\\c\nd\x1b[2J";
    odd.streams[0].name = "naïve <b>";
    check_alike(decoded(encode(odd)), odd);
}

TEST_CASE("whatever is put into it, it has 4096 bytes, and says how many streams it lacks") {
    for (const std::size_t streams : {0u, 1u, 6u, 32u, 5000u}) {
        const auto text = encode(full(streams));
        CHECK(text.size() == status_bytes);
        const auto line = decoded(text);
        CHECK(line.streams.size() + line.streams_left_out == streams);
        CHECK(line.last_error.ends_with("\n..."));
        CHECK(line.why.starts_with("\\xff\\xff"));
        CHECK(line.counts.bytes_stored == UINT64_MAX);
    }
    auto many = example();
    many.streams.assign(32, many.streams[0]);
    CHECK(decoded(encode(many)).streams.size() >= 5);
    auto letters = example();
    letters.why.clear();
    for (int i = 0; i < 1000; ++i) letters.why += "é";
    const auto cut = decoded(encode(letters)).why;
    CHECK(cut.ends_with("é..."));
    CHECK(cut.size() >= 470);
}

TEST_CASE("a line that is torn, changed, cut or continued is refused") {
    const auto text = encode(example());
    const auto refused = [](const std::string& other) {
        const auto line = decode_status(other, "status.json");
        return !line && line.error().kind == ErrorKind::corrupt;
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto other = text;
        other[at] = static_cast<char>(other[at] ^ 2);
        CHECK(refused(other));
        CHECK(refused(text.substr(0, at)));
    }
    auto newer = example();
    newer.unix_ns += 1000000000;
    newer.counts.bytes_drained += 12345;
    const auto next = encode(newer);
    for (const std::size_t at : {200u, 512u, 800u}) CHECK(refused(next.substr(0, at) + text.substr(at)));
    CHECK(refused(text + "\n"));
    CHECK(refused(""));
    CHECK(refused(std::string(status_bytes, ' ')));
}

TEST_CASE("the worked example of the page is such a line") {
    const auto* const source = std::getenv("FOREBAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    std::ifstream file(std::string(source) + "/docs/formats/examples/status.json", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    REQUIRE(decode_status(text, "status.json"));
    CHECK(text == encode(example()));
}
