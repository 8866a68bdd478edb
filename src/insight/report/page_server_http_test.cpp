// Goal: the page answers only requests with its token and a name of this machine. Its answers carry the headers that
// browsers need to keep other sites out. Viewers get the newest state; their number is limited. The server stops at
// once.
//
// Method: a server of made answers on a free port, and a client of the same library.

#include <doctest/doctest.h>
#include <httplib.h>

#include <atomic>
#include <thread>

#include "core/sys/clock.hpp"
#include "core/sys/socket.hpp"
#include "insight/report/page_guard.hpp"
#include "insight/report/page_server.hpp"

using namespace forebay;
using namespace forebay::report;

namespace {

const std::string token = "0123456789abcdef0123456789abcdef";
constexpr const char* page = "<script nonce=\"NONCE\">1</script><style nonce=\"NONCE\"></style>";

struct Served {
    explicit Served(std::chrono::milliseconds heartbeat = std::chrono::milliseconds(15'000))
        : server(
              PageServer::open({.token = token, .other_hosts = {"nid1"}, .heartbeat = heartbeat}, page, paths(), feed)
                  .value()),
          thread([this] { served = static_cast<bool>(server.serve()); }) {}
    ~Served() {
        feed.close();
        server.stop();
        thread.join();
        CHECK(served);
    }

    static PagePaths paths() {
        return {{"/echo",
                 [](const PageQuery& query) {
                     std::string text;
                     for (const auto& [name, value] : query) text += name + "=" + value + ";";
                     return PageAnswer{200, "text/plain", text};
                 }},
                {"/wrong",
                 [](const PageQuery&) {
                     return answer_of({ErrorKind::corrupt, "torn \"x\"", "a", "b"});
                 }},
                {"/throws", [](const PageQuery&) -> PageAnswer { throw std::bad_alloc(); }}};
    }

    httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
        httplib::Client client("127.0.0.1", server.port());
        return client.Get(path, headers);
    }
    httplib::Result ask(const std::string& path) const { return get(path, {{"Authorization", "Bearer " + token}}); }

    PageFeed feed;
    PageServer server;
    std::atomic<bool> served{false};
    std::thread thread;
};

/// Reads the event stream until `enough` accepts the text so far.
std::string events(const Served& served, const std::function<bool(const std::string&)>& enough) {
    httplib::Client client("127.0.0.1", served.server.port());
    client.set_read_timeout(20);
    std::string text;
    client.Get("/events?token=" + token, [&](const char* data, std::size_t count) {
        text.append(data, count);
        return !enough(text);
    });
    return text;
}

}  // namespace

TEST_CASE("server: every path wants the token") {
    const Served served;
    for (const auto* path : {"/", "/echo", "/events", "/nothing"}) {
        CAPTURE(path);
        CHECK(served.get(path)->status == 403);
        CHECK(served.get(path + std::string("?token=")).value().status == 403);
        CHECK(served.get(path + std::string("?token=") + token.substr(1) + "0").value().status == 403);
        CHECK(served.get(path + std::string("?token=") + token + "0").value().status == 403);
        CHECK(served.get(path, {{"Authorization", "Bearer x"}})->status == 403);
        CHECK(served.get(path)->body.find("nid1") == std::string::npos);
    }
    CHECK(served.get("/echo?token=" + token)->status == 200);
    CHECK(served.ask("/echo")->status == 200);
    CHECK(served.ask("/nothing")->status == 404);
}

TEST_CASE("server: a request whose Host is another's is refused, with the token too") {
    const Served served;
    const auto status = [&](const std::string& host) {
        return served.get("/echo?token=" + token, {{"Host", host}})->status;
    };
    CHECK(status("127.0.0.1:1") == 200);
    CHECK(status("localhost") == 200);
    CHECK(status("LocalHost:8080") == 200);
    CHECK(status("[::1]:80") == 200);
    CHECK(status("nid1:80") == 200);
    for (const auto* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil:1", "127.0.0.1:x", "nid2", ""}) {
        CAPTURE(host);
        CHECK(status(host) == 403);
    }
}

TEST_CASE("server: only GET, and no body is read") {
    const Served served;
    httplib::Client client("127.0.0.1", served.server.port());
    const httplib::Headers with{{"Authorization", "Bearer " + token}};
    CHECK(client.Post("/echo", with, "x", "text/plain")->status == 405);
    CHECK(client.Put("/echo", with, "x", "text/plain")->status == 405);
    CHECK(client.Delete("/echo", with)->status == 405);
    CHECK(client.Head("/echo", with)->status == 405);
}

TEST_CASE("server: a stranger's request has an end, in bytes and requests that wait") {
    const Served served;
    const auto address = sys::with_port("127.0.0.1", static_cast<std::uint16_t>(served.server.port()));
    const auto sends = [](sys::Connection& connection, const std::string& text) {
        return static_cast<bool>(connection.send(std::as_bytes(std::span(text)), std::chrono::seconds(1)));
    };
    auto endless = sys::Connection::open(address, std::chrono::seconds(5)).value();
    REQUIRE(sends(endless, "GET / HTTP/1.1\r\nHost: localhost\r\n"));
    const std::string header = "X-A: " + std::string(4000, 'a') + "\r\n";
    std::size_t sent = 0;
    while (sent < (64u << 20) && sends(endless, header)) sent += header.size();
    CHECK(sent < (32u << 20));  // the kernel's buffers hold this much
    // Connections beyond threads and places are closed or wait. A closed connection makes room again.
    {
        std::vector<sys::Connection> silent;
        for (int i = 0; i < 200; ++i) silent.push_back(sys::Connection::open(address, std::chrono::seconds(5)).value());
    }
    int status = 0;
    while (status != 200)
        if (const auto answer = served.ask("/echo")) status = answer->status;
}

TEST_CASE("server: strangers that say nothing, a little, or have no token keep nobody out") {
    const std::string whole = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (const auto& request : {std::string(), std::string("GET /echo HTTP/1.1\r\nX: "), whole}) {
        CAPTURE(request);
        const Served served;
        const auto address = sys::with_port("127.0.0.1", static_cast<std::uint16_t>(served.server.port()));
        std::vector<sys::Connection> strangers;
        for (int i = 0; i < 300; ++i) {
            strangers.push_back(sys::Connection::open(address, std::chrono::seconds(5)).value());
            static_cast<void>(strangers.back().send(std::as_bytes(std::span(request)), std::chrono::seconds(5)));
            if (i % 60 != 59) continue;
            for (auto& stranger : strangers)  // the open connections send more
                if (request != whole)
                    static_cast<void>(stranger.send(std::as_bytes(std::span("y", 1)), std::chrono::seconds(5)));
            const auto answer = served.ask("/echo?a=1");
            REQUIRE(answer);
            CHECK(answer->status == 200);
        }
    }
}

TEST_CASE("server: a refused connection sends no further request, and keeps no thread") {
    const Served served;
    const auto address = sys::with_port("127.0.0.1", static_cast<std::uint16_t>(served.server.port()));
    const std::string token_and_end = "Authorization: Bearer " + token + "\r\n\r\n";
    for (const std::string& first : {std::string("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                                     std::string("GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                                     "GET /echo HTTP/1.1\r\nHost: evil.example\r\n" + token_and_end}) {
        CAPTURE(first);
        // The second request has the token and arrives with the first.
        const auto requests = first + "GET /echo?a=7 HTTP/1.1\r\nHost: localhost\r\n" + token_and_end;
        auto stranger = sys::Connection::open(address, std::chrono::seconds(5)).value();
        REQUIRE(stranger.send(std::as_bytes(std::span(requests)), std::chrono::seconds(5)));
        std::string answers;
        for (std::byte next{}; stranger.receive(std::span(&next, 1), std::chrono::seconds(20));)
            answers += static_cast<char>(next);
        CHECK(answers.starts_with("HTTP/1.1 403"));
        CHECK(answers.find("HTTP/1.1 200") == std::string::npos);
    }
}

TEST_CASE("server: the page has a nonce of its own each time, and headers that keep others out") {
    const Served served;
    const auto first = served.ask("/"), two = served.ask("/");
    CHECK(first->body != two->body);
    CHECK(first->body.find("NONCE") == std::string::npos);
    const auto policy = first->get_header_value("Content-Security-Policy");
    const auto nonce = first->body.substr(first->body.find('"') + 1, 32);
    CHECK(policy.find("script-src 'nonce-" + nonce + "'") != std::string::npos);
    CHECK(policy.find("default-src 'none'") != std::string::npos);
    CHECK(policy.find("unsafe") == std::string::npos);
    for (const auto& [name, value] : {std::pair{"Cache-Control", "no-store"},
                                      {"Referrer-Policy", "no-referrer"},
                                      {"X-Content-Type-Options", "nosniff"}}) {
        CHECK(first->get_header_value(name) == value);
        CHECK(served.get("/")->get_header_value(name) == value);
    }
    CHECK(served.get("/")->body.find("sessionStorage") != std::string::npos);
}

TEST_CASE("server: parameters come decoded, without the token; errors come with their parts") {
    const Served served;
    CHECK(served.get("/echo?a=1%202&b=%2F&a=3&token=" + token)->body == "a=1 2;b=/;");
    const auto wrong = served.ask("/wrong");
    CHECK(wrong->status == 422);
    CHECK(wrong->body == R"({"error":{"kind":"corrupt","what":"torn \"x\"","safe":"a","next":"b"}})");
    CHECK(served.ask("/throws")->status == 503);
}

