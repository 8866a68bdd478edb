#include "program/run/job_calls.hpp"

#include <fmt/format.h>

#include <array>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/store.hpp"

namespace forebay::cli {

namespace {

constexpr sys::Timeout call_max{10'000};
// More callers that do not send the token are nobody's keepers.
constexpr std::size_t callers_max = 1024;

}  // namespace

Result<KeeperCalls> KeeperCalls::open(const std::string& id) {
    const auto home = sys::environment_value("HOME");
    if (home.empty()) return Error{ErrorKind::refused, "keepers cannot call forebay job: HOME is not set"};
    KeeperCalls calls;
    FB_TRY_ASSIGN(listener, sys::Listener::open(":0"));
    FB_TRY_ASSIGN(hosts, sys::own_addresses(""));
    for (const auto& host : hosts)
        calls.addresses_ += (calls.addresses_.empty() ? "" : ",") + sys::with_port(host, listener.port());
    calls.listener_ = std::move(listener);
    calls.token_ = fmt::format("{:016x}{:016x}\n", sys::random_u64(), sys::random_u64());
    const auto path = fmt::format("{}/.forebay-keepers-{}", home, id);
    FB_TRY(sys::write_private(path, calls.token_));
    calls.token_path_ = path;
    return calls;
}

KeeperCalls::~KeeperCalls() {
    // A keeper that starts later has no job to serve.
    if (!token_path_.empty()) static_cast<void>(sys::posix_store().remove(token_path_));
}

std::optional<sys::Channel> KeeperCalls::next() {
    // Beyond the limit a call waits until an earlier caller is gone.
    if (callers_.size() < callers_max)
        if (auto call = listener_.accept(sys::Timeout(0)); call && *call) callers_.push_back({std::move(**call)});
    for (auto caller = callers_.begin(); caller != callers_.end();) {
        std::array<std::byte, 64> bytes{};
        const auto got = caller->connection.receive_some(std::span(bytes).first(token_.size() - caller->heard.size()));
        for (std::size_t i = 0; got && i < *got; ++i) caller->heard += static_cast<char>(bytes[i]);
        const bool is_wrong = !got || !token_.starts_with(caller->heard);
        if (!is_wrong && caller->heard.size() == token_.size()) {
            auto channel = sys::Channel::over(std::move(caller->connection));
            callers_.erase(caller);
            if (channel) return std::move(*channel);
            return std::nullopt;
        }
        if (is_wrong || sys::Clock::now() - caller->since > call_max) caller = callers_.erase(caller);
        else ++caller;
    }
    return std::nullopt;
}

Result<sys::Channel> call_job(const std::string& addresses, const std::string& token_path) {
    FB_TRY_ASSIGN(token, sys::read_private(token_path));
    Error last{ErrorKind::refused, "--call has no address"};
    for (std::size_t at = 0; at < addresses.size();) {
        const auto end = std::min(addresses.find(',', at), addresses.size());
        auto connection = sys::Connection::open(addresses.substr(at, end - at), call_max);
        at = end + 1;
        const auto sent = connection ? connection->send(bytes_of(token), call_max) : Result<>(connection.error());
        if (sent) return sys::Channel::over(std::move(*connection));
        last = sent.error();
    }
    return last;
}

}  // namespace forebay::cli
