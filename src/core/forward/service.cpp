// Serves a client that has shown the token. serve() admits the client. Then Service::next() takes one request after the
// other, carries it out on the forwarder's store, and answers, until an error ends the connection. A path outside the
// client's run is refused before the store sees it.
//
// Between begin() and answer() another thread sends beats, so the client waits for a slow target as long as it takes.
// Before a request that changes something, the forwarder checks that the client is still there: a client that gave up
// repeats its request at another forwarder.

#include "core/forward/service.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "core/describe/conventions.hpp"

namespace forebay::forward {

Result<std::uint64_t> Client::add(std::unique_ptr<sys::File> file) {
    const std::lock_guard lock(mutex_);
    if (files_.size() >= limits::files_per_client_max)
        return Error{ErrorKind::full, fmt::format("this client has {} files open already", files_.size())};
    files_[next_] = std::move(file);
    return next_++;
}

Result<std::shared_ptr<sys::File>> Client::find(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto at = files_.find(number);
    // The file is closed if all connections of the client broke in between.
    if (at == files_.end()) return Error{ErrorKind::retry, "the forwarder has closed this file"};
    return at->second;
}

Result<std::shared_ptr<sys::File>> Client::take(std::uint64_t number) {
    FB_TRY_ASSIGN(file, find(number));
    const std::lock_guard lock(mutex_);
    files_.erase(number);
    return file;
}

void ClientConnection::begin() {
    const std::lock_guard lock(sending_);
    busy_ = true;
}

Result<> ClientConnection::answer(FrameKind kind, const Answer& answer, std::span<const std::byte> bytes,
                                  sys::Timeout timeout) {
    const std::lock_guard lock(sending_);
    busy_ = false;
    FB_TRY(send(connection(), kind, encode(answer), timeout));
    return connection().send(bytes, timeout);
}

void ClientConnection::beat() {
    const std::unique_lock lock(sending_, std::try_to_lock);  // if the lock is taken, the answer is on its way
    if (!lock || !busy_) return;
    if (!send(connection(), FrameKind::beat, {}, sys::Timeout(0))) connection().shut();
}

namespace {

/// Carries out the requests of one client that has shown the token.
class Service {
public:
    Service(ServerShared& shared, ClientConnection& line, Client& client)
        : shared_(shared), line_(line), client_(client) {}

    /// Serves one request. An error ends the connection.
    Result<> next() {
        auto message = receive(line_.connection(), limits::request_bytes_max, sys::timeout_endless, timeout());
        if (!message) return message.error();
        FB_TRY_ASSIGN(request, decode_request(message->body));
        line_.begin();
        if (message->kind == FrameKind::write) return write(request);
        if (message->kind == FrameKind::read) return read(request);
        // A client that gave up repeats the request elsewhere. This request must not take effect after that.
        if (line_.connection().other_has_left()) return gone();
        return say(act(message->kind, request));
    }

private:
    sys::Timeout timeout() const { return shared_.options.silence_max; }
    static Error gone() { return {ErrorKind::missing, "the client has left"}; }

    Result<> say(Result<Answer> answer) {
        return line_.answer(FrameKind::answer, answer ? std::move(*answer) : refusal(answer.error()), {}, timeout());
    }
    static Result<Answer> done(const Result<>& outcome) {
        if (!outcome) return outcome.error();
        return Answer{};
    }
    static Result<Answer> number(Result<std::uint64_t> outcome) {
        if (!outcome) return outcome.error();
        return Answer{.number = *outcome};
    }

    Result<Answer> act(FrameKind kind, const Request& request) {
        switch (kind) {
            case FrameKind::size:
            case FrameKind::truncate:
            case FrameKind::sync:
            case FrameKind::leave_zeros:
            case FrameKind::close: return act_on_file(kind, request);
            default: break;
        }
        FB_TRY(check_path(client_.run(), request.path));
        auto& store = shared_.store;
        switch (kind) {
            case FrameKind::open: return open(request);
            case FrameKind::make_directories: return done(store.make_directories(request.path));
            case FrameKind::make_directory: return done(store.make_directory(request.path));
            case FrameKind::rename:
                FB_TRY(check_path(client_.run(), request.other));
                return done(store.rename(request.path, request.other));
            case FrameKind::remove: return done(store.remove(request.path));
            case FrameKind::remove_tree: return done(store.remove_tree(request.path));
            case FrameKind::sync_directory: return done(store.sync_directory(request.path));
            case FrameKind::list: {
                FB_TRY_ASSIGN(entries, store.list(request.path));
                return Answer{.entries = std::move(entries)};
            }
            case FrameKind::exists: {
                FB_TRY_ASSIGN(there, store.exists(request.path));
                return Answer{.number = there ? 1u : 0u};
            }
            case FrameKind::id: {
                FB_TRY_ASSIGN(id, store.id_for_cut_renames(request.path));
                return id ? Answer{.number = id->number, .word = id->device, .crc = 1} : Answer{};
            }
            case FrameKind::view: return view(request);
            default: return Error{ErrorKind::refused, "this is not a request"};
        }
    }

    Result<Answer> act_on_file(FrameKind kind, const Request& request) {
        if (kind == FrameKind::close) {
            FB_TRY_ASSIGN(taken, client_.take(request.file));
            return done(taken->close());
        }
        FB_TRY_ASSIGN(file, client_.find(request.file));
        if (kind == FrameKind::size) return number(file->size());
        if (kind == FrameKind::leave_zeros) {
            file->leave_zeros(request.offset, request.number);
            return Answer{};
        }
        return done(kind == FrameKind::sync ? file->sync() : file->truncate(request.offset));
    }

