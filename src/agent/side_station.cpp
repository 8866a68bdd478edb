#include "agent/side_station.hpp"

#include <fmt/format.h>

#include "base/attempt.hpp"

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
    std::unique_lock lock(mutex_);
    if (const auto other = slot_) {
        lock.unlock();
        station_->leave_out(slot, fmt::format("its scripts are at work on step {} of stream '{}'",
                                              slots_.control(*other).step.load(), slots_.stream_name(*other)));
        return {};
    }
    slot_ = slot;
    lock.unlock();
    wake_.notify_all();
    return {};
}

bool SideStation::is_at_work(std::uint32_t slot) const {
    const std::lock_guard lock(mutex_);
    return slot_ == slot;
}

void SideStation::keep() {
    NoGate gate;
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return slot_ || stop_.load(); });
        if (!slot_ || stop_.load()) return;
        const auto slot = *slot_;
        lock.unlock();
        auto& control = slots_.control(slot);
        const auto save = control.snapshot_id.load();
        const auto ran = attempt([&] { return station_->run(slot, true, gate, stop_); });
        if (!ran && !stop_.load()) station_->leave_out(slot, ran.error().line());
        lock.lock();
        // Under the lock: the loop must not find the bit of this save without a station at work.
        if (!stop_.load() && control.snapshot_id.load() == save) control.holds.fetch_and(~station_->hold());
        slot_.reset();
        node::ring(slots_.page().bell);
        node::ring(slots_.page().news);
    }
}

}  // namespace forebay::agent
