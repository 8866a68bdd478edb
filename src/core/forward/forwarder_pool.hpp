// The client side of forwarding: connections to the first forwarder that answers.
//
// Threads: any, concurrently. Each request has its own connection, and a later request uses it again.
//
// Errors:  an error of a forwarder has the kind and text of its store. A request without an answer is `retry`, and the
//          next request goes to the next forwarder. An unanswered request may have been carried out or not, as in any
//          network file system.

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
    std::string run;  // absolute; all paths equal it or lie below it
    // forwarders in the order to try; each is "host:port", or several addresses with commas
    std::vector<std::string> to;
    std::string token;
    std::chrono::milliseconds connect_max = limits::connect_max;
    std::chrono::milliseconds silence_max = limits::silence_max;
    /// The limit for the answer to a greeting. After twice this time no further address of a forwarder is tried.
    std::chrono::milliseconds greeting_max = limits::silence_max;
    /// The limit for a whole request, even if the forwarder reports that it is working. 0: no limit.
    std::chrono::milliseconds work_max = std::chrono::milliseconds(0);
};

/// Counts the changes to another forwarder. A file is open at the forwarder of one epoch, and is lost when that epoch
/// ends.
using ForwarderEpoch = std::uint64_t;

class ForwarderPool {
public:
    static Result<std::shared_ptr<ForwarderPool>> make(const ClientOptions& options);

    /// Asks the current forwarder, then each other forwarder once. `epoch`, if given, gets the epoch of the answer.
    Result<Answer> ask(FrameKind kind, const Request& request, ForwarderEpoch* epoch = nullptr);
    /// Asks the forwarder of `epoch`. `retry` if that epoch has ended.
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
    std::mutex mutex_;          // guards the members below
    std::size_t current_ = 0;   // index in options_.to
    ForwarderEpoch epoch_ = 1;  // of the current forwarder
    std::vector<Link> links_;   // idle connections of this epoch
};

}  // namespace forebay::forward
