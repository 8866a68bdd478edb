#include "drain/spool.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/attempt.hpp"
#include "base/units.hpp"
#include "format/packed.hpp"

namespace forebay::drain {

namespace {

// After an error, which is logged, it is tried again after this time.
constexpr std::chrono::seconds error_pause{10};

}  // namespace

std::string spool_stream(const std::string& directory, const std::string& host) {
    const auto dash = directory.rfind('-');
    return fmt::format("{}{}-{}", format::packed_prefix, host,
                       dash == std::string::npos ? std::string("0") : directory.substr(dash + 1));
}

SpoolKeeper::SpoolKeeper(sys::Store& store, const std::string& directory, const stage::SessionFile& session, Log log,
                         const SpoolPace& pace)
    : spool_(stage::spool_path(directory)),
      pace_(pace),
      log_(std::move(log)),
      packer_(store, spool_, session.run, spool_stream(directory, session.host)) {
    auto started = sys::Thread::start([this] { keep(); });
    if (started) thread_ = std::move(*started);
    else log_(fmt::format("the spool {} is packed when the agent ends: {}", spool_, started.error().text));
}

SpoolKeeper::~SpoolKeeper() {
    if (!thread_.runs()) return;
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void SpoolKeeper::keep() {
    std::unique_lock lock(mutex_);
    std::chrono::milliseconds pause = pace_.look;
    while (!wake_.wait_for(lock, pause, [this] { return ends_; })) {
        lock.unlock();
        const auto packed = attempt([this] { return pack(false); });
        pause = packed ? pace_.look : std::chrono::milliseconds(error_pause);
        if (!packed) log_(fmt::format("the spool {} is not packed: {}", spool_, packed.error().text));
        lock.lock();
    }
}

Result<> SpoolKeeper::pack(bool all) {
    FB_TRY_ASSIGN(there, look_at_spool(spool_));
    if (there.files == 0) {
        seen_ = false;
        return {};
    }
    const auto now = sys::Clock::now();
    if (!std::exchange(seen_, true)) first_seen_ = now;
    const bool due =
        all || there.files >= pace_.files || there.bytes >= pace_.bytes || now - first_seen_ >= pace_.wait_max;
    while (due) {
        FB_TRY_ASSIGN(packed, packer_.pack_batch());
        if (packed.files == 0) break;
        log_(
            fmt::format("{} files of the spool, {}, are packed and committed", packed.files, show_bytes(packed.bytes)));
        if (!all) break;
    }
    if (due) seen_ = false;
    return {};
}

Result<> SpoolKeeper::finish() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wake_.notify_all();
    thread_.join();
    return pack(true);
}

}  // namespace forebay::drain
