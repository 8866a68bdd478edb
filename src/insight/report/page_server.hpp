// The server of the live page: HTTP on one address of this host, for users with the token. It knows paths and texts,
// but nothing of runs: the caller gives it the answer of each path.
//
// Every path needs the token, as "token=" in the query or as "Authorization: Bearer". Without it the answer is 403 and
// reveals nothing of the run. A request with a foreign Host is refused too: another site may let its own name lead here
// (DNS rebinding).
//
// Threads: several of the server's threads answer at once. Each viewer of the event stream holds a thread; there are at
// most viewers_max. The server keeps no backlog for a slow viewer.
//
// page_server_http.cpp implements it with cpp-httplib. A build without that library has no server.

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
    int port = 0;                               // 0: a free port
    std::string token;                          // 32 hexadecimal digits
    std::vector<std::string> other_hosts = {};  // names of this machine allowed as Host, in lower case
    std::chrono::milliseconds heartbeat{15'000};
};

inline constexpr int viewers_max = 20;

class PageServer {
public:
    /// Binds at once. Serves `page` as "/" with its nonce filled in, the paths of `paths`, and "/events" from `feed`,
    /// which must outlive the server. `refused` if the port is taken or the address does not belong to this host.
    static Result<PageServer> open(const PageServerOptions& options, std::string page, PagePaths paths, PageFeed& feed);
    PageServer(PageServer&&) noexcept;
    ~PageServer();

    int port() const;
    /// Serves until stop(); `broken` if the socket fails.
    Result<> serve();
    /// Any thread may call it. It returns when serve() is about to return. Close the feed first, so that no viewer
    /// blocks a thread.
    void stop();

private:
    struct Inside;
    explicit PageServer(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace forebay::report
