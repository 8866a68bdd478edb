// The server of the live page: HTTP on one address of this host, for who has the token. It knows paths and texts, and
// nothing of runs: what a path answers, its maker gives it.
//
// Every path wants the token: in the query as "token=", or as "Authorization: Bearer". Without it the answer is 403 and
// says nothing of the run. A request whose Host is none of this machine's names is refused too: a page of somebody else
// may have its own name lead here (DNS rebinding).
//
// Threads: answers are given by any of the server's threads, several at once. Viewers of the stream of events hold a
// thread each, as many as viewers_max; what a slow one has not taken is never kept for it.
//
// page_server_http.cpp, by cpp-httplib; a build without that library has no server.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "forebay/result.hpp"
#include "insight/report/page_answer.hpp"
#include "insight/report/page_feed.hpp"

namespace forebay::report {

struct PageServerOptions {
    std::string host = "127.0.0.1";
    int port = 0;       // 0: a free one
    std::string token;  // 32 hexadecimal digits
    std::vector<std::string> other_hosts =
        {};  // names of this machine that a request may have as its Host, in lower case
    std::chrono::milliseconds heartbeat{15'000};
};

inline constexpr int viewers_max = 20;

class PageServer {
public:
    /// Binds at once. `page` is served as "/" with its nonce put in, `paths` as they say, and "/events" from `feed`,
    /// which must outlive the server. `refused` where the port is taken or the address is not this host's.
    static Result<PageServer> open(const PageServerOptions& options, std::string page, PagePaths paths, PageFeed& feed);
    PageServer(PageServer&&) noexcept;
    ~PageServer();

    int port() const;
    /// Serves until stop(); `broken` where the socket fails.
    Result<> serve();
    /// By any thread; returns when serve() is about to. The feed must be closed before, so that no viewer is waited
    /// for.
    void stop();

private:
    struct Inside;
    explicit PageServer(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace forebay::report
