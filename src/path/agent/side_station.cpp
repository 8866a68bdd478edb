#include "path/agent/side_station.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/attempt.hpp"

namespace forebay::agent {

namespace {

// The loop drains beside the thread.
class NoGate final : public move::Gate {
public:
    bool wanted() override { return false; }
    void pass() override {}
};

}  // namespace

SideStation::SideStation(Slots& slots, std::unique_ptr<InsituStation> station)
    : slots_(slots), station_(std::move(station)) {}

SideStation::~SideStation() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

Result<> SideStation::run(std::uint32_t slot, bool again, move::Gate& gate, const std::atomic<bool>& stop) {
    if (!thread_.runs()) {  // most sessions have no scripts
        auto started = sys::Thread::start([this] { keep(); });
        if (!started) return station_->run(slot, again, gate, stop);
        thread_ = std::move(*started);
    }
    const Job job{slot, slots_.control(slot).snapshot_id.load()};
    std::unique_lock lock(mutex_);
    if (!jobs_.empty()) {
        const auto& other = slots_.control(jobs_.front().slot);
        // Scripts give the lease back when they have read the slot, so the bit shows if they still read.
        const bool is_read = other.snapshot_id.load() == jobs_.front().save && (other.holds.load() & hold()) != 0;
        if (is_read) {
            const auto why = fmt::format("its scripts are at work on step {} of stream '{}'", other.step.load(),
                                         slots_.stream_name(jobs_.front().slot));
            lock.unlock();
            station_->leave_out(slot, why);
            return {};
        }
    }
    jobs_.push_back(job);
    lock.unlock();
    wake_.notify_all();
    return {};
}

bool SideStation::is_at_work(std::uint32_t slot) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(jobs_, slot, &Job::slot) != jobs_.end();
}

void SideStation::work(const Job& job) {
    if (slots_.control(job.slot).snapshot_id.load() != job.save) return;  // a save took the slot, and counted it
    NoGate gate;
    const auto ran = attempt([&] { return station_->run(job.slot, true, gate, stop_); });
    if (!ran && !stop_.load()) station_->leave_out(job.slot, ran.error().line());
}

void SideStation::keep() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return !jobs_.empty() || stop_.load(); });
        if (stop_.load()) break;
        const auto job = jobs_.front();
        lock.unlock();
        work(job);
        lock.lock();
        if (stop_.load()) break;
        // Under the lock: the loop must not find the bit of this save without a station at work.
        auto& control = slots_.control(job.slot);
        if (control.snapshot_id.load() == job.save) control.holds.fetch_and(~hold());
        jobs_.pop_front();
        node::ring(slots_.page().bell);
        node::ring(slots_.page().news);
    }
    lock.unlock();
    station_->leave();  // the worker would be killed with its thread
}

}  // namespace forebay::agent
