// Goal: top shows the report's numbers of a session, and sentences about ways of bytes are not pushed out by others.
// Method: made chronicles of several sessions and nodes.

#include "program/look/top_view.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "path/telemetry/words.hpp"
#include "support/made_chronicle.hpp"

using namespace forebay;

namespace {

constexpr std::int64_t second = 1'000'000'000;

telemetry::EventLine event_of(const char* name, std::int64_t unix_ns, const std::string& text) {
    return {.unix_ns = unix_ns, .event = name, .host = "nid10001", .stream = "restart", .text = text};
}

}  // namespace

TEST_CASE("top is of the newest session, and tells of it what the report of that session tells") {
    auto chronicle = test::made_chronicle({.nodes = 2, .snapshots = 12});
    for (auto& batch : chronicle.batches) {
        batch.session = static_cast<std::uint32_t>(batch.step - 1) / 400 + 1;  // 1 to 3
        if (batch.session < 3) batch.blocked_seconds *= 20;
    }
    const auto now = chronicle.batches.back().ended_unix_ns;
    const auto all = telemetry::summarize(chronicle);
    auto of_last = chronicle;
    std::erase_if(of_last.batches, [](const auto& batch) { return batch.session != 3; });
    const auto last = telemetry::summarize(of_last);
    const auto top = cli::top_view(chronicle, now, false).summary;
    CHECK(telemetry::period_text(top) == "session 3");
    CHECK(top.hidden_ratio == last.hidden_ratio);
    CHECK(top.visible_ratio == last.visible_ratio);
    CHECK(top.parts.ranks.sum == last.parts.ranks.sum);
    const auto top_of_all = cli::top_view(chronicle, now, true).summary;
    CHECK(telemetry::period_text(top_of_all) == "sessions 1 to 3");
    CHECK(top_of_all.hidden_ratio == all.hidden_ratio);
    CHECK(top.hidden_ratio > 1.2 * all.hidden_ratio);
}

TEST_CASE("which way bytes go stays among the sentences, however many saves were slow since") {
    auto chronicle = test::made_chronicle({.nodes = 2, .snapshots = 60});
    auto at = chronicle.batches.front().saved_unix_ns;
    chronicle.events.push_back(event_of("detours", at, "writes through a neighbour"));
    for (auto& batch : chronicle.batches) batch.why = {"step " + std::to_string(batch.step) + " was slow"};
    for (int i = 0; i < 50; ++i)
        chronicle.events.push_back(event_of("slow", at += second, "slow " + std::to_string(i)));
    const auto now = chronicle.batches.back().ended_unix_ns;
    auto why = cli::top_view(chronicle, now, false).why;
    CHECK(why.size() == 20);
    CHECK(std::ranges::count(why, "writes through a neighbour", &cli::TopSentence::text) == 1);
    CHECK(std::ranges::is_sorted(why, std::ranges::greater(), &cli::TopSentence::unix_ns));
    for (int i = 0; i < 50; ++i)
        chronicle.events.push_back(event_of("avoids", at += second, "avoids target " + std::to_string(i)));
    why = cli::top_view(chronicle, now, false).why;
    CHECK(why.size() == 20);
    CHECK(std::ranges::count(why, true, &cli::TopSentence::is_way) == 10);
    CHECK(std::ranges::count(why, "avoids target 49", &cli::TopSentence::text) == 1);
}
