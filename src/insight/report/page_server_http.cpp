// The server of the live page. cpp-httplib 0.11 parses requests and writes answers. Sockets and threads are our own:
// the library accepts any number of headers for any time; 200 MB of them took 390 MB of memory. Every request ends in
// one function before the library reads a body.
//
// A connection gets a thread after the head of its first request. It keeps the thread only if that head had the token.

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/socket.hpp"
#include "core/sys/thread.hpp"
#include "insight/report/page_guard.hpp"
#include "insight/report/page_server.hpp"
#include "insight/report/request_heads.hpp"

namespace forebay::report {

namespace {

// A browser opens at most six connections to a server. Threads beyond the viewers serve pages and pictures.
constexpr int threads_max = viewers_max + 12;
// Connections waiting for a thread. Further connections are closed.
constexpr std::size_t waiting_max = 64;
// Connections without a whole first request. If there are more, the oldest are closed.
constexpr std::size_t heads_max = 256;
constexpr std::chrono::seconds silence_max{5};   // between two requests, and for a viewer that takes nothing
constexpr std::chrono::seconds request_max{10};  // from a request's first byte to its last
// The limit between requests while other connections wait for a thread.
constexpr std::chrono::milliseconds crowded_max{300};
// The head of a request: browsers send about 1 KiB, plus cookies of other servers of this host.
constexpr std::size_t request_bytes_max = 64u << 10;
constexpr std::chrono::milliseconds stop_look{100};

}  // namespace

/// A connection for the library, one request after another.
class RequestStream final : public httplib::Stream {
public:
    /// `first` was already read from the connection: at least the head of the first request.
    RequestStream(sys::Connection& connection, std::string_view first, const std::atomic<bool>& stopping,
                  const std::atomic<bool>& crowded)
        : connection_(connection), stopping_(stopping), crowded_(crowded), buffer_(std::max(first.size(), read_bytes)) {
        std::ranges::copy(std::as_bytes(std::span(first)), buffer_.begin());
        end_ = first.size();
    }

    /// Waits for the next request; false if none comes.
    bool await_request() {
        began_ = sys::Clock::now();
        deadline_ = began_ + silence_max;
        budget_ = request_bytes_max;
        if (begin_ == end_ && !fill()) return false;
        deadline_ = sys::Clock::now() + request_max;
        return true;
    }

    bool is_readable() const override { return true; }
    bool is_writable() const override { return !stopping_ && !connection_.other_has_left(); }

    ssize_t read(char* to, size_t size) override {
        if (size == 0) return 0;
        if (budget_ == 0 || (begin_ == end_ && !fill())) return -1;
        const auto count = std::min({size, end_ - begin_, budget_});
        std::copy_n(reinterpret_cast<const char*>(buffer_.data()) + begin_, count, to);
        begin_ += count;
        budget_ -= count;
        return static_cast<ssize_t>(count);
    }
    ssize_t write(const char* from, size_t size) override {
        const auto sent = connection_.send(std::as_bytes(std::span(from, size)), silence_max);
        return sent ? static_cast<ssize_t>(size) : -1;
    }
    void get_remote_ip_and_port(std::string&, int&) const override {}
    void get_local_ip_and_port(std::string&, int&) const override {}
    socket_t(socket)() const override { return INVALID_SOCKET; }  // in brackets, because `socket` may be a macro

private:
    // Waits for data. False at the deadline, or if the other side closed.
    bool fill() {
        begin_ = end_ = 0;
        for (auto now = sys::Clock::now(); !stopping_ && now < deadline_; now = sys::Clock::now()) {
            // A quiet connection must give its thread to a waiting connection.
            if (crowded_ && now > began_ + crowded_max) return false;
            const auto got = connection_.receive_some(buffer_);
            if (!got) return false;
            if (*got > 0) {
                end_ = *got;
                return true;
            }
            // A wait for one byte ends often enough to notice stop().
            if (connection_.receive(std::span(buffer_).first(1), stop_look)) {
                end_ = 1;
                return true;
            }
        }
        return false;
    }

