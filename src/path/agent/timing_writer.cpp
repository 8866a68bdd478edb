#include "path/agent/timing_writer.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/sys/clock.hpp"

namespace forebay::agent {

namespace {

constexpr std::size_t one_write_bytes_max = 64u << 10;

}  // namespace

struct TimingWriter::Shared {
    Shared(std::shared_ptr<sys::Store> to, NodeFileOfRun of, Tell hearer)
        : store(std::move(to)), file(std::move(of)), tell(std::move(hearer)) {}

    const std::shared_ptr<sys::Store> store;
    NodeFileOfRun file;  // each batch sets its bytes_max
    std::mutex mutex;    // guards the members below
    Tell tell;           // empty: the agent has ended, nobody listens
    std::condition_variable wake, done;
    std::deque<std::pair<std::string, std::uint64_t>> waiting;
    bool ends = false, fails = false, is_done = false;

    sys::Clock::time_point last{};  // write

    void keep();
    std::string next_text();
    void tell_failure(const Error& error);
};

// Call it under the lock.
void TimingWriter::Shared::tell_failure(const Error& error) {
    if (!std::exchange(fails, true) && tell)
        tell({.what = What::untimed, .place = file.path(), .detail = error.line()});
}

// Takes as many batches as fit into one write. The file has room for them beside the batches that it must keep.
std::string TimingWriter::Shared::next_text() {
    std::string text;
    while (!waiting.empty() && (text.empty() || text.size() + waiting.front().first.size() <= one_write_bytes_max)) {
        text += waiting.front().first;
        file.bytes_max = waiting.front().second;
        waiting.pop_front();
    }
    return text;
}

void TimingWriter::Shared::keep() {
    std::unique_lock lock(mutex);
    while (true) {
        wake.wait(lock, [this] { return ends || !waiting.empty(); });
        wake.wait_until(lock, last + timings_pause,
                        [this] { return ends || waiting.size() >= timings_waiting_max / 2; });
        // Without `tell` the agent has ended, and finish() has left this thread behind.
        if (waiting.empty() || !tell) break;
        const auto text = next_text();
        lock.unlock();
        // Without the lock: a hanging target must not block put().
        const auto appended = attempt([&] { return append(*store, file, text); });
        lock.lock();
        last = sys::Clock::now();
        if (appended) fails = false;
        else tell_failure(appended.error());
    }
    is_done = true;
    done.notify_all();
}

TimingWriter::TimingWriter(std::shared_ptr<sys::Store> store, NodeFileOfRun file, Tell tell)
    : shared_(std::make_shared<Shared>(std::move(store), std::move(file), std::move(tell))) {
    auto started = sys::Thread::start([shared = shared_] { static_cast<void>(attempt([&] { shared->keep(); })); });
    if (started) thread_ = std::move(*started);
    else shared_->tell_failure(started.error());
}

TimingWriter::~TimingWriter() { finish(); }

void TimingWriter::put(std::string batch, std::uint64_t bytes_max) {
    const std::lock_guard lock(shared_->mutex);
    if (!thread_.runs() || shared_->ends) return;
    if (shared_->waiting.size() >= timings_waiting_max)
        return shared_->tell_failure({ErrorKind::full, "the target is slower than the timings arrive"});
    shared_->waiting.emplace_back(std::move(batch), bytes_max);
    shared_->wake.notify_all();
}

void TimingWriter::finish() {
    if (!thread_.runs()) return;
    std::unique_lock lock(shared_->mutex);
    shared_->ends = true;
    shared_->wake.notify_all();
    const bool is_done = shared_->done.wait_for(lock, timings_end_max, [this] { return shared_->is_done; });
    // A late thread must not call it: the agent may be gone.
    shared_->tell = {};
    lock.unlock();
    if (is_done) thread_.join();
    else thread_.leave();
}

}  // namespace forebay::agent
