#include "path/agent/status_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/run.hpp"
#include "path/telemetry/metrics.hpp"

namespace forebay::agent {

namespace {

using node::SlotState;
using std::chrono::milliseconds;

format::SlotStatus status_of_slot(const node::SlotControl& slot) {
    const auto state = slot.state.load(std::memory_order_acquire);
    format::SlotStatus status{.state = node::name_of(state)};
    // A slot that is being filled has no known contents before its seal.
    if (state == SlotState::empty || state == SlotState::filling) return status;
    status.step = slot.step.load();
    status.bytes = slot.file_bytes.load();
    status.sealed_unix_ns = slot.sealed_unix_ns.load();
    if (state == SlotState::draining) status.drained_bytes = std::min(slot.drained_bytes.load(), status.bytes);
    if (state == SlotState::drained || state == SlotState::committed) status.drained_bytes = status.bytes;
    return status;
}

bool waits_to_drain(const format::SlotStatus& slot) {
    return slot.state == "sealed" || slot.state == "draining" || slot.state == "failed";
}

// One write of 4096 bytes over the old status, so the file never has another size.
Result<> write_status(sys::Store& store, const NodeFileOfRun& file, const std::string& text) {
    FB_TRY(catalog::check_identity(store, file.run, file.run_id));
    FB_TRY_ASSIGN(open, store.open(file.path(), sys::Access::update));
    FB_TRY(open->write(0, bytes_of(text)));
    return open->close();
}

// A collector that reads now finds the old file or the new file. A power cut may lose both.
Result<> write_metrics(const std::string& path, const format::StatusLine& line, const std::string& run) {
    auto& store = sys::posix_store();
    telemetry::Summary none;
    none.run = run;
    const auto text = telemetry::metrics_text(none, {line});
    const auto temporary = sys::temporary_beside(path);
    const auto written = [&]() -> Result<> {
        FB_TRY_ASSIGN(open, store.open(temporary, sys::Access::create));
        FB_TRY(open->write(0, bytes_of(text)));
        FB_TRY(open->close());
        return store.rename(temporary, path);
    }();
    if (!written) static_cast<void>(store.remove(temporary));
    return written;
}

}  // namespace

milliseconds StatusPace::period(std::uint32_t nodes) const {
    return std::max(least, milliseconds(std::int64_t{1000} * nodes / files_per_second));
}

format::StatusLine status_of(const node::Control& page) {
    format::StatusLine line{.unix_ns = sys::unix_ns()};
    line.session = page.session.load();
    line.nodes = page.nodes.load();
    line.job_ends_unix_ns = page.job_ends_unix_ns.load();
    line.counts = describe::plain(page.counts);
    const auto streams = std::min(page.stream_count.load(std::memory_order_acquire), node::streams_max);
    for (std::uint32_t i = 0; i < streams; ++i) {
        const auto& stream = page.streams[i];
        line.streams.push_back({.name = stream.name.data(), .counts = describe::plain(stream.counts)});
    }
    const auto slots = std::min(page.slot_count.load(std::memory_order_acquire), node::slots_max);
    for (std::uint32_t i = 0; i < slots; ++i) {
        const auto& slot = page.slots[i];
        // The stream may have been added after the count was read.
        if (slot.stream >= streams) continue;
        const auto status = status_of_slot(slot);
        if (waits_to_drain(status)) line.counts.backlog_bytes += status.bytes - status.drained_bytes;
        line.streams[slot.stream].slots.push_back(status);
    }
    return line;
}

struct StatusWriter::Shared {
    Shared(std::shared_ptr<sys::Store> to, node::Staging& from, StatusOf whose, Tell hearer, const StatusPace& at)
        : store(std::move(to)), of(std::move(whose)), pace(at), tell(std::move(hearer)), staging(&from) {}

    const std::shared_ptr<sys::Store> store;
    const StatusOf of;
    const StatusPace pace;
    const Tell tell;
    const std::int64_t began_unix_ns = sys::unix_ns();

    std::mutex mutex;  // guards the members below
    std::condition_variable wake, done;
    node::Staging* staging;  // null: the agent has ended, so page and `tell` are gone
    bool soon = false, fails = false, metrics_fail = false, is_done = false;
    std::string last_error = {}, why = {};
    std::string last_state = {};  // not empty: the last status must be written
    milliseconds next{0};         // after it
    std::uint64_t bytes_before = 0;
    sys::Clock::time_point last = sys::Clock::now();

