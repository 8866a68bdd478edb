#include "bench/matrix/bench_directories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/try.hpp"
#include "bench/place.hpp"
#include "sys/machine.hpp"
#include "sys/private_file.hpp"
#include "sys/process.hpp"
#include "sys/store.hpp"
#include "sys/thread.hpp"

namespace forebay::bench {

namespace {

constexpr int end_signal = 15;  // whichever came, the shell is told of SIGTERM
constexpr const char* default_staging = "/dev/shm";
// Other ranks may still make a file or two while they hear of the signal.
constexpr int removals_max = 20;
constexpr std::chrono::milliseconds removal_pause{50};

std::vector<std::string> targets_of(const RowSetting& setting, const std::string& otherwise) {
    return setting.targets.empty() ? std::vector<std::string>{otherwise} : setting.targets;
}

std::string staging_of(const RowSetting& setting) {
    return setting.staging.empty() ? default_staging : setting.staging;
}

}  // namespace

Result<std::shared_ptr<SignalRemovals>> SignalRemovals::watch() {
    const auto removals = std::make_shared<SignalRemovals>();
    const auto signals = std::make_shared<sys::EndSignals>();
    FB_TRY_ASSIGN(thread, sys::Thread::start([removals, signals] {
                      signals->wait();
                      removals->remove_all();
                      sys::EndSignals::end_by(end_signal);
                  }));
    thread.leave();
    return removals;
}

void SignalRemovals::add(const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.push_back(path);
}

void SignalRemovals::remove(const std::string& path) {
    const std::lock_guard lock(mutex_);
    std::erase(paths_, path);
}

void SignalRemovals::remove_all() {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < removals_max && !paths_.empty(); ++i) {
        std::erase_if(paths_, [](const auto& path) { return sys::posix_store().remove_tree(path).has_value(); });
        if (!paths_.empty()) std::this_thread::sleep_for(removal_pause);
    }
}

Result<> BenchDirectories::make_in(const std::string& directory, bool makes, bool is_private) {
    if (std::ranges::find(named_, directory) != named_.end()) return {};
    named_.push_back(directory);
    if (!makes || !victim_name_.empty()) return {};
    const auto own = directory + "/" + id_;
    removals_->add(own);
    made_.push_back(own);
    return is_private ? sys::make_private_directory(own) : sys::posix_store().make_directories(own);
}

Result<BenchDirectories> BenchDirectories::make(Ranks& ranks, const std::vector<RowResult>& rows,
                                                const std::string& victim, std::shared_ptr<SignalRemovals> removals) {
    BenchDirectories directories;
    directories.removals_ = std::move(removals);
    directories.default_target_ = ranks.broadcast(temporary_directory());
    directories.id_ = ranks.broadcast(fmt::format("forebay-bench-{:016x}", sys::random_u64()));
    if (!victim.empty()) {
        directories.id_ = victim.substr(0, victim.find(':'));
        directories.victim_name_ = victim.substr(victim.find(':') + 1);
    }
    for (const auto& row : rows) {
        if (!row.skipped.empty()) continue;
        Result<> made;
        for (const auto& target : targets_of(row.setting, directories.default_target_))
            if (made) made = directories.make_in(target, ranks.rank() == 0, false);
        if (made && row.setting.via == Via::forebay)
            made = directories.make_in(staging_of(row.setting), ranks.node().rank() == 0, true);
        FB_TRY(ranks.agree(made));
    }
    return directories;
}

BenchDirectories::~BenchDirectories() {
    // At the end of a benchmark, after its figures: what stays is found by its name.
    for (const auto& path : made_)
        if (sys::posix_store().remove_tree(path)) removals_->remove(path);
}

TrialPlace BenchDirectories::place_of(const RowSetting& setting, const std::string& name) const {
    TrialPlace place{.name = victim_name_.empty() ? name : victim_name_, .is_victim = !victim_name_.empty()};
    for (const auto& target : targets_of(setting, default_target_)) place.targets.push_back(target + "/" + id_);
    place.staging = staging_of(setting) + "/" + id_;
    place.victim = id_ + ":" + place.name;
    return place;
}

}  // namespace forebay::bench
