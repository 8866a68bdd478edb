// Goal: a message of one process is read by another process in any pieces. An invalid or damaged message, or another
// version, is refused.
// Method: encodes and decodes messages and orders with every field. Passes a stream byte by byte after the greeting of
// a login. Changes each byte of a message.

#include "transfer/team/team_message.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "core/base/bytes.hpp"
#include "transfer/team/team_order.hpp"

using namespace forebay;
using tree::TeamKind;
using tree::TeamMessage;

namespace {

TeamMessage full() {
    return {.kind = TeamKind::work_item,
            .process = 3,
            .number = 7,
            .flags = 5,
            .id = {1, 2},
            .other_id = {3, 4},
            .path = "a/b",
            .text = std::string("zero\0byte", 9),
            .numbers = {1, UINT64_MAX},
            .texts = {"one", "", "\xff\n"}};
}

}  // namespace

TEST_CASE("team_message: all fields come back") {
    for (auto kind = std::uint16_t{1}; kind <= static_cast<std::uint16_t>(tree::last_team_kind); ++kind) {
        auto message = full();
        message.kind = static_cast<TeamKind>(kind);
        CHECK(tree::decode_team_message(tree::encode(message)).value() == message);
    }
    CHECK(tree::decode_team_message(tree::encode(TeamMessage{})).value() == TeamMessage{});
    auto bytes = tree::encode(full());
    bytes.push_back(std::byte{0});
    CHECK(!tree::decode_team_message(bytes));
    bytes.resize(bytes.size() - 2);
    CHECK(!tree::decode_team_message(bytes));
}

TEST_CASE("team_message: a stream may come in any pieces, behind other words") {
    std::vector<std::byte> bytes;
    tree::append_frame(bytes, full());
    tree::append_frame(bytes, TeamMessage{.kind = TeamKind::bye});
    tree::TeamStream stream;
    stream.add(bytes_of("welcome\nto node1\n"));
    std::vector<TeamMessage> come;
    TeamMessage message;
    for (const auto byte : bytes) {
        stream.add({&byte, 1});
        if (stream.next(message).value()) come.push_back(message);
    }
    REQUIRE(come.size() == 2);
    CHECK(come[0] == full());
    CHECK(come[1].kind == TeamKind::bye);
    CHECK(stream.words().starts_with("welcome\nto node1"));
}

TEST_CASE("team_message: no byte of a message can change unseen") {
    std::vector<std::byte> bytes;
    tree::append_frame(bytes, TeamMessage{.kind = TeamKind::hello, .text = "0.1.0"});
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        CAPTURE(at);
        auto changed = bytes;
        changed[at] ^= std::byte{0x10};
        tree::TeamStream stream;
        stream.add(changed);
        TeamMessage message;
        const auto next = stream.next(message);
        const bool is_taken = next && *next;
        CHECK(!is_taken);
        if (at == 7) CHECK(next.error().kind == ErrorKind::unsupported);  // the version
    }
}

namespace {

tree::TeamOrder full_order() {
    tree::TeamOrder order{.verb = tree::TeamVerb::compare,
                          .process = 2,
                          .processes = 5,
                          .threads = 3,
                          .timeout_seconds = 15,
                          .user = 1000,
                          .group = 100,
                          .umask = 022,
                          .source = "/from",
                          .target = "/to",
                          .source_root = {7, {-5, 999'999'999}, std::string("12 a b\0", 7)},
                          .target_root = {8, {6, 1}, {}},
                          .probe = "probe",
                          .temporary_prefix = ".fb-",
                          .settings = "AWS_REGION=r\n",
                          .options = {.filter = {.include = {"*.h5"}, .exclude = {"a", "b"}},
                                      .preserve = {.owner = false, .hard_links = false},
                                      .cannot_keep = tree::CannotKeep::drop,
                                      .rate_bytes_per_second = 10,
                                      .verifies = true,
                                      .recalls = true,
                                      .is_run = true,
                                      .layout = tree::layout_from("64:1,-1").value()},
                          .has_list = true,
                          .lacks_target = true};
    order.options.layout.excluded_targets = {9, 2, 300};
    return order;
}

}  // namespace

TEST_CASE("team_message: an order comes back with all options") {
    const auto order = full_order();
    const auto message = tree::message_of(order);
    const auto again = tree::order_from(message);
    REQUIRE(again);
    CHECK(tree::message_of(*again) == message);
    CHECK(again->options.filter.exclude == order.options.filter.exclude);
    CHECK(again->source_root.modified == order.source_root.modified);
    const auto mounts = tree::mounts_from(again->source_root.mounts);
    REQUIRE(mounts.size() == 1);
    CHECK(mounts[0] == sys::MountBelow{"a b", {0, 12}});
    CHECK(tree::mounts_text(mounts) == order.source_root.mounts);
    CHECK(!again->options.preserve.owner);
    CHECK(again->options.preserve.times);
    CHECK(again->options.recalls);
    CHECK(again->options.is_run);
    CHECK(again->settings == order.settings);
    CHECK(again->options.layout.kind == tree::LayoutKind::by_size);
    CHECK(again->options.layout.sizes.size() == 2);
    CHECK(again->options.layout.excluded_targets == order.options.layout.excluded_targets);
    CHECK(again->first_rate() == 2);
}

TEST_CASE("team_message: an order with a value or a field that is none is refused") {
    const auto message = tree::message_of(full_order());
    for (const auto& [name, value] : {std::pair{"verb", "9"},
                                      {"recorded", "17"},
                                      {"cannot-keep", "3"},
                                      {"threads", "three"},
                                      {"process", "02"},
                                      {"verify", "maybe"},
                                      {"preserve", "all"},
                                      {"layout", "64:1,"},
                                      {"exclude-targets", "elsewhere"},
                                      {"source time", "5"}}) {
        CAPTURE(name);
        auto other = message;
        const auto at = std::ranges::find(other.texts, name);
        REQUIRE(at != other.texts.end());
        *(at + 1) = value;
        CHECK(!tree::order_from(other));
    }
    auto other = message;
    other.texts.insert(other.texts.end(), {"greets", "yes"});  // a field of another version
    CHECK(!tree::order_from(other));
    other = message;
    other.texts.insert(other.texts.end(), {"verify", "yes"});  // twice
    CHECK(!tree::order_from(other));
    other = message;
    other.texts.pop_back();
    CHECK(!tree::order_from(other));
    other = message;
    other.numbers = {1};
    CHECK(!tree::order_from(other));
}

TEST_CASE("team_message: each option of a copy that workers are told comes back") {
    tree::TeamOrder order;
    tree::each_copy_option(order.options, [](const tree::CopyOption&, auto, auto& member) {
        if constexpr (std::is_same_v<decltype(member), bool&>) member = !member;
    });
    const auto again = tree::order_from(tree::message_of(order));
    REQUIRE(again);
    std::vector<std::string> lost;
    tree::each_copy_option(again->options, [&](const tree::CopyOption& option, auto, const auto& member) {
        if constexpr (std::is_same_v<decltype(member), const bool&>) {
            const bool is_default = member == (std::string_view(option.name) == "no-sync");
            if (is_default) lost.push_back(option.name);
        }
    });
    CHECK(lost == std::vector<std::string>{"allow-unlike", "allow-empty"});  // only the coordinator uses these
}
