// Goal: a lost, stopped or hanging forwarder is distinguished from a working one in bounded time. The next forwarder
// replaces it, and an unanswered request is an error that may be tried again.
// Method: forwarders over one simulated disk that end, never answer, or have a slow disk; waits of seconds.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "core/sys/clock.hpp"
#include "support/forwarder.hpp"
#include "support/free_address.hpp"
#include "support/sim_store.hpp"
#include "support/soon.hpp"

using namespace forebay;
using namespace forebay::forward;
using namespace std::chrono_literals;
using test::loopback, test::timeout;

namespace {

const std::string& run = test::forwarded_run;

Server serve_quickly(sys::Store& store, const std::string& listen = "127.0.0.1:0") {
    return test::serve(store, {.beat_pause = 50ms}, listen);
}

std::unique_ptr<ForwardedStore> store_at(std::vector<std::string> to, std::chrono::milliseconds silence_max = 1s) {
    return ForwardedStore::make(test::client_of(std::move(to), silence_max)).value();
}

/// Admits every client, then answers nothing.
class Mute {
public:
    Mute() : listener_(sys::Listener::open("127.0.0.1:0").value()), thread_([this] { listen(); }) {}
    ~Mute() { listener_.shut(); }
    std::string address() const { return loopback(listener_.port()); }

private:
    void listen() {
        while (true) {
            auto taken = listener_.accept();
            if (!taken || !*taken) return;
            auto& connection = taken_.emplace_back(std::move(**taken));
            const auto hello = receive(connection, limits::request_bytes_max, timeout, timeout).value();
            const auto asked = decode_request(hello.body).value();
            const Greeting greeting{
                .client_nonce = asked.offset, .forwarder_nonce = 1, .client = asked.file, .run = asked.path};
            send(
                connection, FrameKind::go,
                encode(Answer{.number = 1, .word = word_of_forwarder(key_of(test::forwarder_token).value(), greeting)}),
                timeout)
                .value();
            static_cast<void>(receive(connection, limits::request_bytes_max, timeout, timeout));
            static_cast<void>(send(connection, FrameKind::answer, encode(Answer{}), timeout));
        }
    }
    sys::Listener listener_;
    std::vector<sys::Connection> taken_;
    std::jthread thread_;
};

}  // namespace

TEST_CASE("a disk that is slow is waited for: its forwarder says that it is at work") {
    test::SimStore disk;
    const auto server = serve_quickly(disk);
    const auto store = store_at({loopback(server.port())});
    auto file = store->open(run + "/a", sys::Access::create).value();
    disk.delay(test::Op::write, 0, 2500ms);
    file->write(0, std::vector<std::byte>(100)).value();
    disk.delay(test::Op::sync, 0, 2500ms);
    file->sync().value();
}

TEST_CASE("who has another way gives up a forwarder that is at one request for long, whatever it says") {
    test::SimStore disk;
    const auto server = serve_quickly(disk);
    auto options = test::client_of({loopback(server.port())}, 1s);
    options.work_max = 300ms;
    const auto store = ForwardedStore::make(options).value();
    auto file = store->open(run + "/a", sys::Access::create).value();
    disk.delay(test::Op::write, 0, 2500ms);
    const auto begin = sys::Clock::now();
    const auto wrote = file->write(0, std::vector<std::byte>(100));
    REQUIRE_FALSE(wrote);
    CHECK(wrote.error().kind == ErrorKind::retry);
    CHECK(wrote.error().text().find("has worked on one request") != std::string::npos);
    CHECK(sys::Clock::now() - begin < 2s);
}

TEST_CASE("a forwarder that does not greet is left before one that answers late") {
    const auto listener = sys::Listener::open("127.0.0.1:0").value();  // takes connections and reads nothing
    auto options = test::client_of({fmt::format("{0},{0},{0},{0},{0},{0}", loopback(listener.port()))}, 10s);
    options.greeting_max = 200ms;
    const auto begin = sys::Clock::now();
    CHECK_FALSE(ForwardedStore::make(options).value()->exists(run));
    CHECK(sys::Clock::now() - begin < 2s);
}

