#include "transfer/team/coordinator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/attempt.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/far_module.hpp"
#include "transfer/team/team_words.hpp"

namespace forebay::tree {

namespace {

// A progress bar is drawn ten times a second. Workers send counts with their beats.
constexpr std::chrono::milliseconds beat_pause{300};
// A worker with nothing to give away is asked again after this: short beside a directory of some hundred entries.
constexpr std::chrono::milliseconds rest_time{3};
// For a worker that asked for work itself. It may soon have much: at first all its threads are in one directory.
constexpr std::chrono::milliseconds hungry_rest_time{10};
// A dismissed worker has nothing to finish.
constexpr std::chrono::seconds dismissal_max{5};
// Time for workers to start, if no timeout is set.
constexpr std::chrono::seconds start_max{60};
// Log entries of work that may be repeated. Beyond this number they are reported early.
constexpr std::size_t unsettled_max = 10'000;

}  // namespace

Coordinator::Coordinator(TeamSetup setup)
    : setup_(std::move(setup)), team_(0, [this](TeamMessage message) {
          {
              const std::lock_guard lock(mutex_);
              own_.push_back(std::move(message));
          }
          setup_.port->wake();
      }) {
    const auto now = sys::Clock::now();
    for (std::size_t process = 0; process <= setup_.port->members(); ++process) {
        states_.push_back({.is_alive = true, .last_heard = now, .rests_until = now});
        members_.push_back({.name = process == 0 ? "this process" : setup_.port->name(process)});
    }
}

Coordinator::~Coordinator() {
    static_cast<void>(attempt([this] {
        if (thread_.runs()) finish(true);
        else if (!has_finished_) dismiss();
    }));
}

// No work has begun: ends the workers, so that none of them waits.
void Coordinator::dismiss() {
    for (std::size_t process = 1; process < states_.size(); ++process) {
        states_[process].has_answered = false;
        send(process, {.kind = TeamKind::end, .flags = 1});
    }
    const auto end = sys::Clock::now() + dismissal_max;
    while (!all_ended() && sys::Clock::now() < end) {
        const auto heard = setup_.port->hear(end);
        if (!heard) continue;
        auto& state = states_[heard->process];
        if (!heard->message || heard->message->kind == TeamKind::bye) state.has_answered = true;
        else if (heard->message->kind == TeamKind::hello) send(heard->process, {.kind = TeamKind::end, .flags = 1});
    }
}

Result<> Coordinator::begin(TeamOrder order) {
    order.processes = states_.size();
    if (setup_.threads > 0) order.threads = setup_.threads;
    const auto owner = sys::new_entry_owner();
    order.user = owner.user;
    order.group = owner.group;
    order.umask = owner.umask;
    order.settings = sys::told_settings();
    order.timeout_seconds = static_cast<std::uint64_t>(setup_.timeout.count());
    rate_ = order.options.rate_bytes_per_second;
    std::size_t waited_for = states_.size() - 1;
    const auto timeout = setup_.timeout.count() > 0 ? setup_.timeout : start_max;
    auto end = sys::Clock::now() + timeout;
    while (waited_for > 0 && sys::Clock::now() < end) {
        const auto heard = setup_.port->hear(end);
        if (!heard) continue;
        // A worker that fetches the list is alive: the timeout begins again.
        if (heard->message && heard->message->kind == TeamKind::list_ask) end = sys::Clock::now() + timeout;
        FB_TRY_ASSIGN(is_ready, hear_ready(*heard, order));
        if (is_ready) --waited_for;
    }
    for (std::size_t process = 1; process < states_.size(); ++process)
        if (states_[process].is_alive && !states_[process].has_answered)
            lose(process, fmt::format("it did not answer for {} s", timeout.count()));
    for (auto& state : states_) state.has_answered = false;
    return {};
}

// Returns true if the worker sends nothing more before the work begins.
Result<bool> Coordinator::hear_ready(const TeamPort::Heard& heard, TeamOrder& order) {
    auto& state = states_[heard.process];
    const auto& name = members_[heard.process].name;
    state.last_heard = sys::Clock::now();
    if (!heard.message && heard.message.error().kind == ErrorKind::unsupported)
        return with_context(heard.message.error(), fmt::format("{}: {}", name, heard.message.error().what),
                            "nothing was changed", "install the same forebay on all hosts");
    if (!heard.message) {
        lose(heard.process, heard.message.error().what);
        return true;
    }
    const auto& message = *heard.message;
    if (message.kind == TeamKind::hello) {
        if (message.text != setup_.version)
            return Error{ErrorKind::unsupported,
                         fmt::format("{} has forebay {}, and this process has {}", name, show_text(message.text),
                                     setup_.version),
                         "nothing was changed", "install the same forebay on all hosts"};
        order.process = heard.process;
        setup_.port->send(heard.process, message_of(order));
        return false;
    }
    if (message.kind == TeamKind::refused)
        return Error{ErrorKind::refused, fmt::format("{}: {}", name, show_text(message.text)), "nothing was copied",
                     message.path.empty() ? "mount the same file systems there, or leave this host out"
                                          : fmt::format("on {}: {}", name, show_text(message.path))};
    if (message.kind == TeamKind::list_ask && order.options.wished) {
        FB_TRY_ASSIGN(blocks, order.options.wished->blocks_from(message.number));
        setup_.port->send(heard.process, {.kind = TeamKind::list, .texts = std::move(blocks)});
        return false;
    }
    if (message.kind == TeamKind::ask)
        state.is_hungry = true;  // it waits for work, and other workers are not ready yet
    if (message.kind != TeamKind::ready) return false;
    state.has_answered = true;
    return true;
}

Result<> Coordinator::start(TeamWork work, std::function<void(const TeamMessage&)> settle) {
    settle_ = std::move(settle);
    team_.start(std::move(work));
    FB_TRY_ASSIGN(thread, sys::Thread::start([this] { run(); }));
    thread_ = std::move(thread);
    return {};
}

void Coordinator::finish(bool stops) {
    TeamMessage end{.kind = TeamKind::end, .flags = stops ? 1u : 0u};
    team_.say(end);
    thread_.join();
    has_finished_ = true;
    for (std::size_t process = 0; process < states_.size(); ++process) settle(process);
    team_.say_counts(TeamKind::counts);
    hear_own();
}

void Coordinator::run() {
    auto last_look = sys::Clock::now();
    while (!ends_ || !all_ended()) {
        auto heard = setup_.port->hear(next_look());
        hear_own();
        const auto now = sys::Clock::now();
        // If this process was stopped, the whole host or network may have been: all workers get a new timeout.
        if (now - last_look > sys::Clock::duration(setup_.timeout) / 2)
            for (auto& state : states_) state.last_heard = now;
        last_look = now;
        if (heard) {
            auto& state = states_[heard->process];
            if (!state.is_alive) continue;
            if (heard->message) state.last_heard = now;
            if (heard->message) hear(heard->process, std::move(*heard->message));
            else if (state.has_answered) state.is_alive = false;
            else lose(heard->process, heard->message.error().what);
        } else if (setup_.timeout.count() > 0) {
            // All messages so far are read: only a silent worker is still late.
            const auto oldest = now - setup_.timeout;
            for (std::size_t process = 1; process < states_.size(); ++process)
                if (states_[process].is_alive && !states_[process].has_answered && states_[process].last_heard < oldest)
                    lose(process, fmt::format("it was silent for {} s", setup_.timeout.count()));
        }
        for (std::size_t process = 1; process < states_.size(); ++process) replace_lost(process);
        feed();
        if (now >= next_beat_) beat();
    }
}

bool Coordinator::all_ended() const {
    return std::all_of(states_.begin() + 1, states_.end(),
                       [](const State& state) { return !state.is_alive || state.has_answered; });
}

sys::Clock::time_point Coordinator::next_look() const {
    const bool has_hungry = std::ranges::any_of(
        states_, [](const State& state) { return state.is_alive && state.is_hungry && !state.is_served; });
    return has_hungry && !ends_ ? std::min(next_beat_, sys::Clock::now() + rest_time) : next_beat_;
}

void Coordinator::hear_own() {
    while (true) {
        TeamMessage message;
        {
            const std::lock_guard lock(mutex_);
            if (own_.empty()) return;
            message = std::move(own_.front());
            own_.pop_front();
        }
        if (message.kind == TeamKind::end) {
            ends_ = true;
            for (std::size_t process = 1; process < states_.size(); ++process)
                if (states_[process].is_alive) setup_.port->send(process, message);
        } else {
            hear(0, std::move(message));
        }
    }
}

void Coordinator::hear(std::uint64_t from, TeamMessage message) {
    auto& state = states_[from];
    switch (message.kind) {
        case TeamKind::ask: state.is_hungry = true; return;
        case TeamKind::work_item: return pass_work_item(from, std::move(message));
        case TeamKind::steal_reply:
            state.is_asked = false;
            if (message.number > 0) state.is_hungry = false;
            else state.rests_until = sys::Clock::now() + (state.is_hungry ? hungry_rest_time : rest_time);
            if (message.process < states_.size()) states_[message.process].is_served = false;
            return;
        case TeamKind::done: return pass_done(from, std::move(message));
        case TeamKind::link_ask: {
            auto answers = links_.ask(from, message);
            return answers ? send(*answers) : settle_(message_of(answers.error()));
        }
        case TeamKind::link_published: return send(links_.published(message));
        case TeamKind::link_failed: return send(links_.failed(message));
        case TeamKind::log_entry:
            if (is_record(static_cast<EntryEvent>(message.number)))
                return settle_(message);  // true even if its worker is lost
            [[fallthrough]];
        case TeamKind::summed:
        case TeamKind::unkept: return keep_for_later(from, std::move(message));
        case TeamKind::bye:
        case TeamKind::counts: {
            const bool leaves = message.kind == TeamKind::bye;
            state.told_at = message.number;
            if (leaves && ends_) state.has_answered = true;
            members_[from].counts = message.numbers;
            message.process = from;
            settle_(message);
            // Without a report its work is done again.
            if (leaves && !ends_) {
                lose(from,
                     state.problem.empty() ? "it waited too long for this process, and has ended" : state.problem);
                state.last_heard = {};
            }
            return;
        }
        case TeamKind::listed:
        case TeamKind::name_pair:
        case TeamKind::deferred: message.process = from; return settle_(message);
        case TeamKind::failed:  // such as no room in TMPDIR
            state.problem = message.text;
            if (from != 0) message.text = members_[from].name + ": " + message.text;
            return settle_(message);
        default: return;
    }
}

Result<TeamMessage> Coordinator::link_of(const TeamMessage& asked) {
    FB_TRY_ASSIGN(answers, links_.ask(0, asked));
    return answers.front().second;
}

void Coordinator::send(std::uint64_t to, const TeamMessage& message) {
    if (to == 0) return team_.hear(message);
    if (states_[to].is_alive) setup_.port->send(to, message);
}

void Coordinator::send(const TeamLinks::Answers& answers) {
    for (const auto& [to, message] : answers) send(to, message);
}

void Coordinator::pass_work_item(std::uint64_t from, TeamMessage work_item) {
    const auto to = work_item.process;
    ++members_[from].items_given;
    if (to >= states_.size() || !states_[to].is_alive)
        // The receiver is gone: the item goes back to its sender at once.
        return send(from, {.kind = TeamKind::back, .process = to, .number = work_item.number});
    given_[{from, work_item.number}] = {.receiver = to};
    ++members_[to].items_taken;
    states_[to].is_hungry = false;
    work_item.process = from;
    send(to, work_item);
}

void Coordinator::pass_done(std::uint64_t from, TeamMessage done) {
    // Log entries of the item come before its end: now they are final.
    settle(from);
    const auto sender = done.process;
    const auto match = given_.find({sender, done.number});
    if (match == given_.end() || match->second.receiver != from) return;
    given_.erase(match);
    done.process = from;
    if (states_[sender].is_alive) send(sender, done);
    else give_back_lost();
}

void Coordinator::keep_for_later(std::uint64_t from, TeamMessage message) {
    auto& unsettled = states_[from].unsettled;
    message.process = from;
    unsettled.push_back(std::move(message));
    if (unsettled.size() >= unsettled_max) settle(from);
}

void Coordinator::settle(std::uint64_t from) {
    for (const auto& message : std::exchange(states_[from].unsettled, {})) settle_(message);
}

void Coordinator::lose(std::uint64_t process, const std::string& why) {
    auto& state = states_[process];
    state.is_alive = state.is_hungry = false;
    state.unsettled.clear();
    setup_.port->drop(process);
    members_[process].lost = why;
    setup_.say(
        fmt::format("{} is lost, and the remaining processes do its work: {}", members_[process].name, show_text(why)));
    if (state.is_asked) states_[state.asked_for].is_served = false;
    state.is_to_be_replaced = true;
}

// Passes the work of a lost worker on once it cannot work any more. If only the connection broke, it may live on and
// change the trees until its lease ends (TeamLease).
void Coordinator::replace_lost(std::uint64_t process) {
    auto& state = states_[process];
    if (!state.is_to_be_replaced || sys::Clock::now() < state.last_heard + setup_.timeout) return;
    state.is_to_be_replaced = false;
    for (auto& [key, given] : given_)
        if (given.receiver == process) given.is_lost = true;
    send(links_.lost(process));
    give_back_lost();
}

// The work of a lost worker is repeated only after all items that it gave away are done. So no two processes work in
// one directory while one of them thinks that the directory is new.
void Coordinator::give_back_lost() {
    for (bool goes_on = true; std::exchange(goes_on, false);)
        for (auto at = given_.begin(); at != given_.end();) {
            const auto& [key, given] = *at;
            const auto below = given_.lower_bound({given.receiver, 0});
            const bool has_below = below != given_.end() && below->first.first == given.receiver;
            if (!given.is_lost || has_below) {
                ++at;
                continue;
            }
            const auto [sender, number] = key;
            at = given_.erase(at);
            goes_on = true;
            if (states_[sender].is_alive) send(sender, {.kind = TeamKind::back, .number = number});
        }
}

// Asks one process after another for work for the idle workers.
void Coordinator::feed() {
    if (ends_) return;
    const auto now = sys::Clock::now();
    for (std::size_t hungry = 0; hungry < states_.size(); ++hungry) {
        if (!states_[hungry].is_alive || !states_[hungry].is_hungry || states_[hungry].is_served) continue;
        for (std::size_t turn = 0; turn < states_.size(); ++turn) {
            const auto donor = (next_donor_ + turn) % states_.size();
            auto& state = states_[donor];
            if (!state.is_alive || donor == hungry || state.is_asked || state.rests_until > now) continue;
            next_donor_ = donor + 1;
            state.is_asked = true;
            state.asked_for = hungry;
            states_[hungry].is_served = true;
            send(donor, {.kind = TeamKind::steal_request, .process = hungry});
            break;
        }
    }
}

void Coordinator::beat() {
    next_beat_ = sys::Clock::now() + beat_pause;
    // The rate limit is for the whole group. An idle worker keeps a share so that it can begin.
    std::uint64_t alive = 0, busy = 0;
    for (const auto& state : states_) {
        if (!state.is_alive) continue;
        ++alive;
        if (!state.is_hungry) ++busy;
    }
    for (std::size_t process = 0; process < states_.size(); ++process) {
        const auto parts = states_[process].is_hungry ? alive : std::max<std::uint64_t>(busy, 1);
        const auto rate = rate_ == 0 ? 0 : std::max<std::uint64_t>(rate_ / parts, 1);
        send(process, {.kind = TeamKind::beat, .number = rate, .numbers = {states_[process].told_at}});
    }
    team_.say_counts(TeamKind::counts);
}

}  // namespace forebay::tree
