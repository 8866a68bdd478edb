#include "core/forward/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <thread>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/forward/service.hpp"
#include "core/forward/strangers.hpp"
#include "core/sys/thread.hpp"

namespace forebay::forward {

struct Server::State : std::enable_shared_from_this<Server::State> {
    State(sys::Store& store, const ServerOptions& options, const SipKey& its_key)
        : shared{.store = store, .options = options, .pieces = Pieces(options.pieces_max), .mutex = {}, .clients = {}},
          key(its_key),
          complaints(options.log) {}

    void listen();
    void beat();
    bool is_ending();
    Result<> add(Guest guest);
    void serve_one(ClientConnection& line);
    template <class Work>
    Result<> begin(Work work);

    ServerShared shared;
    const SipKey key;
    Complaints complaints;
    sys::Listener listener;
    std::mutex mutex;  // guards the members below
    std::condition_variable changed;
    bool ending = false;
    std::list<std::shared_ptr<ClientConnection>> lines;
    int threads = 0;
};

// Threads are detached, because a thread in a dead mount cannot be joined. Each thread keeps the state alive.
template <class Work>
Result<> Server::State::begin(Work work) {
    FB_TRY_ASSIGN(thread, sys::Thread::start([self = shared_from_this(), work] {
                      static_cast<void>(attempt([&] { work(*self); }));
                      const std::lock_guard lock(self->mutex);
                      --self->threads;
                      self->changed.notify_all();
                  }));
    ++threads;
    thread.leave();
    return {};
}

bool Server::State::is_ending() {
    const std::lock_guard lock(mutex);
    return ending;
}

void Server::State::listen() {
    Strangers strangers(listener, complaints, key, shared.options.greeting_max);
    while (!is_ending()) {
        const auto turned = attempt([&]() -> Result<> {
            FB_TRY_ASSIGN(guests, strangers.turn());
            for (auto& guest : guests) FB_TRY(add(std::move(guest)));
            return {};
        });
        if (turned) continue;
        // The reason is a temporary lack of memory, descriptors or threads.
        static_cast<void>(attempt(
            [&] { complaints.tell(fmt::format("a connection cannot be accepted: {}", turned.error().line())); }));
        std::this_thread::sleep_for(limits::accept_pause);
    }
    complaints.tell_rest();
}

Result<> Server::State::add(Guest guest) {
    const auto line = std::make_shared<ClientConnection>(std::move(guest));
    const std::lock_guard lock(mutex);
    if (ending) return {};
    if (lines.size() >= limits::connections_max) {
        // The send does not wait: the listening thread must not depend on a client.
        const auto why = fmt::format("there are {} connections of clients", lines.size());
        complaints.tell(fmt::format("{} was not admitted: {}", line->connection().peer(), why));
        static_cast<void>(
            send(line->connection(), FrameKind::answer, encode(refusal({ErrorKind::retry, why})), sys::Timeout(0)));
        return {};
    }
    lines.push_back(line);
    auto begun = attempt([&] { return begin([line](State& self) { self.serve_one(*line); }); });
    if (!begun) lines.pop_back();
    return begun;
}

void Server::State::serve_one(ClientConnection& line) {
    const auto served = attempt([&] { serve(shared, line); });
    if (!served)
        static_cast<void>(attempt([&] {
            shared.log(fmt::format("a connection of {} ends: {}", line.connection().peer(), served.error().line()));
        }));
    const std::lock_guard lock(mutex);
    lines.remove_if([&](const auto& other) { return other.get() == &line; });
    line.connection().shut();  // the thread that sends beats may hold `line` a moment longer
}

void Server::State::beat() {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, shared.options.beat_pause, [&] { return ending && lines.empty(); })) {
        // Without memory for the copy this round is skipped: clients tolerate several missing beats.
        const auto now = attempt([&]() -> Result<std::list<std::shared_ptr<ClientConnection>>> { return lines; });
        lock.unlock();
        if (now)
            for (const auto& line : *now) line->beat();
        lock.lock();
    }
}

Result<Server> Server::start(sys::Store& store, const std::string& listen, const ServerOptions& options) {
    FB_TRY_ASSIGN(key, key_of(options.token));
    if (!options.run.empty()) {
        FB_TRY(check_path(options.run, options.run));
        FB_TRY(sys::make_directories_durable(store, options.run));
    }
    FB_TRY_ASSIGN(listener, sys::Listener::open(listen));
    const auto state = std::make_shared<State>(store, options, key);
    state->listener = std::move(listener);
    Server server(state);  // its destructor ends the threads begun below
    const auto begun = [&]() -> Result<> {
        const std::lock_guard lock(state->mutex);
        FB_TRY(state->begin([](State& self) { self.listen(); }));
        return state->begin([](State& self) { self.beat(); });
    }();
    FB_TRY(begun);
    return server;
}

Server::Server(std::shared_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;

Server::~Server() {
    if (state_) stop();
}

std::uint16_t Server::port() const { return state_->listener.port(); }

std::size_t Server::clients() const {
    const std::lock_guard lock(state_->shared.mutex);
    return static_cast<std::size_t>(
        std::ranges::count_if(state_->shared.clients, [](const auto& client) { return !client.second.expired(); }));
}

Result<ReachableServer> start_reachable(sys::Store& store, const std::string& address, const ServerOptions& options) {
    FB_TRY_ASSIGN(hosts, sys::own_addresses(address));
    const bool is_single = !address.empty() && hosts.size() == 1;
    FB_TRY_ASSIGN(server, Server::start(store, is_single ? sys::with_port(hosts.front(), 0) : ":0", options));
    std::vector<std::string> addresses;
    for (const auto& host : hosts) addresses.push_back(sys::with_port(host, server.port()));
    return ReachableServer{std::move(server), std::move(addresses)};
}

bool Server::stop(std::chrono::milliseconds limit) {
    std::unique_lock lock(state_->mutex);
    state_->ending = true;
    state_->listener.shut();
    // Wakes the threads that wait for a buffer.
    state_->shared.pieces.end();
    // A request that has arrived whole is still carried out and answered.
    for (const auto& line : state_->lines) line->connection().shut(true);
    state_->changed.notify_all();
    return state_->changed.wait_for(lock, limit, [&] { return state_->threads == 0; });
}

}  // namespace forebay::forward
