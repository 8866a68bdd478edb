#include "bench/matrix/bench_directories.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "bench/place.hpp"
#include "core/base/try.hpp"
#include "core/sys/process.hpp"
#include "core/sys/thread.hpp"

namespace forebay::bench {

namespace {

// Other ranks may still make a few files before the signal reaches them.
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
                      const int signal = signals->wait();
                      removals->remove_all();
                      sys::EndSignals::end_by(signal);
                  }));
    thread.leave();
    return removals;
}

void SignalRemovals::add(const OwnPath& own) {
    const std::lock_guard lock(mutex_);
    own_.push_back(own);
}

void SignalRemovals::remove(const OwnPath& own) {
    const std::lock_guard lock(mutex_);
    std::erase_if(own_, [&](const auto& directory) { return directory.path == own.path; });
}

void SignalRemovals::remove_all() {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < removals_max && !own_.empty(); ++i) {
        std::erase_if(own_, [](const auto& own) { return remove_own(own).has_value(); });
        if (!own_.empty()) std::this_thread::sleep_for(removal_pause);
    }
}

Result<> BenchDirectories::make_in(Ranks& ranks, const std::string& directory, bool makes,
                                   OwnDirectory::Access access) {
    if (std::ranges::find(named_, directory) != named_.end()) return {};
    named_.push_back(directory);
    if (!makes || !victim_name_.empty()) return {};
    tell_leftovers(ranks, directory, true);
    FB_TRY_ASSIGN(own_directory, OwnDirectory::make(directory, id_, access));
    removals_->add(own_directory.own());
    created_.push_back(std::move(own_directory));
    return {};
}

Result<BenchDirectories> BenchDirectories::make(Ranks& ranks, const std::vector<RowResult>& rows,
                                                const std::string& victim, std::shared_ptr<SignalRemovals> removals) {
    BenchDirectories directories;
    directories.removals_ = std::move(removals);
    directories.default_target_ = ranks.broadcast(temporary_directory());
    directories.id_ = ranks.broadcast(new_bench_id());
    if (!victim.empty()) {
        directories.id_ = victim.substr(0, victim.find(':'));
        directories.victim_name_ = victim.substr(victim.find(':') + 1);
    }
    for (const auto& row : rows) {
        if (!row.skipped.empty()) continue;
        Result<> outcome;
        for (const auto& target : targets_of(row.setting, directories.default_target_))
            if (outcome) outcome = directories.make_in(ranks, target, ranks.rank() == 0, OwnDirectory::Access::open);
        if (outcome && row.setting.via == Via::forebay)
            outcome = directories.make_in(ranks, staging_of(row.setting), ranks.node().rank() == 0,
                                          OwnDirectory::Access::is_private);
        FB_TRY(ranks.agree(outcome));
    }
    return directories;
}

BenchDirectories::~BenchDirectories() {
    while (!created_.empty()) {
        const auto own = created_.back().own();
        created_.pop_back();  // removes it
        removals_->remove(own);
    }
}

TrialPlace BenchDirectories::place_of(const RowSetting& setting, const std::string& name) const {
    TrialPlace place{.name = victim_name_.empty() ? name : victim_name_, .is_victim = !victim_name_.empty()};
    for (const auto& target : targets_of(setting, default_target_)) place.targets.push_back(target + "/" + id_);
    place.staging = staging_of(setting) + "/" + id_;
    place.victim = id_ + ":" + place.name;
    return place;
}

}  // namespace forebay::bench