TEST_CASE("server: a viewer gets the state that is there, then what is new, and is told that nothing is") {
    Served served(std::chrono::milliseconds(50));
    served.feed.put("{\"a\":1}");
    const auto text = events(served, [&](const std::string& so_far) {
        if (so_far.find("\"a\":1") != std::string::npos) served.feed.put("{\"a\":2}");
        return so_far.find("\"a\":2") != std::string::npos && so_far.find(": heartbeat\n\n") != std::string::npos;
    });
    CHECK(text.starts_with("event: clock\ndata: "));
    CHECK(text.find("\n\nid: 1\nevent: state\ndata: {\"a\":1}\n\n") != std::string::npos);
    CHECK(text.find("id: 2\nevent: state\ndata: {\"a\":2}\n\n") != std::string::npos);
}

TEST_CASE("server: a viewer who comes late to a state that is old gets the time of now before it") {
    Served served(std::chrono::milliseconds(50));
    served.feed.put("{\"told\":1}");
    const auto clock_of = [](const std::string& text) {
        constexpr std::string_view head = "event: clock\ndata: ";
        REQUIRE(text.starts_with(head));
        return std::stod(text.substr(head.size()));
    };
    const auto look = [&] {
        return events(served, [](const std::string& so_far) { return so_far.find("told") != std::string::npos; });
    };
    const auto now = [] { return static_cast<double>(sys::unix_ns()) * 1e-9; };
    const double before = now();
    const double first = clock_of(look());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double between = now();
    const double second = clock_of(look());
    CHECK(first >= before - 0.001);
    CHECK(first <= between + 0.001);
    CHECK(second >= between - 0.001);
    CHECK(second <= now() + 0.001);
    // A viewer that stays gets the time too, with each heartbeat.
    const auto text = events(served, [](const std::string& so_far) {
        return so_far.find(": heartbeat\n\nevent: clock\ndata: ") != std::string::npos && so_far.ends_with("\n\n");
    });
    CHECK(text.find("event: clock") != text.rfind("event: clock"));
}

