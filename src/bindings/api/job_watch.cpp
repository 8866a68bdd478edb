#include "bindings/api/job_watch.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/attempt.hpp"
#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/thread.hpp"
#include "path/catalog/flagged.hpp"
#include "path/catalog/names.hpp"

namespace forebay {

namespace {

// Two looks of one process a second cost a file system nothing, and a step is rarely shorter.
constexpr std::chrono::seconds job_look_pause{1};
constexpr std::chrono::seconds first_look_max{1}, end_max{1};
// Another node finds the same condition at most seconds later, so a few are enough.
constexpr std::size_t remembered_max = 64;

}  // namespace

struct JobWatch::State {
    std::mutex mutex;
    std::condition_variable changed;
    bool looked = false, ending = false, ended = false;
    Found news;
    std::vector<format::Flagged> given;  // the newest
    std::size_t dropped = 0;             // how many of `given` are removed from the run

    void watch(sys::Store& target, const std::string& run);
};

namespace {

// True if `path` exists now, and is not an old request that could not be removed.
bool taken(sys::Store& store, const std::string& path, bool& stays, std::string& problem) {
    const auto there = store.exists(path);
    if (!there || !*there) {
        // A path that cannot be checked is no request. Saves report a dead target.
        if (there) stays = false;
        return false;
    }
    if (const auto removed = store.remove(path); !removed) {
        problem =
            note_line(fmt::format("{} was obeyed, but cannot be removed: {}", path, removed.error().what), "remove it");
        return !std::exchange(stays, true);
    }
    return true;
}

// Returns why a condition stays in the run.
std::string drop_all(sys::Store& store, const std::string& run, const std::vector<format::Flagged>& given) {
    std::string problem;
    // If memory is short, the conditions stay and the next session gets them again.
    static_cast<void>(attempt([&] {
        for (const auto& condition : given) {
            const auto dropped = catalog::drop_flagged(store, run, condition);
            if (!dropped)
                problem = note_line(
                    fmt::format("the condition {} stays in {}: {}", condition.text, run, dropped.error().what),
                    "the next session gets it again");
        }
    }));
    return problem;
}

}  // namespace

void JobWatch::State::watch(sys::Store& target, const std::string& run) {
    bool stop_stays = false, save_stays = false;
    std::unique_lock lock(mutex);
    while (!ending) {
        std::vector<format::Flagged> new_ones;
        static_cast<void>(attempt([&] {
            new_ones.assign(given.begin() + static_cast<std::ptrdiff_t>(dropped), given.end());
            dropped = given.size();
        }));
        // Unlocked while it looks: a look may hang, and take() must not.
        lock.unlock();
        auto stays = drop_all(target, run, new_ones);
        std::string problem;
        bool stop = false, save = false;
        // Without memory a look finds nothing. The next look may.
        static_cast<void>(attempt([&] {
            stop = taken(target, run + "/" + catalog::stop_request, stop_stays, problem);
            save = taken(target, run + "/" + catalog::save_request, save_stays, problem);
        }));
        lock.lock();
        news.stop |= stop;
        news.save |= save;
        if (stop || save) news.problem.swap(problem);
        if (!stays.empty()) news.problem.swap(stays);
        looked = true;
        changed.notify_all();
        changed.wait_for(lock, job_look_pause, [&] { return ending; });
    }
    // Once more for all: another node may have stored the same condition since.
    const auto all = std::exchange(given, {});
    lock.unlock();
    static_cast<void>(drop_all(target, run, all));
    lock.lock();
    ended = true;
    changed.notify_all();
}

Result<JobWatch> JobWatch::start(std::shared_ptr<sys::Store> target, const std::string& run) {
    JobWatch watch;
    const auto state = std::make_shared<State>();
    FB_TRY_ASSIGN(thread, sys::Thread::start([target = std::move(target), run, state] { state->watch(*target, run); }));
    // Left, not joined: the thread may hang in a dead mount. It shares the state.
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

void JobWatch::drop(const format::Flagged& flagged) {
    const std::lock_guard lock(state_->mutex);
    state_->given.push_back(flagged);
    if (state_->given.size() <= remembered_max) return;
    state_->given.erase(state_->given.begin());
    state_->dropped -= state_->dropped > 0 ? 1 : 0;
}

JobWatch::Found JobWatch::take() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->news, {});
}

}  // namespace forebay
