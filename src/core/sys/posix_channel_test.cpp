// Goal: any number of bytes goes to a program and comes back whole. Its end, exit code and last words are reported. A
//       bell wakes a waiting thread; nothing blocks.
// Method: cat, sh and a missing program.

#include <doctest/doctest.h>

#include <thread>

#include "core/base/bytes.hpp"
#include "core/sys/channel.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

/// Sends and takes until `enough` bytes have come or the program has ended.
Result<> exchange(sys::Channel& channel, std::vector<std::byte>& come, std::size_t enough) {
    auto bell = sys::Bell::make().value();
    sys::Channel* const channels[]{&channel};
    const auto end = sys::Clock::now() + 60s;
    while (come.size() < enough && sys::Clock::now() < end) {
        if (const auto sent = channel.flush(); !sent) return sent;
        if (const auto taken = channel.take(come); !taken) return taken;
        if (come.size() < enough) sys::wait_for(channels, bell, sys::Clock::now() + 100ms);
    }
    return {};
}

}  // namespace

TEST_CASE("channel: more bytes than any pipe holds come back") {
    auto channel = sys::Channel::start({.program = "cat"}).value();
    std::vector<std::byte> sent(5u << 20);
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 >> 3);
    channel.put(sent);
    CHECK(channel.has_to_send());
    std::vector<std::byte> come;
    REQUIRE(exchange(channel, come, sent.size()));
    CHECK(come == sent);
    CHECK(!channel.has_to_send());
    channel.let_end(10s);
}

TEST_CASE("channel: the end of a program is told with its words") {
    auto channel =
        sys::Channel::start({.program = "sh", .arguments = {"-c", "echo out; echo why >&2; exit 3"}}).value();
    std::vector<std::byte> come;
    const auto ended = exchange(channel, come, 100);
    REQUIRE(!ended);
    CHECK(ended.error().kind == ErrorKind::broken);
    CHECK(ended.error().what == "sh ended with exit code 3");
    CHECK(text_of(come) == "out\n");
    CHECK(channel.last_words() == "why\n");
    channel.put(come);
    CHECK(!channel.flush());  // and no signal comes
}

TEST_CASE("channel: a program that is not there is missing") {
    const auto started = sys::Channel::start({.program = "/no/such/program"});
    REQUIRE(!started);
    CHECK(started.error().kind == ErrorKind::missing);
}

TEST_CASE("channel: a bell wakes") {
    auto bell = sys::Bell::make().value();
    const auto begin = sys::Clock::now();
    std::thread ringer([&] {
        std::this_thread::sleep_for(20ms);
        bell.ring();
    });
    sys::wait_for({}, bell, begin + 900ms);
    CHECK(sys::Clock::now() - begin < 800ms);
    ringer.join();
}
