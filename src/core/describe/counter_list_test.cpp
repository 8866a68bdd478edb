// Goal: each counter is found by its name, and the text has all counters. Each count of an agent becomes its counter.
// Method: each member gets a different number and is looked up.

#include <doctest/doctest.h>

#include <set>

#include "core/describe/counter_list.hpp"

using namespace forebay;

TEST_CASE("each counter is given by its name, and is one of its own") {
    Counters counters;
    double number = 0;
    describe::each_counter([&](const char*, auto member, const char*) {
        counters.*member = static_cast<std::decay_t<decltype(counters.*member)>>(++number);
    });
    std::set<double> values;
    describe::each_counter(
        [&](const char* name, auto, const char*) { values.insert(describe::counter_named(counters, name).value()); });
    CHECK(values.size() == static_cast<std::size_t>(number));
    CHECK(describe::counter_named(counters, "saves").value() == static_cast<double>(counters.saves));
    CHECK(describe::counter_named(counters, "newest_durable_step").value() ==
          static_cast<double>(counters.newest_durable_step));
}

TEST_CASE("each count of an agent is a number of its own, on the page and as the counter that its line names") {
    describe::NodeCounts<std::atomic> node;
    describe::StreamCounts<std::atomic> stream;
    int number = 0, seen = 0;
    const auto set = [&](const describe::Count&, auto, auto get, auto& counts) { get(counts) = ++number; };
    describe::each_node_count([&](const auto& count, auto counter, auto get) { set(count, counter, get, node); });
    describe::each_stream_count([&](const auto& count, auto counter, auto get) { set(count, counter, get, stream); });
    CHECK(number == 18);
    Counters counters;
    describe::put_counters(node, counters);
    describe::put_counters(stream, counters);
    const auto node_copy = describe::plain(node);
    const auto stream_copy = describe::plain(stream);
    std::set<std::string> names;
    std::set<int> places;
    std::size_t metrics = 0;
    const auto check = [&](const describe::Count& count, auto counter, double copied) {
        CAPTURE(count.name);
        CHECK(copied == ++seen);
        CHECK(names.insert(count.name).second);
        if (count.metric.place > 0) ++metrics, places.insert(count.metric.place);
        if constexpr (!std::is_null_pointer_v<decltype(counter)>)
            CHECK(static_cast<double>(counters.*counter) == copied);
    };
    describe::each_node_count(
        [&](const auto& count, auto counter, auto get) { check(count, counter, static_cast<double>(get(node_copy))); });
    describe::each_stream_count([&](const auto& count, auto counter, auto get) {
        check(count, counter, static_cast<double>(get(stream_copy)));
    });
    CHECK(metrics == 9);
    CHECK(places.size() == metrics);
    CHECK(counters.aborts == node_copy.aborts);
    CHECK(counters.saves == 0);
}

TEST_CASE("an unknown counter is refused with the names there are") {
    const auto refused = describe::counter_named({}, "safes");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(refused.error().text().find("'safes'") != std::string::npos);
    CHECK(refused.error().text().find("saves, skipped, ") != std::string::npos);
}

TEST_CASE("the text has a line for each") {
    Counters counters;
    counters.saves = 3;
    counters.blocked_seconds = 0.5;
    const auto text = describe::counters_text(counters);
    CHECK(text.starts_with("saves 3\nskipped 0\n"));
    CHECK(text.find("\nblocked_seconds 0.5\n") != std::string::npos);
    CHECK(text.find("\nnewest_durable_step -1\n") != std::string::npos);
}