    sys::Connection& connection_;
    const std::atomic<bool>& stopping_;
    const std::atomic<bool>& crowded_;  // other connections wait for a thread
    static constexpr std::size_t read_bytes = 4096;
    std::vector<std::byte> buffer_;
    std::size_t begin_ = 0, end_ = 0;          // the unread part of it
    std::size_t budget_ = 0;                   // bytes left for the request
    sys::Clock::time_point began_, deadline_;  // of the wait for a request, or of the request
};

/// The library's server without sockets.
class RequestParser final : public httplib::Server {
public:
    RequestParser() { svr_sock_ = 0; }  // it writes chunks only if it believes that it listens
    using Welcome = std::function<bool(const httplib::Request&)>;
    /// Reads a request and writes its answer. True if the connection may send another request. An unwelcome connection
    /// may not: it would hold a thread that the page's owner needs.
    bool answer(httplib::Stream& stream, bool is_last, const Welcome& is_welcome) {
        bool is_closed = false, goes_on = false;
        const auto look = [&](httplib::Request& request) { goes_on = is_welcome(request); };
        return process_request(stream, is_last, is_closed, look) && goes_on && !is_closed && !is_last;
    }
};

namespace {

// A tab that was here before has stored the token and reloads with it, so the address need not contain it.
constexpr const char* binding_page = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Forebay</title><link rel="icon" href="data:,"></head>
<body><p>This page needs the token that <code>forebay watch</code> has printed with its address.</p>
<script nonce="NONCE">
if (!new URLSearchParams(location.search).has("token") && sessionStorage.getItem("forebay-token"))
    location.replace("/?token=" + sessionStorage.getItem("forebay-token"));
</script></body></html>
)";

std::string with_nonce(std::string page, const std::string& nonce) {
    constexpr std::string_view mark = "nonce=\"NONCE\"";
    for (auto at = page.find(mark); at != std::string::npos; at = page.find(mark, at))
        page.replace(at, mark.size(), "nonce=\"" + nonce + "\"");
    return page;
}

void set_headers(httplib::Response& to, const std::string& nonce) {
    to.set_header(
        "Content-Security-Policy",
        fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src 'self' blob: data:; "
                    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                    nonce));
    to.set_header("Cache-Control", "no-store");
    to.set_header("Referrer-Policy", "no-referrer");
    to.set_header("X-Content-Type-Options", "nosniff");
    to.set_header("Cross-Origin-Resource-Policy", "same-origin");
    to.set_header("Cross-Origin-Opener-Policy", "same-origin");
}

}  // namespace

struct PageServer::Inside {
    PageServerOptions options;
    std::string page;
    PagePaths paths;
    PageFeed* feed = nullptr;
    std::atomic<int> viewers{0};
    std::atomic<bool> stopping{false};
    RequestParser parser;
    sys::Listener listener;
    std::mutex mutex;  // guards the members below
    std::condition_variable arrived, ended;
    std::deque<RequestHead> waiting;
    std::size_t idle = 0;              // threads waiting for a connection
    std::atomic<bool> crowded{false};  // connections outnumber the idle threads
    bool serving = false;

    Inside(const PageServerOptions& chosen, std::string text, PagePaths answers, PageFeed& source)
        : options(chosen), page(std::move(text)), paths(std::move(answers)), feed(&source) {}

    void give(httplib::Response& to, const PageAnswer& answer) {
        to.status = answer.status;
        to.set_content(answer.body, answer.type.c_str());
    }

    bool has_token(const httplib::Request& request) const {
        if (is_same_token(options.token, request.get_param_value("token"))) return true;
        constexpr std::string_view scheme = "Bearer ";
        const auto given = request.get_header_value("Authorization");
        return given.starts_with(scheme) && is_same_token(options.token, given.substr(scheme.size()));
    }

    bool is_for_this_page(const httplib::Request& request) const {
        return request.get_header_value_count("Host") == 1 &&
               is_own_host(request.get_header_value("Host"), options.other_hosts);
    }

    void answer(const httplib::Request& request, httplib::Response& to) {
        const auto nonce = new_token();
        set_headers(to, nonce);
        const auto refuse = [&](int status, const char* why) {
            to.set_header("Connection", "close");
            give(to, {status, "text/plain; charset=utf-8", std::string(why) + "\n"});
        };
        if (!is_for_this_page(request)) return refuse(403, "this is not the address that forebay watch printed");
        // Only the start page answers with HTML: it may reload with the token stored in the tab.
        if (!has_token(request)) {
            to.set_header("Connection", "close");
            if (request.method == "GET" && request.path == "/")
                return give(to, {403, "text/html; charset=utf-8", with_nonce(binding_page, nonce)});
            return refuse(403, "the token is missing or wrong");
        }
        if (request.method != "GET") return refuse(405, "this page is read-only");
        if (request.path == "/") return give(to, {200, "text/html; charset=utf-8", with_nonce(page, nonce)});
        if (request.path == "/events") return add_viewer(to);
        const auto path = paths.find(request.path);
        if (path == paths.end()) return refuse(404, "there is no such path");
        PageQuery query;
        for (const auto& [name, value] : request.params)
            // Answers never need the token, so they do not get it.
            if (name != "token") query.emplace(name, value);
        give(to, path->second(query));
    }

    void add_viewer(httplib::Response& to) {
        // Counted first, so that two requests at once cannot both take the last place.
        if (++viewers > viewers_max) {
            --viewers;
            return give(to, answer_of({ErrorKind::full,
                                       fmt::format("{} viewers look at this page, which is the limit", viewers_max), "",
                                       "close one viewer, or start another forebay watch"}));
        }
        to.status = 200;
        const auto seen = std::make_shared<std::uint64_t>(0);
        to.set_chunked_content_provider(
            "text/event-stream", [this, seen](std::size_t, httplib::DataSink& sink) { return tell(*seen, sink); },
            [this](bool) { --viewers; });
    }

    void talk(RequestHead head) {
        constexpr int requests_max = 1000;  // then the browser must connect again
        auto& connection = head.connection;
        RequestStream stream(connection, head.text, stopping, crowded);
        const auto is_welcome = [this](const auto& request) { return is_for_this_page(request) && has_token(request); };
        for (int i = 1; i <= requests_max && stream.await_request(); ++i)
            if (!parser.answer(stream, i == requests_max, is_welcome)) break;
        connection.shut();
    }

