// A forwarder. It carries out requests of clients on other hosts, on its own store and below the directory of a run. So
// the target has only as many clients as there are forwarders.
//
// Life:    start() listens -> clients come and go -> stop() admits no new client and completes the requests under way
// Threads: one listens and reads greetings, one serves each client connection, one sends beats. All sleep without work.
//          Any thread may make the calls below.
// Clients: a client must show the token. A connection without it costs no thread and is closed in bounded time
//          (strangers.hpp). A client's files are closed when its last connection ends. A half-written file stays, as
//          after the kill of an agent.

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

/// A request for a view of a committed snapshot.
struct ViewWanted {
    std::string run, stream, directory;
    std::int64_t step = 0;
    Convention convention = Convention::plain;
};

struct ServerOptions {
    std::string run;  // absolute; "": each client gives its own run
    std::string token;
    std::function<Result<>(const ViewWanted&)> make_view;  // may be empty: then `unsupported`
    std::function<void(const std::string&)> log;           // gets one line, from any thread; may be empty
    std::chrono::milliseconds beat_pause = limits::beat_pause;
    std::chrono::milliseconds silence_max = limits::silence_max;    // the limit between bytes of one message
    std::chrono::milliseconds greeting_max = limits::greeting_max;  // the limit for the whole greeting
    int pieces_max = limits::pieces_max;
};

class Server {
public:
    /// `listen` as in sys::Listener::open(). `store` must live until stop() has returned true.
    static Result<Server> start(sys::Store& store, const std::string& listen, const ServerOptions& options);
    Server(Server&&) noexcept;
    Server& operator=(Server&&) = delete;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();  // calls stop()

    std::uint16_t port() const;
    /// Returns the number of connected clients.
    std::size_t clients() const;
    /// Waits up to `limit` for requests under way. Returns true if all threads have ended. A thread that hangs in a
    /// dead mount keeps running, with everything that it uses except the store.
    bool stop(std::chrono::milliseconds limit = limits::end_max);

    struct State;

private:
    explicit Server(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
};

/// A server on a port of the kernel's choice, and its addresses.
struct ReachableServer {
    Server server;
    std::vector<std::string> addresses;  // "host:port", one for each network
};
/// `address` as in sys::own_addresses(): an interface or an address of this host. "": all of its networks.
Result<ReachableServer> start_reachable(sys::Store& store, const std::string& address, const ServerOptions& options);

}  // namespace forebay::forward
