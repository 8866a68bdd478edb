// Goal: a program without the token costs a forwarder no thread, no memory and no log line of its own. It holds a
// connection for a bounded time and keeps no client out.
// Method: a forwarder on the loopback, with hundreds of strangers that begin a greeting, send it byte by byte or too
// long, or return again and again, and clients beside them. The test counts connections, threads and log lines.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/sys/clock.hpp"
#include "support/forwarder.hpp"
#include "support/sim_store.hpp"
#include "support/soon.hpp"

using namespace forebay;
using namespace forebay::forward;
using namespace std::chrono_literals;
using test::timeout;

namespace {

const std::string& run = test::forwarded_run;
// Both ends together stay below 1,024 descriptors, the default limit of a process.
constexpr std::size_t strangers = 300;

class Log {
public:
    void operator()(const std::string& line) {
        const std::lock_guard lock(mutex_);
        lines_.push_back(line);
    }
    /// Returns the log lines about strangers, and the strangers they stand for: "..., and 312 more" is 313.
    std::pair<std::size_t, std::size_t> refused() {
        const std::lock_guard lock(mutex_);
        std::size_t lines = 0, all = 0;
        for (const auto& line : lines_) {
            if (line.find("was not admitted") == std::string::npos) continue;
            ++lines;
            ++all;
            std::size_t more = 0;
            if (const auto at = line.rfind(", and "); at != std::string::npos)
                std::from_chars(line.data() + at + 6, line.data() + line.size(), more);
            all += more;
        }
        return {lines, all};
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

struct Place {
    // By default no stranger is late, even on a slow machine.
    explicit Place(std::chrono::milliseconds greeting_max = 1h)
        : server(test::serve(disk,
                             {.log = [this](const std::string& line) { log(line); }, .greeting_max = greeting_max})) {}
    std::string address() const { return test::loopback(server.port()); }
    sys::Connection connection() const { return sys::Connection::open(address(), timeout).value(); }
    std::unique_ptr<ForwardedStore> store() const { return ForwardedStore::make(test::client_of({address()})).value(); }

    test::SimStore disk;
    Log log;
    Server server;
};

HeaderBytes hello_header(std::uint32_t body_bytes) {
    return encode(FrameHeader{.kind = FrameKind::hello, .body_bytes = body_bytes, .body_crc = 0});
}

// A stranger that has begun its greeting.
sys::Connection stranger_at(const Place& place) {
    auto connection = place.connection();
    static_cast<void>(connection.send(hello_header(limits::path_bytes_max), timeout));
    return connection;
}

std::size_t threads_of_this_process() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

// Sends one more byte, as a stranger that wants to stay. Returns true if it was sent away.
bool sent_away(sys::Connection& connection) {
    const std::byte byte{};
    static_cast<void>(connection.send({&byte, 1}, timeout));
    return connection.other_has_left();
}

}  // namespace

TEST_CASE("strangers that hang on the port cost no threads, and a client gets in at once") {
    const auto begin = sys::Clock::now();
    Place place;
    const auto threads = threads_of_this_process();
    std::vector<sys::Connection> hanging;
    for (std::size_t i = 0; i < strangers; ++i) hanging.push_back(stranger_at(place));
    const auto gone = [&] {
        return static_cast<std::size_t>(
            std::ranges::count_if(hanging, [](const auto& connection) { return connection.other_has_left(); }));
    };
    // The oldest go when new strangers come.
    CHECK(test::soon([&] { return gone() == strangers - limits::strangers_max; }));
    CHECK(hanging.front().other_has_left());
    CHECK_FALSE(hanging.back().other_has_left());
    CHECK(threads_of_this_process() == threads);
    const auto store = place.store();
    store->make_directories(run + "/restart").value();
    CHECK(store->exists(run + "/restart").value());
    CHECK(place.server.stop(60s));
    const std::chrono::duration<double> lasted = sys::Clock::now() - begin;
    const auto [lines, refused] = place.log.refused();
    CHECK(refused == strangers - limits::strangers_max);  // the client's connection does not count
    CHECK(static_cast<double>(lines) <= lasted.count() + 2);
}

TEST_CASE("who greets byte by byte is sent away when the time for the whole greeting is over") {
    Place place(300ms);
    const auto dribble_until_sent_away = [](sys::Connection& connection) {
        return test::soon(
            [&] {
                std::this_thread::sleep_for(10ms);
                return sent_away(connection);
            },
            20s);
    };
    auto connection = stranger_at(place);
    CHECK(dribble_until_sent_away(connection));
    // The first message does not extend the time for the second.
    auto half = test::known_at(place.server).first;
    half.send(encode(FrameHeader{.kind = FrameKind::proof, .body_bytes = limits::path_bytes_max, .body_crc = 0}),
              timeout)
        .value();
    CHECK(dribble_until_sent_away(half));
}

TEST_CASE("a greeting longer than a path needs, and words of somebody else, are refused before more is read") {
    Place place;
    auto longer = place.connection();
    longer.send(hello_header(limits::greeting_bytes_max + 1), timeout).value();
    CHECK(test::soon([&] { return longer.other_has_left(); }));
    auto web = place.connection();
    web.send(bytes_of("GET / HTTP/1.1\r\nHost: forwarder\r\n\r\n"), timeout).value();
    CHECK(test::soon([&] { return web.other_has_left(); }));
    // A client with another token gets the reason, and no proof to study.
    auto other = place.connection();
    send(other, FrameKind::hello, encode(Request{.file = 7, .offset = 5, .number = 1, .path = run}), timeout).value();
    const auto refusal = receive(other, limits::answer_bytes_max, timeout, timeout).value();
    REQUIRE(refusal.kind == FrameKind::answer);
    const auto answer = decode_answer(refusal.body).value();
    REQUIRE(answer.error);
    CHECK(answer.error->kind == ErrorKind::refused);
    CHECK(answer.error->text().find("token of this forwarder") != std::string::npos);
    CHECK(answer.word == 0);
    CHECK(test::soon([&] { return other.other_has_left(); }));
}

TEST_CASE("a client in the middle of its greeting does not go for strangers, however many come") {
    Place place;
    auto [connection, greeting] = test::known_at(place.server);
    std::vector<sys::Connection> hanging;
    for (std::size_t i = 0; i < strangers; ++i) hanging.push_back(stranger_at(place));
    CHECK(test::soon([&] { return hanging[strangers - limits::strangers_max - 1].other_has_left(); }));
    const auto word = word_of_client(key_of(test::forwarder_token).value(), greeting);
    send(connection, FrameKind::proof, encode(Request{.number = word, .path = "by hand"}), timeout).value();
    auto answer = receive(connection, limits::answer_bytes_max, timeout, timeout).value();
    while (answer.kind == FrameKind::beat)
        answer = receive(connection, limits::answer_bytes_max, timeout, timeout).value();
    CHECK_FALSE(decode_answer(answer.body).value().error);
}

TEST_CASE("clients get in while strangers come again and again") {
    Place place;
    std::atomic<bool> ending{false};
    std::jthread flood([&] {
        std::deque<sys::Connection> open;
        // Each connection blocks a port of this host for a minute, so the number is limited.
        for (int i = 0; i < 1'500 && !ending; ++i) {
            auto connection = sys::Connection::open(place.address(), timeout);
            if (!connection) continue;
            static_cast<void>(connection->send(hello_header(limits::path_bytes_max), timeout));
            open.push_back(std::move(*connection));
            if (open.size() > strangers) open.pop_front();
        }
    });
    for (int i = 0; i < 20; ++i) {
        const auto there = place.store()->exists(run);
        CHECK_MESSAGE(there.has_value(), there.error().text());
    }
    ending = true;
}
