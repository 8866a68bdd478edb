// The server of the live page by cpp-httplib 0.11. Of that library it uses sockets, parsing and chunks. Every request
// ends in one function, before the library would read a body, so that no body of a stranger is ever taken.

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <deque>
#include <mutex>

#include "base/try.hpp"
#include "report/page_guard.hpp"
#include "report/page_server.hpp"
#include "sys/machine.hpp"
#include "sys/thread.hpp"

namespace forebay::report {

namespace {

// A browser has at most six connections to one server; what viewers do not hold is for pages and pictures.
constexpr int threads_max = viewers_max + 12;
// Connections that wait for a thread. Further ones wait in the kernel.
constexpr std::size_t waiting_max = 64;
// Seconds that a connection may keep a thread without a word, and a viewer may take nothing.
constexpr time_t silence_max = 5;

using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue({}));  // later versions ask whether it was taken

/// Threads of ours for the library's work; who brings more than can wait, waits.
class PageWorkers final : public httplib::TaskQueue {
public:
    static std::unique_ptr<PageWorkers> start() {
        auto workers = std::make_unique<PageWorkers>();
        for (int i = 0; i < threads_max; ++i) {
            auto thread = sys::Thread::start([&inside = *workers] { inside.work(); });
            if (!thread) break;  // with fewer it takes longer
            workers->threads_.push_back(std::move(*thread));
        }
        return workers;
    }

    Enqueued enqueue(std::function<void()> task) override {
        if (threads_.empty()) {
            task();
            return static_cast<Enqueued>(true);
        }
        std::unique_lock lock(mutex_);
        taken_.wait(lock, [&] { return waiting_.size() < waiting_max; });
        waiting_.push_back(std::move(task));
        given_.notify_one();
        return static_cast<Enqueued>(true);
    }

    void shutdown() override {
        {
            const std::lock_guard lock(mutex_);
            ending_ = true;
        }
        given_.notify_all();
        threads_.clear();
    }

private:
    void work() {
        while (true) {
            std::function<void()> task;
            {
                std::unique_lock lock(mutex_);
                given_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
                if (waiting_.empty()) return;
                task = std::move(waiting_.front());
                waiting_.pop_front();
            }
            taken_.notify_one();
            task();
        }
    }

    std::mutex mutex_;
    std::condition_variable given_, taken_;
    std::deque<std::function<void()>> waiting_;
    bool ending_ = false;
    std::vector<sys::Thread> threads_;
};

// A tab that has been here keeps the token, so that it need not stand in the address: reloading brings it back.
constexpr const char* door_page = R"(<!doctype html>
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
    int port = 0;
    std::atomic<int> viewers{0};
    httplib::Server server;
    std::mutex mutex;  // of what follows
    std::condition_variable ended;
    bool serving = false, stopping = false;

    Inside(const PageServerOptions& given, std::string text, PagePaths answers, PageFeed& source)
        : options(given), page(std::move(text)), paths(std::move(answers)), feed(&source) {}

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

    void answer(const httplib::Request& request, httplib::Response& to) {
        const auto nonce = new_token();
        set_headers(to, nonce);
        const auto refuse = [&](int status, const char* why) {
            to.set_header("Connection", "close");
            give(to, {status, "text/plain; charset=utf-8", std::string(why) + "\n"});
        };
        if (request.get_header_value_count("Host") != 1 ||
            !is_own_host(request.get_header_value("Host"), options.other_hosts))
            return refuse(403, "this address is not the one that forebay watch has printed");
        if (!has_token(request)) {
            if (request.method == "GET" && request.path == "/")
                return give(to, {403, "text/html; charset=utf-8", with_nonce(door_page, nonce)});
            return refuse(403, "the token is missing or wrong");
        }
        if (request.method != "GET") return refuse(405, "this page only shows");
        if (request.path == "/") return give(to, {200, "text/html; charset=utf-8", with_nonce(page, nonce)});
        if (request.path == "/events") return add_viewer(to);
        const auto found = paths.find(request.path);
        if (found == paths.end()) return refuse(404, "there is no such path");
        PageQuery query;
        for (const auto& [name, value] : request.params)
            if (name != "token") query.emplace(name, value);
        give(to, found->second(query));
    }

