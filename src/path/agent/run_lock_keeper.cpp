#include "path/agent/run_lock_keeper.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/attempt.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/run_lock.hpp"

namespace forebay::agent {

void say_lost(node::Control& page, const Error& why) {
    if (page.lost.load() != 0) return;
    node::set_error(page.lost_text, why);
    page.lost.store(1, std::memory_order_release);
    node::ring(page.news);
}

RunLockKeeper::RunLockKeeper(sys::Store& store, node::Staging& staging, std::string run, Tell tell)
    : store_(store),
      staging_(staging),
      page_(staging.control()),
      run_(std::move(run)),
      tell_(std::move(tell)),
      count_(sys::random_u64()) {  // a killed agent may have used any number before
    if (page_.shows_life.load() == 0) return;
    auto started = sys::Thread::start([this] { keep(); });
    if (started) thread_ = std::move(*started);
    // Other hosts then see a dead session.
    else tell_({.what = What::not_renewed, .detail = started.error().line()});
}

RunLockKeeper::~RunLockKeeper() {
    if (page_.shows_life.load() == 0) return;
    {
        const std::lock_guard lock(mutex_);
        leaves_ = true;
    }
    wake_.notify_all();
    thread_.join();
    static_cast<void>(attempt([this] { look(); }));  // otherwise the next session watches it for a while
}

void RunLockKeeper::keep() {
    std::unique_lock lock(mutex_);
    do {
        lock.unlock();
        if (const auto looked = attempt([this] { look(); }); !looked)
            tell_({.what = What::not_looked_at, .detail = looked.error().line()});
        lock.lock();
    } while (!wake_.wait_for(lock, catalog::run_lock_renewal, [this] { return leaves_; }));
}

// An act that fails is tried again at the next look. A session that looked dead for too long is taken over, and this
// look notices it.
void RunLockKeeper::look() {
    const auto session = page_.session.load();
    if (session == 0 || ended_) return;
    if (page_.ending.load() != 0 || !staging_.application_lives()) {
        const auto ended = catalog::end_run_lock(store_, run_, session);
        ended_ = ended || ended.error().kind == ErrorKind::missing;
        return;
    }
    const auto renewed = catalog::renew_run_lock(store_, run_, session, ++count_);
    const auto later = catalog::claimed_after(store_, run_, session);
    if (later && *later) {
        const Error lost{
            ErrorKind::refused,
            fmt::format("{} has taken over run {} from this session, which is number {}", **later, run_, session),
            "all saves. Sealed snapshots are still drained", "end one of the two sessions"};
        say_lost(page_, lost);
        if (!std::exchange(is_told_, true)) tell_({.what = What::lost, .detail = lost.line()});
    } else if (!renewed && !std::exchange(is_told_, true)) {
        tell_({.what = What::not_renewed, .detail = renewed.error().line()});
    } else if (renewed) {
        is_told_ = false;
    }
}

}  // namespace forebay::agent
