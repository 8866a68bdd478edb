#include "api/job_watch.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "catalog/names.hpp"

namespace forebay {

namespace {

// Two looks of one process a second are nothing to a file system, and a step is rarely shorter.
constexpr std::chrono::seconds look_pause{1};
constexpr std::chrono::seconds first_look_max{1}, end_max{1};

}  // namespace

struct JobWatch::State {
    std::mutex mutex;
    std::condition_variable changed;
    bool looked = false, ending = false, ended = false;
    Found found;
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
        problem = fmt::format("forebay: {} is obeyed, but cannot be removed: {}. Next: remove it.", path,
                              removed.error().text);
        return !std::exchange(stays, true);
    }
    return true;
}

}  // namespace

JobWatch::JobWatch(std::shared_ptr<sys::Store> target, const std::string& run) : state_(std::make_shared<State>()) {
    std::thread([target = std::move(target), run, state = state_] {
        bool stop_stays = false, save_stays = false;
        std::unique_lock lock(state->mutex);
        while (!state->ending) {
            lock.unlock();
            std::string problem;
            const bool stop = taken(*target, run + "/" + catalog::stop_request, stop_stays, problem);
            const bool save = taken(*target, run + "/" + catalog::save_request, save_stays, problem);
            lock.lock();
            state->found.stop |= stop;
            state->found.save |= save;
            if (stop || save) state->found.problem = problem;
            state->looked = true;
            state->changed.notify_all();
            state->changed.wait_for(lock, look_pause, [&] { return state->ending; });
        }
        state->ended = true;
        state->changed.notify_all();
    }).detach();
    std::unique_lock lock(state_->mutex);
    state_->changed.wait_for(lock, first_look_max, [&] { return state_->looked; });
}

JobWatch::~JobWatch() {
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
