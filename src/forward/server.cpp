#include "forward/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <list>
#include <thread>

#include "forward/service.hpp"
#include "forward/strangers.hpp"

namespace forebay::forward {

struct Server::State : std::enable_shared_from_this<Server::State> {
    State(sys::Store& store, const ServerOptions& options, const SipKey& its_key)
        : shop{.store = store, .options = options, .pieces = Pieces(options.pieces_max), .mutex = {}, .clients = {}},
          key(its_key),
          complaints(options.log) {}

    void listen();
    void beat();
    bool is_ending();
    void add(Guest guest);
    void serve_one(Line& line);
    template <class Work>
    void begin(Work work);

    Shop shop;
    const SipKey key;
    Complaints complaints;
    sys::Listener listener;
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    bool ending = false;
    std::list<std::shared_ptr<Line>> lines;
    int threads = 0;
};

// Detached: one that hangs in a dead mount cannot be joined. Each keeps the state as long as it runs.
template <class Work>
void Server::State::begin(Work work) {
    ++threads;
    try {
        std::thread([self = shared_from_this(), work] {
            work(*self);
            const std::lock_guard lock(self->mutex);
            --self->threads;
            self->changed.notify_all();
        }).detach();
    } catch (...) {
        --threads;
        throw;
    }
}

bool Server::State::is_ending() {
    const std::lock_guard lock(mutex);
    return ending;
}

void Server::State::listen() {
    Strangers strangers(listener, complaints, key, shop.options.greeting_max);
    while (!is_ending()) {
        std::string why;
        try {
            auto guests = strangers.turn();
            if (!guests) why = guests.error().text;
            else
                for (auto& guest : *guests) add(std::move(guest));
        } catch (const std::exception& thrown) {  // no memory, or no thread, now
            why = thrown.what();
        }
        if (why.empty()) continue;
        complaints.tell(fmt::format("a connection cannot be taken: {}", why));
        std::this_thread::sleep_for(limits::accept_pause);
    }
    complaints.tell_rest();
}

void Server::State::add(Guest guest) {
    const auto line = std::make_shared<Line>(std::move(guest));
    const std::lock_guard lock(mutex);
    if (ending) return;
    if (lines.size() >= limits::connections_max) {
        const auto why = fmt::format("there are {} connections of clients", lines.size());
        complaints.tell(fmt::format("{} was not let in: {}", line->connection().peer(), why));
        return static_cast<void>(
            send(line->connection(), Kind::answer, encode(refusal({ErrorKind::retry, why})), sys::Patience(0)));
    }
    lines.push_back(line);
    try {
        begin([line](State& self) { self.serve_one(*line); });
    } catch (...) {
        lines.pop_back();
        throw;
    }
}

void Server::State::serve_one(Line& line) {
    try {
        serve(shop, line);
    } catch (const std::exception& thrown) {
        shop.log(fmt::format("a connection of {} ends: {}", line.connection().peer(), thrown.what()));
    }
    const std::lock_guard lock(mutex);
    lines.remove_if([&](const auto& one) { return one.get() == &line; });
    line.connection().shut();  // the thread that beats may hold the Line for a moment longer
}

void Server::State::beat() {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, shop.options.beat_pause, [&] { return ending && lines.empty(); })) {
        const auto now = lines;
        lock.unlock();
        for (const auto& line : now) line->beat();
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
    const std::lock_guard lock(state->mutex);
    state->begin([](State& self) { self.listen(); });
    state->begin([](State& self) { self.beat(); });
    return Server(state);
}

Server::Server(std::shared_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;

Server::~Server() {
    if (state_) stop();
}

std::uint16_t Server::port() const { return state_->listener.port(); }

std::size_t Server::clients() const {
    const std::lock_guard lock(state_->shop.mutex);
    return static_cast<std::size_t>(
        std::ranges::count_if(state_->shop.clients, [](const auto& one) { return !one.second.expired(); }));
}

bool Server::stop(std::chrono::milliseconds limit) {
    std::unique_lock lock(state_->mutex);
    state_->ending = true;
    state_->listener.shut();
    state_->shop.pieces.end();
    // What has come in whole is carried out and answered.
    for (const auto& line : state_->lines) line->connection().shut(true);
    state_->changed.notify_all();
    return state_->changed.wait_for(lock, limit, [&] { return state_->threads == 0; });
}

}  // namespace forebay::forward