TEST_CASE("server: one viewer too many is told so, and gets in when another has gone") {
    Served served(std::chrono::milliseconds(20));
    std::atomic<bool> leave{false};
    std::atomic<int> inside{0};
    std::vector<std::thread> viewers;
    for (int i = 0; i < viewers_max; ++i)
        viewers.emplace_back([&] {
            bool counted = false;
            events(served, [&](const std::string&) {
                if (!counted) ++inside;
                counted = true;
                return leave.load();
            });
        });
    while (inside < viewers_max) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto refused = served.ask("/events");
    CHECK(refused->status == 503);
    CHECK(refused->body.find("20 viewers") != std::string::npos);
    CHECK(served.ask("/echo")->status == 200);  // refused viewers hold no thread
    leave = true;
    for (auto& viewer : viewers) viewer.join();
    std::string text;
    while (text.find("heartbeat") == std::string::npos)
        text = events(served, [](const std::string& so_far) { return so_far.find("heartbeat") != std::string::npos; });
}

TEST_CASE("server: a port that is taken is refused") {
    const Served served;
    PageFeed feed;
    const auto other = PageServer::open({.port = served.server.port(), .token = token}, page, {}, feed);
    REQUIRE(!other);
    CHECK(other.error().kind == ErrorKind::refused);
    CHECK(!PageServer::open({.host = "203.0.113.7", .token = token}, page, {}, feed));
}

TEST_CASE("server: a stop that comes before it serves is obeyed") {
    PageFeed feed;
    auto server = PageServer::open({.token = token}, page, {}, feed).value();
    server.stop();
    CHECK(server.serve());
}

TEST_CASE("guard: tokens and addresses") {
    CHECK(new_token().size() == 32);
    CHECK(new_token() != new_token());
    CHECK(is_same_token("abc", "abc"));
    CHECK(!is_same_token("abc", "abd"));
    CHECK(!is_same_token("abc", "ab"));
    CHECK(!is_same_token("", ""));
    CHECK(is_loopback("127.0.0.1"));
    CHECK(!is_loopback("0.0.0.0"));
    CHECK(!is_loopback(""));
}
