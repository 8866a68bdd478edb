// Carries out the requests of one connection. All connections of a client share the client's open files.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "core/forward/frames.hpp"
#include "core/forward/pieces.hpp"
#include "core/forward/server.hpp"
#include "core/forward/stranger.hpp"

namespace forebay::forward {

/// A client with all of its connections.
class Client {
public:
    Client(std::string run, std::string name) : run_(std::move(run)), name_(std::move(name)) {}

    const std::string& run() const { return run_; }
    const std::string& name() const { return name_; }
    Result<std::uint64_t> add(std::unique_ptr<sys::File> file);
    Result<std::shared_ptr<sys::File>> find(std::uint64_t number);
    Result<std::shared_ptr<sys::File>> take(std::uint64_t number);

private:
    const std::string run_, name_;
    std::mutex mutex_;
    std::map<std::uint64_t, std::shared_ptr<sys::File>> files_;
    std::uint64_t next_ = 1;
};

/// A connection that other threads share: they send beats on it, and end it.
class ClientConnection {
public:
    explicit ClientConnection(Guest guest) : guest_(std::move(guest)) {}

    const Guest& guest() const { return guest_; }
    sys::Connection& connection() { return guest_.connection; }
    /// Called by the connection's own thread. Beats are sent from now on until the answer.
    void begin();
    Result<> answer(FrameKind kind, const Answer& answer, std::span<const std::byte> bytes, sys::Timeout timeout);
    /// Called by the thread that sends beats. Ends the connection if the client does not take 32 bytes at once.
    void beat();

private:
    Guest guest_;
    std::mutex sending_;
    bool busy_ = false;
};

/// The state that all connections of a forwarder share.
struct ServerShared {
    sys::Store& store;
    ServerOptions options;
    Pieces pieces;
    std::mutex mutex;                                        // guards the members below
    std::map<std::uint64_t, std::weak_ptr<Client>> clients;  // by the number that the client chose

    void log(const std::string& line) const {
        if (options.log) options.log(line);
    }
};

/// Serves a connection from the proof of the token to its end.
void serve(ServerShared& shared, ClientConnection& line);

}  // namespace forebay::forward