    void add_viewer(httplib::Response& to) {
        if (++viewers > viewers_max) {
            --viewers;
            return give(to, answer_of({ErrorKind::full, fmt::format("{} viewers look at this page", viewers_max), "",
                                       "close one of them, or start another forebay watch"}));
        }
        to.status = 200;
        const auto seen = std::make_shared<std::uint64_t>(0);
        to.set_chunked_content_provider(
            "text/event-stream", [this, seen](std::size_t, httplib::DataSink& sink) { return tell(*seen, sink); },
            [this](bool) { --viewers; });
    }

    // The newest state, or a heartbeat where nothing has changed. False ends the connection: of a viewer that has
    // gone, or takes nothing.
    bool tell(std::uint64_t& seen, httplib::DataSink& sink) const {
        constexpr std::chrono::milliseconds look_every{1'000};  // whether the viewer is there
        for (std::chrono::milliseconds waited{0}; waited < options.heartbeat; waited += look_every) {
            const auto news = feed->wait_for(seen, std::min(look_every, options.heartbeat));
            if (feed->is_closed()) {
                sink.done();
                return true;
            }
            if (news.text) {
                seen = news.number;
                const auto event = fmt::format("id: {}\nevent: state\ndata: {}\n\n", news.number, *news.text);
                return sink.write(event.data(), event.size());
            }
            if (!sink.is_writable()) return false;
        }
        constexpr std::string_view heartbeat = ": heartbeat\n\n";
        return sink.write(heartbeat.data(), heartbeat.size());
    }
};

PageServer::PageServer(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
PageServer::PageServer(PageServer&&) noexcept = default;
PageServer::~PageServer() = default;
int PageServer::port() const { return inside_->port; }

// The library forgets a stop that comes before it listens, and takes a second one badly.
void PageServer::stop() {
    constexpr std::chrono::milliseconds look_every{10};
    std::unique_lock lock(inside_->mutex);
    inside_->stopping = true;
    bool is_told = false;
    while (!inside_->ended.wait_for(lock, look_every, [&] { return !inside_->serving; })) {
        if (is_told || !inside_->server.is_running()) continue;
        is_told = true;
        inside_->server.stop();
    }
}

Result<PageServer> PageServer::open(const PageServerOptions& options, std::string page, PagePaths paths,
                                    PageFeed& feed) {
    auto inside = std::make_unique<Inside>(options, std::move(page), std::move(paths), feed);
    auto& server = inside->server;
    auto* const own = inside.get();
    server.set_pre_routing_handler([own](const httplib::Request& request, httplib::Response& to) {
        own->answer(request, to);
        return httplib::Server::HandlerResponse::Handled;
    });
    server.set_exception_handler([own](const httplib::Request&, httplib::Response& to, std::exception_ptr) {
        own->give(to, answer_of({ErrorKind::full, "this answer found no memory"}));
    });
    server.set_tcp_nodelay(true);  // an event is one small packet
    server.set_keep_alive_timeout(silence_max);
    server.set_read_timeout(silence_max);
    server.set_write_timeout(silence_max);
    server.set_payload_max_length(0);
    // The library would share the port with any other program of this user.
    server.set_socket_options([](auto) {});
    server.new_task_queue = [] { return PageWorkers::start().release(); };
    if (options.port == 0) inside->port = server.bind_to_any_port(options.host);
    else if (server.bind_to_port(options.host, options.port)) inside->port = options.port;
    if (inside->port <= 0 && options.port == 0)
        return Error{ErrorKind::refused, fmt::format("{} is no address of this host", options.host)};
    if (inside->port <= 0)
        return Error{ErrorKind::refused, fmt::format("port {} of {} cannot be had", options.port, options.host), "",
                     "leave out --port for a free one"};
    return PageServer(std::move(inside));
}

Result<> PageServer::serve() {
    {
        const std::lock_guard lock(inside_->mutex);
        if (inside_->stopping) return {};
        inside_->serving = true;
    }
    const bool is_good = inside_->server.listen_after_bind();
    const std::lock_guard lock(inside_->mutex);
    inside_->serving = false;
    inside_->ended.notify_all();
    if (is_good || inside_->stopping) return {};
    return Error{ErrorKind::broken, "the page's socket has failed"};
}

}  // namespace forebay::report
