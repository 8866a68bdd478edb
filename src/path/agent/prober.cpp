#include "path/agent/prober.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/page_buffer.hpp"
#include "core/base/try.hpp"

namespace forebay::agent {

namespace {

constexpr double good_ratio = 0.8;
constexpr int probes_until_good = 2, pause_doublings_max = 4;
constexpr std::size_t probe_writes = 4;
constexpr std::uint32_t probe_block_bytes = 1u << 20, probe_block_bytes_max = 4u << 20;
constexpr std::chrono::seconds probe_look{1};  // pause between two checks

}  // namespace

ProbePlan::ProbePlan(sys::Clock::time_point now, sys::Clock::duration after)
    : after_(after), pause_(after), probe_at_(now + after) {}

bool ProbePlan::probed(double ratio, sys::Clock::time_point now) {
    if (ratio < good_ratio) {
        passed_ = 0;
        pause_ = std::min(2 * pause_, after_ * (1 << pause_doublings_max));
        probe_at_ = now + pause_;
        return false;
    }
    // The second probe of a good target comes at once.
    probe_at_ = now;
    return ++passed_ >= probes_until_good;
}

Result<double> probe(sys::Store& store, const std::string& path, const std::optional<sys::Stripes>& stripes) {
    // A file gets its layout when it is created, so a file of an earlier probe must go.
    FB_TRY(store.remove(path));
    if (stripes) FB_TRY(store.make_striped(path, *stripes));
    const auto seconds = [&]() -> Result<double> {
        FB_TRY_ASSIGN(file, store.open(path, sys::Access::create_direct));
        PageBuffer memory;
        const auto block =
            memory.take(stripes ? std::min(stripes->stripe_bytes, probe_block_bytes_max) : probe_block_bytes);
        std::ranges::fill(block, std::byte{});
        const auto begin = sys::Clock::now();
        for (std::size_t i = 0; i < probe_writes; ++i) {
            FB_TRY(file->write(i * block.size(), block));
            FB_TRY(file->sync());
        }
        const std::chrono::duration<double> took = sys::Clock::now() - begin;
        FB_TRY(file->close());
        return took.count();
    }();
    static_cast<void>(store.remove(path));  // the next probe empties it
    return seconds;
}

struct Prober::Shared {
    explicit Shared(std::function<void()> of) : look(std::move(of)) {}

    const std::function<void()> look;
    std::mutex mutex;  // guards the members below
    std::condition_variable wake, done;
    bool ends = false, is_done = false;

    void keep() {
        std::unique_lock lock(mutex);
        while (!wake.wait_for(lock, probe_look, [this] { return ends; })) {
            lock.unlock();
            // Without the lock: `look` may hang, and the destructor must not wait for it.
            static_cast<void>(attempt([this] { look(); }));  // after an error it stays slow, and is probed later
            lock.lock();
        }
        is_done = true;
        done.notify_all();
    }
};

Prober::Prober(std::function<void()> look) : shared_(std::make_shared<Shared>(std::move(look))) {
    auto started = sys::Thread::start([shared = shared_] { shared->keep(); });
    if (started) thread_ = std::move(*started);  // without a thread slow targets stay avoided
}

Prober::~Prober() {
    if (!thread_.runs()) return;
    std::unique_lock lock(shared_->mutex);
    shared_->ends = true;
    shared_->wake.notify_all();
    const bool is_done = shared_->done.wait_for(lock, probe_end_max, [this] { return shared_->is_done; });
    lock.unlock();
    if (is_done) thread_.join();
    else thread_.leave();
}

}  // namespace forebay::agent
