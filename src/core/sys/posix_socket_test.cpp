// Goal: bytes arrive in their order, every wait ends, a side that is gone is noticed, and addresses are correct.
// Method: both sides in this process, over the loopback; a side that does not read, a side that says nothing, a side
//         that leaves.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/socket.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;
using namespace std::chrono_literals;

namespace {

struct Pair {
    Listener listener = Listener::open("127.0.0.1:0").value();
    Connection here = Connection::open(with_port("127.0.0.1", listener.port()), 5s).value();
    Connection there = std::move(listener.accept().value().value());
};

}  // namespace

TEST_CASE("bytes arrive in their order, however they were cut") {
    Pair pair;
    std::vector<std::byte> sent(10u << 20), got(sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 31 + i / 65'536);
    std::jthread sender([&] {
        for (std::size_t at = 0; at < sent.size(); at += 300'000)
            pair.here.send(std::span(sent).subspan(at, std::min<std::size_t>(300'000, sent.size() - at)), 5s).value();
    });
    pair.there.receive(std::span(got).first(7), 5s).value();
    pair.there.receive(std::span(got).subspan(7), 5s).value();
    CHECK(got == sent);
    CHECK(pair.here.peer() == with_port("127.0.0.1", pair.listener.port()));
}

TEST_CASE("who takes nothing and who says nothing are told in time") {
    Pair pair;
    const auto begin = Clock::now();
    const std::vector<std::byte> much(64u << 20);
    const auto sent = pair.here.send(much, 200ms);
    REQUIRE_FALSE(sent);
    CHECK(sent.error().kind == ErrorKind::retry);
    CHECK(sent.error().text().find("accepted nothing for 200 ms") != std::string::npos);
    std::byte byte{};
    const auto got = pair.here.receive({&byte, 1}, 200ms);
    REQUIRE_FALSE(got);
    CHECK(got.error().kind == ErrorKind::retry);
    CHECK(got.error().text().find("was silent for 200 ms") != std::string::npos);
    CHECK(Clock::now() - begin < 5s);
}

TEST_CASE("a side that has left is noticed, and what it sent before is there") {
    Pair pair;
    CHECK_FALSE(pair.there.other_has_left());
    const std::vector<std::byte> some(100, std::byte{3});
    pair.here.send(some, 5s).value();
    pair.here = {};
    std::vector<std::byte> got(60);
    pair.there.receive(got, 5s).value();
    CHECK(pair.there.other_has_left());
    const auto half = pair.there.receive(got, 5s);
    REQUIRE_FALSE(half);
    CHECK(half.error().kind == ErrorKind::retry);  // in the middle of the bytes
    CHECK(pair.there.receive(got, 5s).error().kind == ErrorKind::missing);
}

TEST_CASE("one thread waits for several: for what has come, for who has left and for who comes") {
    Pair first, other;
    const std::array<const Connection*, 2> both{&first.there, &other.there};
    std::vector<std::byte> got(60);
    CHECK(first.there.receive_some(got).value() == 0);
    CHECK_FALSE(first.listener.accept(0ms).value().has_value());
    auto ready = wait_for_any(first.listener, both, 0ms).value();
    CHECK_FALSE(ready.listener);
    CHECK(ready.connections.empty());
    other.here.send(std::vector<std::byte>(7), 5s).value();
    ready = wait_for_any(first.listener, both, timeout_endless).value();
    CHECK_FALSE(ready.listener);
    CHECK(ready.connections == std::vector<std::size_t>{1});
    CHECK(other.there.receive_some(got).value() == 7);
    first.here = {};
    CHECK(wait_for_any(first.listener, both, timeout_endless).value().connections == std::vector<std::size_t>{0});
    CHECK(first.there.receive_some(got).error().kind == ErrorKind::missing);
    const auto next = Connection::open(with_port("127.0.0.1", other.listener.port()), 5s).value();
    CHECK(wait_for_any(other.listener, {}, timeout_endless).value().listener);
    CHECK(other.listener.accept(0ms).value().has_value());
    other.listener.shut();
    CHECK(wait_for_any(other.listener, {}, timeout_endless).value().listener);
    CHECK_FALSE(other.listener.accept(timeout_endless).value().has_value());
}

TEST_CASE("a listener whose callers speak first is not told of those who say nothing") {
    auto listener = Listener::open("127.0.0.1:0").value();
    listener.keep_silent_ones_back(20s);
    const auto address = with_port("127.0.0.1", listener.port());
    const auto silent = Connection::open(address, 5s).value();
    auto speaks = Connection::open(address, 5s).value();
    speaks.send(std::vector<std::byte>(7, std::byte{1}), 5s).value();
    auto there = std::move(listener.accept(5s).value().value());
    std::vector<std::byte> got(60);
    CHECK(there.receive_some(got).value() == 7);
}

TEST_CASE("shut() ends the waits of other threads") {
    Pair pair;
    std::jthread waiting([&] {
        std::byte byte{};
        CHECK_FALSE(pair.there.receive({&byte, 1}, timeout_endless));
    });
    std::jthread listening([&] { CHECK_FALSE(pair.listener.accept().value().has_value()); });
    std::this_thread::sleep_for(50ms);
    pair.there.shut(true);
    pair.listener.shut();
    waiting.join();
    listening.join();
    pair.there.send(std::vector<std::byte>(1), 5s).value();  // the other direction is still open
}

TEST_CASE("nobody there, and texts that are no addresses") {
    std::uint16_t port = 0;
    {
        const auto listener = Listener::open("127.0.0.1:0").value();
        port = listener.port();
        CHECK(Listener::open(with_port("127.0.0.1", port)).error().text().find("in use") != std::string::npos);
    }
    const auto gone = Connection::open(with_port("127.0.0.1", port), 5s);
    REQUIRE_FALSE(gone);
    CHECK(gone.error().kind == ErrorKind::retry);
    CHECK(gone.error().text().find("Connection refused") != std::string::npos);
    for (const char* none : {"", "host", "host:", ":4711", "host:port", "host:70000", "host:-1", "::1:4711", "[::1]"}) {
        CAPTURE(none);
        CHECK(Connection::open(none, 1s).error().kind == ErrorKind::refused);
    }
    CHECK(with_port("::1", 7) == "[::1]:7");
    CHECK(Listener::open(":0").value().port() != 0);
}

TEST_CASE("the addresses of this host") {
    const auto all = own_addresses("").value();
    REQUIRE_FALSE(all.empty());
    for (const auto& address : all) {
        CHECK(own_addresses(address).value() == std::vector{address});
        const auto listener = Listener::open(":0").value();
        CHECK_MESSAGE(Connection::open(with_port(address, listener.port()), 5s).has_value(), address);
    }
    const auto loopback = own_addresses("lo").value();
    CHECK(std::ranges::count(loopback, "127.0.0.1") == 1);
    if (all != loopback) CHECK(std::ranges::count(all, "127.0.0.1") == 0);
    CHECK(own_addresses("no-such-interface").error().kind == ErrorKind::missing);
}

TEST_CASE("processes of one machine connect at a path of any length") {
    const test::TempDirectory folder;
    const auto deep = folder / std::string(150, 'd');
    std::filesystem::create_directory(deep);
    const auto path = deep + "/name";
    CHECK(Connection::open_local(path).error().kind == ErrorKind::missing);
    {
        auto listener = Listener::open_local(path).value();
        CHECK(Listener::open_local(path).error().kind == ErrorKind::retry);
        auto probe = listener.accept(1s).value();  // of the listener that was refused
        CHECK(probe.has_value());
        auto here = Connection::open_local(path).value();
        auto there = std::move(listener.accept(1s).value().value());
        const std::byte sent{7};
        here.send(std::span(&sent, 1), 1s).value();
        std::byte got{};
        there.receive(std::span(&got, 1), 1s).value();
        CHECK(got == sent);
    }
    CHECK(Connection::open_local(path).error().kind == ErrorKind::retry);
    CHECK(Listener::open_local(path));
}
