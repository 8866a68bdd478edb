// A helper that wakes late must not touch a finished job, whose data lie on the caller's stack. So it enters first:
// `inside_` counts the helpers inside, and has a bit that is set while the job is open. Entering is one exchange of
// both, and fails when the bit is gone.

#include "core/sys/crew.hpp"

#include <algorithm>
#include <vector>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"

namespace forebay::sys {

namespace {

constexpr std::uint32_t open_bit = 1u << 31;
// The kernel's wait needs a limit. A wake-up ends the sleep; after the limit the thread looks and sleeps again.
constexpr std::chrono::hours look_pause{1};

}  // namespace

Crew::Crew(std::uint32_t threads, const CpuSet& cpus) {
    if (threads <= 1) return;
    shortage_ = attempt([&] { return start(threads, cpus); });
    // A process at its limit needs threads for other work too, so half of the helpers end.
    if (!shortage_)
        for (auto stay = helpers_.size() / 2; helpers_.size() > stay;) end_last();
    threads_ = std::min(threads, static_cast<std::uint32_t>(helpers_.size()) + 1);
}

Result<> Crew::start(std::uint32_t threads, const CpuSet& cpus) {
    std::vector<int> list;
    for (unsigned cpu = 0; cpu < cpus_max; ++cpu)
        if (cpus[cpu]) list.push_back(static_cast<int>(cpu));
    if (list.empty()) return Error{ErrorKind::refused, "there is no CPU for copy threads"};
    for (std::uint32_t i = 0; i < threads; ++i) {
        // With 64 CPUs and 16 threads, each fourth CPU: neighbours share a way to memory.
        const auto at = threads <= list.size() ? i * list.size() / threads : i % list.size();
        auto& helper = helpers_.emplace_back();
        helper.cpu = list[at];
        const auto started = [&]() -> Result<> {
            FB_TRY_ASSIGN(thread, Thread::start([this, &helper] { help(helper); }));
            helper.thread = std::move(thread);
            return helper.thread.keep_on(CpuSet().set(static_cast<std::size_t>(helper.cpu)));
        }();
        if (started) continue;
        end_last();
        return started;
    }
    return {};
}

Crew::~Crew() {
    while (!helpers_.empty()) end_last();
}

void Crew::end_last() {
    auto& helper = helpers_.back();
    helper.ends = true;
    helper.turn.fetch_add(1);
    wake_all(helper.turn);
    helpers_.pop_back();  // joins
}

void Crew::wake_helpers(std::uint64_t count) {
    // Helpers on other CPUs first: a helper on this CPU would take turns with the caller.
    const int here = current_cpu();
    for (const bool beside : {false, true})
        for (auto& helper : helpers_) {
            if (count == 0) return;
            if ((helper.cpu == here) != beside) continue;
            helper.turn.fetch_add(1);
            wake_all(helper.turn);
            --count;
        }
}

void Crew::each(std::uint64_t count, std::uint32_t threads, const Job& job) {
    const auto wanted = std::min<std::uint64_t>({count, threads, threads_});
    if (wanted <= 1) {
        for (std::uint64_t i = 0; i < count; ++i) job.call(job.work, i);
        return;
    }
    job_ = job;
    count_ = count;
    next_.store(0);
    inside_.store(open_bit);
    wake_helpers(wanted - 1);
    take_pieces();
    // Closes the job for late helpers, then waits until the last helper has left it.
    auto left = inside_.fetch_and(~open_bit) & ~open_bit;
    for (; left != 0; left = inside_.load()) wait_on(inside_, left, look_pause);
}

void Crew::take_pieces() {
    for (auto i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) job_.call(job_.work, i);
}

void Crew::help(Helper& self) {
    for (std::uint32_t seen = 0;;) {
        while (self.turn.load() == seen) wait_on(self.turn, seen, look_pause);
        seen = self.turn.load();
        if (self.ends.load()) return;
        // Enters only while the job is open.
        auto state = inside_.load();
        while ((state & open_bit) != 0 && !inside_.compare_exchange_weak(state, state + 1)) {
        }
        if ((state & open_bit) == 0) continue;
        take_pieces();
        if (inside_.fetch_sub(1) == 1) wake_all(inside_);
    }
}

}  // namespace forebay::sys
