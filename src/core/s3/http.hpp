// One HTTP exchange over libcurl. Connections stay open and are used again.
//
// Threads: any, concurrently; each exchange has its own connection.
// Errors:  `retry`: no connection, no answer, or a timeout. `refused`: the server's certificate is not trusted.
//          `unsupported`: the request used https, and the answer is not TLS. An HTTP error status is not an error here.

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
    /// An exchange ends after so many seconds without a byte. Its total time has no limit.
    long silent_seconds = 60;
};

struct HttpRequest {
    std::string method;
    std::string url;
    Pairs headers;
    std::span<const std::byte> body;
    /// Gets the body of a 2xx answer, piece by piece with offsets. Other bodies go to HttpAnswer.
    std::function<Result<>(std::uint64_t offset, std::span<const std::byte>)> take;
    HttpLimits limits;
};

struct HttpAnswer {
    long status = 0;
    Pairs headers;  // names in lower case
    std::string body;
    Result<> taken;  // the result of `take`: an error ended the exchange

    /// Returns "" if there is no such header.
    const std::string& header(std::string_view name) const;
    bool is_good() const { return status >= 200 && status < 300; }
};

class Http {
public:
    explicit Http(std::string ca_bundle);
    ~Http();

    Result<HttpAnswer> exchange(const HttpRequest& request);
    /// Returns true if "host:port" speaks TLS, with any certificate. Sends no request.
    bool speaks_tls(const std::string& host) const;

private:
    struct Connection;
    std::unique_ptr<Connection> take();

    const std::string ca_bundle_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace forebay::s3