    milliseconds period() const { return pace.period(staging->control().nodes.load()); }
    format::StatusLine line();
    void keep();
    void write(std::unique_lock<std::mutex>& lock);
    void tell_change(bool& fails_now, const Result<>& written, const std::string& path);
};

// Call it under the lock: the page exists as long as `staging` is not null.
format::StatusLine StatusWriter::Shared::line() {
    auto status = status_of(staging->control());
    status.period_seconds = std::chrono::duration<double>(next.count() > 0 ? next : period()).count();
    status.host = of.file.host;
    status.virtual_node = of.file.virtual_node;
    status.agent = of.agent;
    status.state = last_state.empty() ? "serving" : last_state;
    status.application_lives = staging->application_lives();
    status.began_unix_ns = of.began_unix_ns > 0 ? of.began_unix_ns : began_unix_ns;
    status.last_error = last_error;
    status.why = why;
    // Running drains count too: a drain may take minutes.
    auto bytes = status.counts.bytes_drained;
    for (const auto& stream : status.streams)
        for (const auto& slot : stream.slots)
            if (slot.state == "draining") bytes += slot.drained_bytes;
    const auto now = sys::Clock::now();
    const double seconds = std::chrono::duration<double>(now - last).count();
    if (bytes > bytes_before && seconds > 0 && last_state.empty())
        status.counts.rate_bytes_per_second = static_cast<double>(bytes - bytes_before) / seconds;
    bytes_before = bytes;
    last = now;
    return status;
}

void StatusWriter::Shared::tell_change(bool& fails_now, const Result<>& written, const std::string& path) {
    if (!written && !std::exchange(fails_now, true) && staging != nullptr)
        tell({.what = What::unshown, .place = path, .detail = written.error().line()});
    if (written) fails_now = false;
}

void StatusWriter::Shared::write(std::unique_lock<std::mutex>& lock) {
    soon = false;
    const auto written_line = line();
    lock.unlock();
    // Without the lock: the target may hang, and end() must not wait for it.
    const auto written = attempt([&] { return write_status(*store, of.file, format::encode(written_line)); });
    const auto counted = attempt([&]() -> Result<> {
        if (of.metrics_path.empty()) return {};
        if (written_line.state == "serving") return write_metrics(of.metrics_path, written_line, of.file.run);
        return sys::posix_store().remove(of.metrics_path);
    });
    lock.lock();
    tell_change(fails, written, of.file.path());
    tell_change(metrics_fail, counted, of.metrics_path);
}

void StatusWriter::Shared::keep() {
    std::unique_lock lock(mutex);
    const auto ends = [this] { return !last_state.empty() || staging == nullptr; };
    // Agents of a large job begin together, so each writes its first status at a random moment of the period.
    auto due = sys::Clock::now();
    if (staging != nullptr && period() > pace.least)
        due += milliseconds(sys::random_u64() % static_cast<std::uint64_t>(period().count()));
    for (bool is_last = false; !is_last && staging != nullptr;) {
        wake.wait_until(lock, due, [&] { return soon || ends(); });
        // An error is shown soon, but errors do not make it write all the time.
        if (staging != nullptr && soon) wake.wait_until(lock, std::min(due, last + period() / 4), ends);
        if (staging == nullptr) break;
        is_last = !last_state.empty();
        write(lock);
        if (staging != nullptr) due = sys::Clock::now() + period();
    }
    is_done = true;
    done.notify_all();
}

StatusWriter::StatusWriter(std::shared_ptr<sys::Store> store, node::Staging& staging, StatusOf of, Tell tell,
                           const StatusPace& pace, const std::string& only) {
    of.file.name = "status";
    of.file.ending = "json";
    shared_ = std::make_shared<Shared>(std::move(store), staging, std::move(of), std::move(tell), pace);
    shared_->last_state = only;
    auto started = sys::Thread::start([shared = shared_] { static_cast<void>(attempt([&] { shared->keep(); })); });
    if (started) thread_ = std::move(*started);
    else shared_->tell_change(shared_->fails, started.error(), shared_->of.file.path());
}

StatusWriter::~StatusWriter() { end("left"); }

void StatusWriter::hear(const Event& event) {
    const std::lock_guard lock(shared_->mutex);
    if (event.what == What::slow) shared_->why = event.detail;
    if (event.what != What::failed && event.what != What::lost && event.what != What::set_aside) return;
    shared_->last_error = event.detail;
    shared_->soon = true;
    shared_->wake.notify_all();
}

void StatusWriter::end(const std::string& state, milliseconds next) {
    if (!thread_.runs()) return;
    std::unique_lock lock(shared_->mutex);
    if (shared_->last_state.empty()) shared_->last_state = state;
    shared_->next = next;
    shared_->wake.notify_all();
    const bool is_done = shared_->done.wait_for(lock, shared_->pace.end_max, [this] { return shared_->is_done; });
    // From here on a late thread uses neither the page nor `tell`.
    shared_->staging = nullptr;
    lock.unlock();
    if (is_done) thread_.join();
    else thread_.leave();
}

}  // namespace forebay::agent
