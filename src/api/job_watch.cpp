#include "api/job_watch.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/attempt.hpp"
#include "base/error_text.hpp"
#include "base/try.hpp"
#include "catalog/names.hpp"
#include "sys/thread.hpp"

namespace forebay {

namespace {

// Two looks of one process a second are nothing to a file system, and a step is rarely shorter.
constexpr std::chrono::seconds job_look_pause{1};
constexpr std::chrono::seconds first_look_max{1}, end_max{1};

}  // namespace

struct JobWatch::State {
    std::mutex mutex;
    std::condition_variable changed;
    bool looked = false, ending = false, ended = false;
    Found found;

    void watch(sys::Store& target, const std::string& run);
};

namespace {

// Whether `path` is there now and was not when we could not remove it.
bool taken(sys::Store& store, const std::string& path, bool& stays, std::string& problem) {
    const auto there = store.exists(path);
    if (!there || !*there) {
        // What cannot be looked at is no request; a dead target is told by the saves.
        if (there) stays = false;
        return false;
    }
    if (const auto removed = store.remove(path); !removed) {
        problem =
            note_line(fmt::format("{} is obeyed, but cannot be removed: {}", path, removed.error().what), "remove it");
        return !std::exchange(stays, true);
    }
    return true;
}

}  // namespace

void JobWatch::State::watch(sys::Store& target, const std::string& run) {
    bool stop_stays = false, save_stays = false;
    std::unique_lock lock(mutex);
    while (!ending) {
        lock.unlock();
        std::string problem;
        bool stop = false, save = false;
        // A look without memory finds nothing; the next one may.
        static_cast<void>(attempt([&] {
            stop = taken(target, run + "/" + catalog::stop_request, stop_stays, problem);
            save = taken(target, run + "/" + catalog::save_request, save_stays, problem);
        }));
        lock.lock();
        found.stop |= stop;
        found.save |= save;
        if (stop || save) found.problem.swap(problem);
        looked = true;
        changed.notify_all();
        changed.wait_for(lock, job_look_pause, [&] { return ending; });
    }
    ended = true;
    changed.notify_all();
}

Result<JobWatch> JobWatch::start(std::shared_ptr<sys::Store> target, const std::string& run) {
    JobWatch watch;
    const auto state = std::make_shared<State>();
    FB_TRY_ASSIGN(thread, sys::Thread::start([target = std::move(target), run, state] { state->watch(*target, run); }));
    thread.leave();
    watch.state_ = state;
    std::unique_lock lock(state->mutex);
    state->changed.wait_for(lock, first_look_max, [&] { return state->looked; });
    return watch;
}

JobWatch::~JobWatch() {
    if (!state_) return;
    std::unique_lock lock(state_->mutex);
    state_->ending = true;
    state_->changed.notify_all();
    state_->changed.wait_for(lock, end_max, [&] { return state_->ended; });
}

JobWatch::Found JobWatch::take() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->found, {});
}

}  // namespace forebay
