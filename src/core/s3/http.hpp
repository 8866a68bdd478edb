// One exchange by HTTP, over libcurl. Connections are kept and used again.
//
// Threads: any, at once; each exchange has a connection of its own.
// Errors:  `retry`: no connection, no answer, or none within the time; `refused`: its certificate does not count;
//          `unsupported`: it was asked by https and answers in something else. Answers of HTTP are no errors here.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/s3/sign.hpp"
#include "forebay/result.hpp"

namespace forebay::s3 {

struct HttpLimits {
    long connect_seconds = 10;
    /// An exchange in which no byte moves for so long is ended; it may take as long as it likes otherwise.
    long silent_seconds = 60;
};

struct HttpRequest {
    std::string method;
    std::string url;
    Pairs headers;
    std::span<const std::byte> body;
    /// Gets the body of a good answer (2xx), from its offset on; else HttpAnswer has it.
    std::function<Result<>(std::uint64_t offset, std::span<const std::byte>)> take;
    HttpLimits limits;
};

struct HttpAnswer {
    long status = 0;
    Pairs headers;  // names in lower case
    std::string body;
    Result<> taken;  // what the request's taker said: its error has ended the exchange

    /// "" where there is none of this name.
    const std::string& header(std::string_view name) const;
    bool is_good() const { return status >= 200 && status < 300; }
};

class Http {
public:
    explicit Http(std::string ca_bundle);
    ~Http();

    Result<HttpAnswer> exchange(const HttpRequest& request);
    /// Whether "host:port" speaks TLS, by whatever certificate. Nothing is sent over it.
    bool speaks_tls(const std::string& host) const;

private:
    struct Connection;
    std::unique_ptr<Connection> take();

    const std::string ca_bundle_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace forebay::s3
