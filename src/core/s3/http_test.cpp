// Goal: no server makes an exchange hang: a silent server, a missing server, a server that stops in the middle.
// Method: sockets that listen and answer only as much as each case needs.

#include "core/s3/http.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

using namespace forebay;
using namespace forebay::s3;

namespace {

class Listener {
public:
    explicit Listener(std::string answer) : socket_(::socket(AF_INET, SOCK_STREAM, 0)), answer_(std::move(answer)) {
        sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
        socklen_t size = sizeof(address);
        REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
        REQUIRE(::listen(socket_, 4) == 0);
        REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] {
            connection_ = ::accept(socket_, nullptr, nullptr);
            if (connection_ >= 0) CHECK(::send(connection_, answer_.data(), answer_.size(), MSG_NOSIGNAL) >= 0);
        });
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() {
        ::shutdown(socket_, SHUT_RDWR);
        thread_.join();
        if (connection_ >= 0) ::close(connection_);
        ::close(socket_);
    }

    HttpRequest request() const {
        return {.method = "GET",
                .url = "http://127.0.0.1:" + std::to_string(port_) + "/",
                .headers = {},
                .body = {},
                .take = {},
                .limits = {.connect_seconds = 1, .silent_seconds = 1}};
    }

private:
    int socket_, connection_ = -1;
    std::uint16_t port_ = 0;
    std::string answer_;
    std::thread thread_;
};

}  // namespace

TEST_CASE("s3: a server that says nothing, or stops in the middle, is given up") {
    for (const char* answer : {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1234"}) {
        CAPTURE(answer);
        const Listener listener(answer);
        const auto exchanged = Http("").exchange(listener.request());
        REQUIRE_FALSE(exchanged);
        CHECK(exchanged.error().kind == ErrorKind::retry);
    }
}

TEST_CASE("s3: what a good answer brings goes to its taker, and errors of that end the exchange") {
    const Listener listener("HTTP/1.1 206 Partial\r\nX-Some:  value \r\nContent-Length: 4\r\n\r\n1234");
    auto request = listener.request();
    std::string body;
    request.take = [&](std::uint64_t offset, std::span<const std::byte> bytes) -> Result<> {
        body.resize(offset);
        body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
    };
    const auto answer = Http("").exchange(request).value();
    CHECK(answer.status == 206);
    CHECK(answer.header("x-some") == "value");
    CHECK(body == "1234");
    CHECK(answer.body.empty());

    const Listener other("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n1234");
    request = other.request();
    request.take = [](std::uint64_t, std::span<const std::byte>) { return Error{ErrorKind::full, "no room"}; };
    CHECK(Http("").exchange(request).value().taken.error().kind == ErrorKind::full);
}

TEST_CASE("s3: no server, and no address of one") {
    auto request = HttpRequest{
        .method = "GET", .url = "http://127.0.0.1:1/", .headers = {}, .body = {}, .take = {}, .limits = {1, 1}};
    CHECK(Http("").exchange(request).error().kind == ErrorKind::retry);
    request.url = "file:///etc/passwd";
    CHECK_FALSE(Http("").exchange(request));
}

TEST_CASE("s3: what answers https in other words speaks no TLS") {
    const Listener server("HTTP/1.1 400 Bad Request\r\n\r\n"), other("HTTP/1.1 400 Bad Request\r\n\r\n");
    auto request = server.request();
    request.url.insert(4, "s");
    const auto answer = Http("").exchange(request);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == ErrorKind::unsupported);
    const auto url = other.request().url;
    CHECK_FALSE(Http("").speaks_tls(url.substr(7, url.size() - 8)));
}