TEST_CASE("a forwarder that says nothing is given up in time, and the next one stands in") {
    test::SimStore disk;
    const auto server = serve_quickly(disk);
    const Mute mute;
    const auto begin = sys::Clock::now();
    {
        const auto alone = store_at({mute.address()});
        const auto silent = alone->exists(run);
        REQUIRE_FALSE(silent);
        CHECK(silent.error().kind == ErrorKind::retry);
        CHECK(silent.error().text().find("was silent for 1000 ms") != std::string::npos);
    }
    const auto store = store_at({mute.address(), loopback(server.port())});
    const auto first = store->make_directories(run + "/restart");
    REQUIRE_FALSE(first);  // it may have been carried out or not
    CHECK(first.error().kind == ErrorKind::retry);
    CHECK(first.error().text().find("the forwarder " + mute.address() + " is lost") != std::string::npos);
    store->make_directories(run + "/restart").value();
    CHECK(sys::Clock::now() - begin < limits::silence_max);  // two silences passed
}

TEST_CASE("a forwarder that is not there is passed over at once; when none is, the error names them all") {
    test::SimStore disk;
    auto gone = std::optional(serve_quickly(disk));
    const auto old = loopback(gone->port());
    gone.reset();
    const auto server = serve_quickly(disk);
    const auto store = store_at({old, loopback(server.port())});
    CHECK(store->exists(run).value());
    const auto nowhere = store_at({old, "127.0.0.1:1"})->exists(run);
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error().kind == ErrorKind::retry);
    CHECK(nowhere.error().text().find(old) != std::string::npos);
    CHECK(nowhere.error().text().find("127.0.0.1:1") != std::string::npos);
    // If a forwarder has several addresses, the client uses the one with an answer.
    CHECK(store_at({old + "," + loopback(server.port())})->exists(run).value());
    CHECK(store_at({"no address"})->exists(run).error().text().find("is not an address with host and port") !=
          std::string::npos);
}

TEST_CASE("a file ends with its forwarder; opened anew it is the next one's") {
    test::SimStore disk;
    auto first = std::optional(serve_quickly(disk));
    const auto second = serve_quickly(disk);
    const auto store = store_at({loopback(first->port()), loopback(second.port())});
    auto file = store->open(run + "/a.tmp", sys::Access::create).value();
    const std::vector<std::byte> bytes(10'000, std::byte{7});
    file->write(0, bytes).value();
    CHECK(first->stop(60s));
    for (int i = 0; i < 2; ++i) {
        const auto lost = file->write(0, bytes);
        REQUIRE_FALSE(lost);
        CHECK(lost.error().kind == ErrorKind::retry);
    }
    CHECK(file->sync().error().kind == ErrorKind::retry);
    auto again = store->open(run + "/b.tmp", sys::Access::create).value();
    again->write(0, bytes).value();
    // Both files are the first of their forwarders and have equal numbers. Requests for one must not reach the other.
    CHECK(file->write(0, std::vector<std::byte>(10'000, std::byte{8})).error().kind == ErrorKind::retry);
    CHECK(file->close().error().kind == ErrorKind::retry);
    again->close().value();
    CHECK(disk.peek(run + "/b.tmp") == std::string(10'000, '\7'));
    CHECK(second.clients() == 1);
}

TEST_CASE("a forwarder that was started again serves the same clients") {
    test::SimStore disk;
    const auto address = test::free_address();
    auto server = std::optional(serve_quickly(disk, address));
    const auto store = store_at({address});
    CHECK(store->exists(run).value());
    server.reset();
    CHECK(store->exists(run).error().kind == ErrorKind::retry);
    server.emplace(serve_quickly(disk, address));
    CHECK(store->exists(run).value());
    // Between two requests a restart causes no error: the client notices that its idle connections are closed.
    server.reset();
    server.emplace(serve_quickly(disk, address));
    CHECK(store->exists(run).value());
}

TEST_CASE("a forwarder that ends finishes what it has begun") {
    test::SimStore disk;
    auto server = serve_quickly(disk);
    const auto store = store_at({loopback(server.port())});
    auto file = store->open(run + "/a", sys::Access::create).value();
    disk.delay(test::Op::write, 0, 2s);
    std::atomic<bool> begun{false};
    std::jthread writer([&] {
        begun = true;
        CHECK(file->write(0, std::vector<std::byte>(10)));
    });
    CHECK(test::soon([&] { return begun && disk.calls(test::Op::write) == 1; }));
    CHECK_FALSE(server.stop(50ms));
    CHECK(server.stop(60s));
    writer.join();
    CHECK(disk.peek(run + "/a") == std::string(10, '\0'));
}