    Result<Answer> open(const Request& request) {
        FB_TRY_ASSIGN(file, shared_.store.open(request.path, request.access));
        const bool direct = file->direct();
        FB_TRY_ASSIGN(number, client_.add(std::move(file)));
        return Answer{.number = number, .word = direct ? 1u : 0u};
    }

    Result<Answer> view(const Request& request) {
        if (!shared_.options.make_view) return Error{ErrorKind::unsupported, "this forwarder makes no views"};
        const auto convention = describe::convention_numbered(request.number);
        if (!convention && request.number >= describe::conventions_max)
            return Error{ErrorKind::refused, fmt::format("{} is not a kind of view", request.number)};
        if (!convention)
            return Error{ErrorKind::unsupported, "this version of the forwarder does not know this kind of view"};
        return done(shared_.options.make_view({.run = client_.run(),
                                               .stream = request.other,
                                               .directory = request.path,
                                               .step = static_cast<std::int64_t>(request.offset),
                                               .convention = *convention}));
    }

    Result<> write(const Request& request) {
        auto file = client_.find(request.file);
        if (!file) return say(file.error());
        if (request.number > limits::piece_bytes) return say(too_long(request.number));
        // Waits for a buffer before `go`, so the client sends no byte that has no place.
        const auto piece = shared_.pieces.take();
        if (!piece) return gone();
        FB_TRY(line_.answer(FrameKind::go, {}, {}, timeout()));
        const auto bytes = piece.first(request.number);
        FB_TRY(line_.connection().receive(bytes, timeout()));
        line_.begin();
        if (crc32c(bytes) != request.crc)
            return say(
                Error{ErrorKind::retry, fmt::format("{} bytes at {} were damaged on the network and are not written",
                                                    request.number, request.offset)});
        // The client may have given up while its bytes arrived: see next().
        if (line_.connection().other_has_left()) return gone();
        return say(done((*file)->write(request.offset, bytes)));
    }

    Result<> read(const Request& request) {
        auto file = client_.find(request.file);
        if (!file) return say(file.error());
        if (request.number > limits::piece_bytes) return say(too_long(request.number));
        const auto piece = shared_.pieces.take();
        if (!piece) return gone();
        const auto bytes = piece.first(request.number);
        if (auto got = (*file)->read(request.offset, bytes); !got) return say(got.error());
        return line_.answer(FrameKind::answer, {.number = request.number, .crc = crc32c(bytes)}, bytes, timeout());
    }

    static Error too_long(std::uint64_t bytes) {
        return {ErrorKind::refused, fmt::format("{} bytes at once: the limit is {}", bytes, limits::piece_bytes)};
    }

    ServerShared& shared_;
    ClientConnection& line_;
    Client& client_;
};

/// Returns the client with this number, or a new client. A client may have several connections.
std::shared_ptr<Client> client_of(ServerShared& shared, std::uint64_t number, const std::string& run,
                                  const std::string& name) {
    const std::lock_guard lock(shared.mutex);
    std::erase_if(shared.clients, [](const auto& client) { return client.second.expired(); });
    auto client = shared.clients[number].lock();
    // The run is compared too: else an equal number would give access to another client's files.
    if (client && client->run() == run) return client;
    client = std::make_shared<Client>(run, name);
    shared.clients[number] = client;
    shared.log(fmt::format("{} has connected", name));
    return client;
}

// Answers the client's proof: the forwarder may serve only one run.
Result<std::shared_ptr<Client>> admit(ServerShared& shared, ClientConnection& line) {
    const auto timeout = shared.options.silence_max;
    const auto& guest = line.guest();
    line.begin();
    const auto verdict = [&]() -> Result<> {
        FB_TRY(check_path(guest.run, guest.run));
        if (!shared.options.run.empty() && guest.run != shared.options.run)
            return Error{ErrorKind::refused,
                         fmt::format("this is a forwarder of the run {}, not of {}", shared.options.run, guest.run)};
        return sys::make_directories_durable(shared.store, guest.run);
    }();
    // The client is registered before the answer: a caller with the answer may count clients.
    auto client = verdict ? client_of(shared, guest.client, guest.run, guest.name) : nullptr;
    FB_TRY(line.answer(FrameKind::answer, verdict ? Answer() : refusal(verdict.error()), {}, timeout));
    if (!verdict) return verdict.error();
    return client;
}

}  // namespace

void serve(ServerShared& shared, ClientConnection& line) {
    auto client = admit(shared, line);
    if (!client) {
        shared.log(fmt::format("{} was not admitted: {}", line.connection().peer(), client.error().line()));
        return;
    }
    Service service(shared, line, **client);
    Result<> outcome;
    while (outcome) outcome = service.next();
    const std::string name = (*client)->name();
    // The files close here if this was the client's last connection.
    const std::weak_ptr<Client> others = *client;
    client->reset();
    if (others.expired()) shared.log(fmt::format("{} has disconnected", name));
    if (outcome.error().kind != ErrorKind::missing)
        shared.log(fmt::format("a connection of {} ends: {}", name, outcome.error().line()));
}

}  // namespace forebay::forward
