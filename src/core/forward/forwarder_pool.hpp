// A client's side of forwarding: its connections to whichever of the forwarders answers.
//
// Threads: any number of threads may use a ForwarderPool at once. Each request has a connection for itself; afterwards
//          the connection is kept for a later request.
// Errors:  an error that a forwarder answers has the kind and text that its own store gave. A request without an
//          answer is `retry`, and the next request goes to the next forwarder. Nobody knows whether an unanswered
//          request was carried out, as with any file system across a network.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/forward/frames.hpp"
#include "core/forward/limits.hpp"

namespace forebay::forward {

struct ClientOptions {
    std::string run;              // absolute; all paths are it or below
    std::vector<std::string> to;  // forwarders, the one to begin with first; each "host:port", or several with commas
    std::string token;
    std::chrono::milliseconds connect_max = limits::connect_max;
    std::chrono::milliseconds silence_max = limits::silence_max;
    /// The same for a greeting; of a forwarder with several addresses no further one is tried after twice that.
    std::chrono::milliseconds greeting_max = limits::silence_max;
    /// For all of a request, however often the forwarder says that it is at work; 0: as long as it says so.
    std::chrono::milliseconds work_max = std::chrono::milliseconds(0);
};

/// Counts how often the pool has gone on to another forwarder. A file is open at the forwarder of one epoch, and is
/// closed when that epoch ends.
using ForwarderEpoch = std::uint64_t;

class ForwarderPool {
public:
    static Result<std::shared_ptr<ForwarderPool>> make(const ClientOptions& options);

    /// Asks any forwarder: tries each of them once. `epoch`, if given, becomes the epoch of the one that answered.
    Result<Answer> ask(FrameKind kind, const Request& request, ForwarderEpoch* epoch = nullptr);
    /// Asks the forwarder of `epoch`; `retry` when that epoch has ended.
    Result<Answer> ask_at(ForwarderEpoch epoch, FrameKind kind, const Request& request);
    Result<> write_at(ForwarderEpoch epoch, Request request, std::span<const std::byte> bytes);
    Result<> read_at(ForwarderEpoch epoch, Request request, std::span<std::byte> bytes);

private:
    struct Link {
        sys::Connection connection;
        ForwarderEpoch epoch = 0;
    };
    using Work = std::function<Result<Answer>(sys::Connection&)>;

    explicit ForwarderPool(const ClientOptions& options, const SipKey& key);
    Result<Answer> with_link(Link link, const Work& work);
    Result<Link> any();
    Result<Link> at(ForwarderEpoch epoch);
    std::optional<Link> idle();
    Result<sys::Connection> connect(const std::string& forwarder) const;
    Result<sys::Connection> greet(const std::string& address) const;
    Result<Answer> exchange(sys::Connection& connection, FrameKind kind, const Request& request) const;
    Result<Answer> await(sys::Connection& connection, FrameKind wanted, std::chrono::milliseconds silence_max) const;
    void give_up(ForwarderEpoch epoch);

    const ClientOptions options_;
    const SipKey key_;
    const std::uint64_t client_;
    std::mutex mutex_;          // guards what follows
    std::size_t current_ = 0;   // of options_.to
    ForwarderEpoch epoch_ = 1;  // of the current one
    std::vector<Link> links_;   // idle ones of this epoch
};

}  // namespace forebay::forward
