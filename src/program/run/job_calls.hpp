// Calls of keepers to `forebay job` over TCP. Launchers of PBS give a program neither an input nor an output that
// `forebay job` could use. The first line of a call is a token from a private file in the user's home directory.
//
// Life:    open() -> next() again and again; the destructor removes the file.
// Threads: one.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/sys/channel.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/socket.hpp"
#include "forebay/result.hpp"

namespace forebay::cli {

class KeeperCalls {
public:
    /// `refused` if HOME is not set.
    static Result<KeeperCalls> open(const std::string& id);
    KeeperCalls(KeeperCalls&& other) noexcept
        : listener_(std::move(other.listener_)),
          addresses_(std::move(other.addresses_)),
          token_(std::move(other.token_)),
          token_path_(std::exchange(other.token_path_, {})),
          callers_(std::move(other.callers_)) {}
    KeeperCalls& operator=(KeeperCalls&&) = delete;
    KeeperCalls(const KeeperCalls&) = delete;
    KeeperCalls& operator=(const KeeperCalls&) = delete;
    ~KeeperCalls();

    /// "10.0.0.1:4711,10.1.0.1:4711": a keeper tries them in this order.
    const std::string& addresses() const { return addresses_; }
    const std::string& token_path() const { return token_path_; }
    /// The channel of a keeper that has called with the token. Never waits.
    std::optional<sys::Channel> next();

private:
    struct Caller {
        sys::Connection connection;
        std::string heard = {};
        sys::Clock::time_point since = sys::Clock::now();
    };
    KeeperCalls() = default;

    sys::Listener listener_;
    std::string addresses_, token_, token_path_;  // no path: moved from
    std::vector<Caller> callers_;                 // that have not sent the whole token
};

/// The keeper's side.
Result<sys::Channel> call_job(const std::string& addresses, const std::string& token_path);

}  // namespace forebay::cli
