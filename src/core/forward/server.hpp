// A forwarder: carries out, on its own store and below the directory of a run, the requests of clients on other hosts.
// So the target has as many clients as there are forwarders, however many hosts compute.
//
// Life:    start() listens -> clients come and go -> stop() admits no new client and completes the requests under way
// Threads: one listens and hears greetings, one serves each connection of a client, one tells waiting clients that
//          their requests are at work. All sleep while there is nothing to do. Any thread may make the calls below.
// Clients: a client must show the token. A connection without it costs no thread and is closed in bounded time
//          (strangers.hpp). The files that a client has open are closed when its last connection ends; a file that it
//          had half written stays, as after an agent that was killed.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/forward/limits.hpp"
#include "core/forward/message.hpp"
#include "core/sys/socket.hpp"
#include "core/sys/store.hpp"
#include "forebay/options.hpp"

namespace forebay::forward {

/// The committed snapshot that a client wants a view of.
struct ViewWanted {
    std::string run, stream, directory;
    std::int64_t step = 0;
    Convention convention = Convention::plain;
};

struct ServerOptions {
    std::string run;  // "": each client names its own; absolute
    std::string token;
    std::function<Result<>(const ViewWanted&)> make_view;  // may be empty: `unsupported`
    std::function<void(const std::string&)> log;           // one line, from any thread; may be empty
    std::chrono::milliseconds beat_pause = limits::beat_pause;
    std::chrono::milliseconds silence_max = limits::silence_max;    // in the middle of a message
    std::chrono::milliseconds greeting_max = limits::greeting_max;  // for all of it
    int pieces_max = limits::pieces_max;
};

class Server {
public:
    /// `listen` as sys::Listener::open(). `store` must live as long as a stop() that was not true.
    static Result<Server> start(sys::Store& store, const std::string& listen, const ServerOptions& options);
    Server(Server&&) noexcept;
    Server& operator=(Server&&) = delete;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();  // stop()

    std::uint16_t port() const;
    /// Clients that are connected.
    std::size_t clients() const;
    /// Lets requests under way end, at most for `limit`; whether they have. A thread that hangs in a dead mount is left
    /// behind, with all it uses but the store.
    bool stop(std::chrono::milliseconds limit = limits::end_max);

    struct State;

private:
    explicit Server(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
};

/// A server at a port that the kernel chooses, and how others reach it.
struct ReachableServer {
    Server server;
    std::vector<std::string> addresses;  // "host:port", one for each network
};
/// `address` as sys::own_addresses(): an interface or a number of this host; "": all of its networks.
Result<ReachableServer> start_reachable(sys::Store& store, const std::string& address, const ServerOptions& options);

}  // namespace forebay::forward