    void work() {
        while (true) {
            RequestHead head;
            {
                std::unique_lock lock(mutex);
                ++idle;
                // The timeout ends the wait if stop() notified before it began.
                arrived.wait_for(lock, stop_look, [&] { return stopping || !waiting.empty(); });
                --idle;
                if (stopping) return;
                if (waiting.empty()) continue;
                head = std::move(waiting.front());
                waiting.pop_front();
                crowded = waiting.size() > idle;
            }
            talk(std::move(head));
        }
    }

    Result<> serve() {
        std::vector<sys::Thread> threads;
        for (int i = 0; i < threads_max; ++i) {
            auto thread = sys::Thread::start([this] { work(); });
            if (!thread && threads.empty()) return thread.error();
            if (!thread) break;  // fewer threads serve fewer viewers
            threads.push_back(std::move(*thread));
        }
        RequestHeads heads(listener, {.waiting_max = heads_max, .bytes_max = request_bytes_max, .to_end = request_max});
        while (!stopping) {
            auto whole = heads.turn(stop_look);
            if (!whole && whole.error().kind == ErrorKind::retry) continue;
            if (!whole) {
                stopping = true;
                return whole.error();
            }
            const std::lock_guard lock(mutex);
            for (auto& head : *whole) {
                // The remaining connections close with `whole`.
                if (waiting.size() >= waiting_max) break;
                waiting.push_back(std::move(head));
                arrived.notify_one();
            }
            crowded = waiting.size() > idle;
        }
        return {};
    }

    static std::string clock_event() {
        return fmt::format("event: clock\ndata: {:.3f}\n\n", static_cast<double>(sys::unix_ns()) * 1e-9);
    }

    // Sends the server's time and, if there is one, a new state. The time comes first: ages in the state count from it,
    // and the state may be old. False ends the connection of a viewer that left or takes nothing.
    bool tell(std::uint64_t& seen, httplib::DataSink& sink) const {
        constexpr std::chrono::milliseconds look_every{1'000};  // interval of checks that the viewer is still there
        for (std::chrono::milliseconds waited{0}; waited < options.heartbeat; waited += look_every) {
            const auto news = feed->wait_for(seen, std::min(look_every, options.heartbeat));
            if (feed->is_closed()) {
                sink.done();
                return true;
            }
            if (news.text) {
                seen = news.number;
                const auto event =
                    fmt::format("{}id: {}\nevent: state\ndata: {}\n\n", clock_event(), news.number, *news.text);
                return sink.write(event.data(), event.size());
            }
            if (!sink.is_writable()) return false;
        }
        const auto heartbeat = ": heartbeat\n\n" + clock_event();
        return sink.write(heartbeat.data(), heartbeat.size());
    }
};

PageServer::PageServer(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
PageServer::PageServer(PageServer&&) noexcept = default;
PageServer::~PageServer() = default;
int PageServer::port() const { return inside_->listener.port(); }

Result<PageServer> PageServer::open(const PageServerOptions& options, std::string page, PagePaths paths,
                                    PageFeed& feed) {
    auto inside = std::make_unique<Inside>(options, std::move(page), std::move(paths), feed);
    auto* const own = inside.get();
    own->parser.set_pre_routing_handler([own](const httplib::Request& request, httplib::Response& to) {
        // A thousand ranges in one header would copy the answer a thousand times. The library's request is not const.
        const_cast<httplib::Request&>(request).ranges.clear();
        own->answer(request, to);
        return httplib::Server::HandlerResponse::Handled;
    });
    own->parser.set_exception_handler([own](const httplib::Request&, httplib::Response& to, const std::exception_ptr&) {
        own->give(to, answer_of({ErrorKind::full, "there is no memory for this answer"}));
    });
    auto listener = sys::Listener::open(sys::with_port(options.host, static_cast<std::uint16_t>(options.port)));
    // Some port is always free, so the address must be wrong.
    if (!listener && options.port == 0)
        return Error{ErrorKind::refused, fmt::format("{} is not an address of this host", options.host)};
    if (!listener)
        return Error{ErrorKind::refused, fmt::format("port {} of {} is not available", options.port, options.host), "",
                     "leave out --port for a free port"};
    own->listener = std::move(*listener);
    return PageServer(std::move(inside));
}

void PageServer::stop() {
    inside_->stopping = true;
    inside_->arrived.notify_all();
    std::unique_lock lock(inside_->mutex);
    // Until then serve() uses the members.
    inside_->ended.wait(lock, [&] { return !inside_->serving; });
}

Result<> PageServer::serve() {
    {
        const std::lock_guard lock(inside_->mutex);
        // stop() may have come first; then serve() must not begin.
        if (inside_->stopping) return {};
        inside_->serving = true;
    }
    const auto served = inside_->serve();
    const std::lock_guard lock(inside_->mutex);
    inside_->serving = false;
    inside_->ended.notify_all();
    return served;
}

}  // namespace forebay::report
