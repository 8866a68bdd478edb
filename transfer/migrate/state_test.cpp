// Goal: passes come in order, going back never undoes the work of users, and a written state is read back equal.
// Method: states made by hand; texts cut at each byte.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "transfer/migrate/state.hpp"

using namespace forebay;
using migrate::Pass;
using migrate::ProjectState;

namespace {

ProjectState done_up_to(Pass last) {
    ProjectState state{.project = "a", .source = "/old/a", .target = "/new/a"};
    for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i) state.passes[i].is_done = true;
    return state;
}

}  // namespace

TEST_CASE("the next pass") {
    const migrate::ProjectPlan kept{.name = "a"}, removed{.name = "a", .removes = true};
    CHECK(next_pass(ProjectState(), kept) == Pass::walk);
    for (auto pass = Pass::walk; pass < Pass::remove; pass = static_cast<Pass>(static_cast<int>(pass) + 1))
        CHECK(next_pass(done_up_to(pass), removed) == static_cast<Pass>(static_cast<int>(pass) + 1));
    CHECK_FALSE(next_pass(done_up_to(Pass::remove), removed));
    CHECK_FALSE(next_pass(done_up_to(Pass::release), kept));
    CHECK(migrate::pass_from("--until", "final-sync").value() == Pass::final_sync);
    CHECK(migrate::pass_from("--until", "final").error().kind == ErrorKind::refused);
}

TEST_CASE("going back forgets what follows, and is refused where users work already") {
    auto state = done_up_to(Pass::report);
    state.frozen = migrate::Frozen{.entries = 3};
    REQUIRE(go_back(state, Pass::compare));
    CHECK(state.frozen);
    CHECK(next_pass(state, {}) == Pass::compare);
    REQUIRE(go_back(state, Pass::live_sync));
    CHECK_FALSE(state.frozen);
    CHECK(next_pass(state, {}) == Pass::live_sync);
    state = done_up_to(Pass::release);
    state.released_unix_s = 5;
    state.wait_until_unix_s = 7;
    for (const auto again : {Pass::wait, Pass::release, Pass::report}) {
        REQUIRE(go_back(state, again));
        CHECK(state.wait_until_unix_s == 0);
        CHECK(next_pass(state, {.removes = true}) == again);
        for (auto pass = Pass::walk; pass < Pass::report; pass = static_cast<Pass>(static_cast<int>(pass) + 1))
            CHECK(go_back(state, pass).error().kind == ErrorKind::refused);
    }
    state = done_up_to(Pass::wait);
    state.is_being_removed = true;
    CHECK(go_back(state, Pass::compare).error().kind == ErrorKind::refused);
    CHECK(go_back(state, Pass::remove));
}

TEST_CASE("a state is read as it was written, and a part of one is none") {
    auto state = done_up_to(Pass::copy);
    state.of(Pass::copy).counts = {{"copied", 7}, {"bytes", 1ull << 60}};
    state.of(Pass::live_sync).error = "a \"quoted\" error";
    state.of(Pass::live_sync).was_stopped = true;
    state.frozen = migrate::Frozen{.entries = 3, .digest = 0xfedc'ba98'7654'3210, .newest_change = {-5, 999'999'999}};
    state.wait_until_unix_s = 1'795'723'490;
    state.is_being_removed = true;
    state.above_inode = 12;
    state.released_unix_s = 1'795'723'489;
    const auto text = encode_state(state);
    const auto read = migrate::decode_state(text, "a.json").value();
    CHECK(encode_state(read) == text);
    CHECK(read.frozen == state.frozen);
    CHECK(read.released_unix_s == state.released_unix_s);
    CHECK(read.of(Pass::copy).counts.at("bytes") == 1ull << 60);
    CHECK(read.of(Pass::live_sync).was_stopped);
    for (std::size_t bytes = 0; bytes + 2 < text.size(); bytes += 7)
        CHECK(migrate::decode_state(text.substr(0, bytes), "a.json").error().kind == ErrorKind::corrupt);
    CHECK(migrate::decode_state("{\"forebay\": \"plan\"}", "a.json").error().kind == ErrorKind::corrupt);
    CHECK(migrate::decode_state("{\"forebay\": \"migrate\", \"version\": 9}", "a.json").error().kind ==
          ErrorKind::unsupported);
}

TEST_CASE("states of older programs know a release by its pass, also one that failed") {
    for (const bool is_done : {false, true}) {
        auto state = done_up_to(Pass::report);
        state.of(Pass::release) = {.is_done = is_done, .starts = 1, .began_unix_s = 5, .ended_unix_s = is_done ? 7 : 0};
        auto json = nlohmann::json::parse(encode_state(state));
        REQUIRE(json.erase("released_unix_s") == 1);
        CHECK(migrate::decode_state(json.dump(), "a.json").value().released_unix_s == (is_done ? 7 : 5));
    }
}

TEST_CASE("numbers that do not fit are damage, and no date or count of something else") {
    auto state = done_up_to(Pass::copy);
    state.wait_until_unix_s = 1'795'723'490;
    state.frozen = migrate::Frozen{.entries = 3, .digest = 0xfedc'ba98'7654'3210};
    state.of(Pass::copy).counts = {{"copied", 7}};
    const auto text = encode_state(state);
    const auto with = [&](const std::string& from, const std::string& to) {
        auto changed = text;
        REQUIRE(changed.find(from) != changed.npos);
        return migrate::decode_state(changed.replace(changed.find(from), from.size(), to), "a.json");
    };
    REQUIRE(with("1795723490", "9000000000"));
    for (const auto* time : {"9000000001", "9223372036854775807", "-1", "1e300", "true"}) {
        CAPTURE(time);
        CHECK(with("1795723490", time).error().kind == ErrorKind::corrupt);
    }
    for (const auto* count : {"-7", "7.5", "18446744073709551616"}) {
        CAPTURE(count);
        CHECK(with("\"copied\": 7", std::string("\"copied\": ") + count).error().kind == ErrorKind::corrupt);
    }
    for (const auto* digest : {"-1", "fedcba9876543210f", " 1", "12x", ""}) {
        CAPTURE(digest);
        CHECK(with("fedcba9876543210", digest).error().kind == ErrorKind::corrupt);
    }
}
