// The client's connections to its forwarders. One forwarder is current, and `epoch_` counts the changes to the next
// one. A request takes an idle connection or makes one (any, at), sends and waits (exchange, await), and gives the
// connection back. If a connection fails, it is closed, and the client changes to the next forwarder, once for all
// threads with the same failure (give_up).
//
// An open file belongs to the forwarder that opened it. If another forwarder is current, at() returns `retry` and sends
// nothing. A connection begins with a greeting, in which both sides prove that they have the token (greet).

#include "core/forward/forwarder_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"

namespace forebay::forward {

namespace {

// The parts of "a:1,b:2".
std::vector<std::string> parts_of(const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= list.size();) {
        const auto end = std::min(list.find(',', at), list.size());
        if (end > at) parts.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

Error passing(Error error) {
    error.kind = ErrorKind::retry;
    return error;
}

}  // namespace

ForwarderPool::ForwarderPool(const ClientOptions& options, const SipKey& key)
    : options_(options), key_(key), client_(sys::random_u64()) {}

Result<std::shared_ptr<ForwarderPool>> ForwarderPool::make(const ClientOptions& options) {
    FB_TRY_ASSIGN(key, key_of(options.token));
    FB_TRY(check_path(options.run, options.run));
    if (options.to.empty()) return Error{ErrorKind::refused, "no forwarder is given"};
    return std::shared_ptr<ForwarderPool>(new ForwarderPool(options, key));
}

// A beat says that the request is still at work. A forwarder waits for a slow target as long as the client's agent
// would, unless `work_max` limits it.
Result<Answer> ForwarderPool::await(sys::Connection& connection, FrameKind wanted,
                                    std::chrono::milliseconds silence_max) const {
    const auto begin = sys::Clock::now();
    while (true) {
        auto message = receive(connection, limits::answer_bytes_max, silence_max, silence_max);
        if (!message) return passing(message.error());
        if (message->kind == FrameKind::beat) {
            if (options_.work_max.count() == 0 || sys::Clock::now() - begin < options_.work_max) continue;
            return Error{ErrorKind::retry,
                         fmt::format("{} has worked on one request for {} s", connection.peer(),
                                     std::chrono::duration_cast<std::chrono::seconds>(options_.work_max).count())};
        }
        if (message->kind != wanted && message->kind != FrameKind::answer)
            return Error{ErrorKind::retry, connection.peer() + " sent an unexpected answer"};
        auto answer = decode_answer(message->body);
        if (!answer) return passing(answer.error());
        if (message->kind != wanted && !answer->error)
            return Error{ErrorKind::retry, connection.peer() + " answered too early"};
        return answer;
    }
}

Result<Answer> ForwarderPool::exchange(sys::Connection& connection, FrameKind kind, const Request& request) const {
    FB_TRY(send(connection, kind, encode(request), options_.silence_max));
    return await(connection, FrameKind::answer, options_.silence_max);
}

// Neither side learns the token from the other. Each side proves it with a keyed hash of the other's nonce.
Result<sys::Connection> ForwarderPool::greet(const std::string& address) const {
    FB_TRY_ASSIGN(connection, sys::Connection::open(address, options_.connect_max));
    Greeting greeting{.client_nonce = sys::random_u64(), .forwarder_nonce = 0, .client = client_, .run = options_.run};
    FB_TRY(send(connection, FrameKind::hello,
                encode(Request{.file = client_,
                               .offset = greeting.client_nonce,
                               .number = word_of_hello(key_, greeting),
                               .path = options_.run}),
                options_.silence_max));
    FB_TRY_ASSIGN(answer, await(connection, FrameKind::go, options_.greeting_max));
    if (answer.error) return *answer.error;
    greeting.forwarder_nonce = answer.number;
    // The forwarder proves the token first. Only then this side sends its own proof.
    if (answer.word != word_of_forwarder(key_, greeting))
        return Error{ErrorKind::refused, fmt::format("{} is not a forwarder with this token", address)};
    FB_TRY_ASSIGN(let_in,
                  exchange(connection, FrameKind::proof,
                           Request{.number = word_of_client(key_, greeting),
                                   .path = fmt::format("{}, process {}", sys::host_name(), sys::process_id())}));
    if (let_in.error) return *let_in.error;
    return connection;
}

Result<sys::Connection> ForwarderPool::connect(const std::string& forwarder) const {
    std::string why;
    bool all_refuse = true;
    const auto begin = sys::Clock::now();
    for (const auto& address : parts_of(forwarder)) {
        // Dead addresses of one forwarder must not delay the change to the next forwarder.
        if (!why.empty() && sys::Clock::now() - begin >= 2 * options_.greeting_max) break;
        auto connection = greet(address);
        if (connection) return connection;
        // The address is a forwarder's: its other addresses would give the same answer.
        if (connection.error().kind != ErrorKind::retry &&
            connection.error().what.find("(by the forwarder") != std::string::npos)
            return connection;
        all_refuse = all_refuse && connection.error().kind == ErrorKind::refused;
        why += (why.empty() ? "" : "; ") + connection.error().what;
    }
    return Error{all_refuse ? ErrorKind::refused : ErrorKind::retry,
                 why.empty() ? fmt::format("'{}' is not an address", forwarder) : why};
}

// A restarted forwarder has closed the connections of its predecessor.
std::optional<ForwarderPool::Link> ForwarderPool::idle() {
    while (!links_.empty()) {
        std::optional<Link> link(std::move(links_.back()));
        links_.pop_back();
        if (!link->connection.other_has_left()) return link;
    }
    return std::nullopt;
}

Result<ForwarderPool::Link> ForwarderPool::any() {
    std::string why;
    for (std::size_t attempt = 0; attempt < options_.to.size(); ++attempt) {
        std::unique_lock lock(mutex_);
        if (auto link = idle()) return std::move(*link);
        // The lock is not held while connecting, so the forwarder may change meanwhile: the link keeps its epoch.
        const auto epoch = epoch_;
        const auto forwarder = options_.to[current_];
        lock.unlock();
        auto connection = connect(forwarder);
        if (connection) return Link{std::move(*connection), epoch};
        if (connection.error().kind != ErrorKind::retry) return connection.error();
        why += (why.empty() ? "" : "; ") + connection.error().what;
        give_up(epoch);
    }
    return Error{ErrorKind::retry, fmt::format("no forwarder of {} answers: {}.", options_.run, why)};
}

Result<ForwarderPool::Link> ForwarderPool::at(ForwarderEpoch epoch) {
    std::unique_lock lock(mutex_);
    if (epoch != epoch_)
        return Error{ErrorKind::retry, "the forwarder that had the file open does not answer any more"};
    if (auto link = idle()) return std::move(*link);
    const auto forwarder = options_.to[current_];
    lock.unlock();
    auto connection = connect(forwarder);
    if (connection) return Link{std::move(*connection), epoch};
    give_up(epoch);
    return connection.error();
}

// Changes to the next forwarder, unless another thread has ended this epoch already.
void ForwarderPool::give_up(ForwarderEpoch epoch) {
    std::vector<Link> old;  // closed after the lock
    const std::lock_guard lock(mutex_);
    if (epoch != epoch_) return;
    ++epoch_;
    current_ = (current_ + 1) % options_.to.size();
    old.swap(links_);
}

Result<Answer> ForwarderPool::with_link(Link link, const Work& work) {
    auto answer = work(link.connection);
    if (!answer) {
        const auto peer = link.connection.peer();
        link.connection = {};  // closed now: a forwarder still at work must see that this client has left
        give_up(link.epoch);
        return with_context(answer.error(), fmt::format("the forwarder {} is lost: {}", peer, answer.error().what));
    }
    {
        const std::lock_guard lock(mutex_);
        // A link of an ended epoch leads to a forwarder that was given up.
        if (link.epoch == epoch_) links_.push_back(std::move(link));
    }
    if (answer->error) return *answer->error;
    return answer;
}

Result<Answer> ForwarderPool::ask(FrameKind kind, const Request& request, ForwarderEpoch* epoch) {
    FB_TRY_ASSIGN(link, any());
    if (epoch != nullptr) *epoch = link.epoch;
    return with_link(std::move(link), [&](auto& connection) { return exchange(connection, kind, request); });
}

Result<Answer> ForwarderPool::ask_at(ForwarderEpoch epoch, FrameKind kind, const Request& request) {
    FB_TRY_ASSIGN(link, at(epoch));
    return with_link(std::move(link), [&](auto& connection) { return exchange(connection, kind, request); });
}

Result<> ForwarderPool::write_at(ForwarderEpoch epoch, Request request, std::span<const std::byte> bytes) {
    request.number = bytes.size();
    request.crc = crc32c(bytes);
    FB_TRY_ASSIGN(link, at(epoch));
    const auto done = with_link(std::move(link), [&](auto& connection) -> Result<Answer> {
        // The bytes wait for `go`: the forwarder first needs a free buffer for them.
        FB_TRY(send(connection, FrameKind::write, encode(request), options_.silence_max));
        FB_TRY_ASSIGN(admitted, await(connection, FrameKind::go, options_.silence_max));
        if (admitted.error) return admitted;
        FB_TRY(connection.send(bytes, options_.silence_max));
        return await(connection, FrameKind::answer, options_.silence_max);
    });
    return done ? Result<>() : Result<>(done.error());
}

Result<> ForwarderPool::read_at(ForwarderEpoch epoch, Request request, std::span<std::byte> bytes) {
    request.number = bytes.size();
    FB_TRY_ASSIGN(link, at(epoch));
    const auto done = with_link(std::move(link), [&](auto& connection) -> Result<Answer> {
        FB_TRY_ASSIGN(answer, exchange(connection, FrameKind::read, request));
        if (answer.error) return answer;
        if (answer.number != bytes.size()) return Error{ErrorKind::retry, "it announced another number of bytes"};
        FB_TRY(connection.receive(bytes, options_.silence_max));
        if (crc32c(bytes) != answer.crc) return Error{ErrorKind::retry, "the data were damaged on the network"};
        return answer;
    });
    return done ? Result<>() : Result<>(done.error());
}

}  // namespace forebay::forward
