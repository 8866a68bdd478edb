#include "path/agent/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/describe/storage_targets.hpp"
#include "core/sys/passing_store.hpp"
#include "core/sys/stripe_layout.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::agent {

namespace {

constexpr double low_ratio = 0.5, very_low_ratio = 0.25;
constexpr int lows_until_slow = 2;
constexpr std::size_t rates_kept = 8;
// A single write may have met a busy moment of the target.
constexpr std::uint64_t writes_judged_min = 3;
constexpr std::uint32_t stripe_bytes_unknown = 1u << 20;

std::optional<std::uint32_t> number_of(const std::string& name) {
    const auto parsed = describe::parse_storage_targets(name, "a target");
    if (name.empty() || !parsed || parsed->size() != 1) return {};
    return parsed->front();
}

class PlacedStore final : public sys::PassingStore {
public:
    PlacedStore(sys::Store& store, Placement& placement) : PassingStore(store), placement_(placement) {}

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        if (!sys::is_emptying(access) || !is_node_file(path)) return PassingStore::open(path, access);
        if (placement_.wants_default()) placement_.learn(default_stripes(path.substr(0, path.rfind('/'))));
        if (const auto wish = placement_.next()) {
            const auto outcome = make_striped(path, *wish);
            // Any other error is temporary: only this file lies where the file system puts it.
            if (!outcome && outcome.error().kind == ErrorKind::unsupported) placement_.give_up(outcome.error());
            return PassingStore::open(path, access);
        }
        auto file = PassingStore::open(path, access);
        if (file) placement_.learn((*file)->stripes());
        return file;
    }

private:
    Placement& placement_;
};

}  // namespace

bool is_node_file(std::string_view path) {
    const auto name = path.substr(path.rfind('/') + 1);
    return name.starts_with("node-") && name.find(".h5") != name.npos;
}

Placement::Placement(PlacementOptions options, Tell tell) : options_(std::move(options)), tell_(std::move(tell)) {}

bool Placement::excludes_in_vain() const {
    const std::lock_guard lock(alone_);
    return !options_.excluded.empty() && options_.targets.empty() && known_.empty();
}

void Placement::learn(const sys::StripeMap& map) {
    auto stripes = map.last();
    if (stripes.targets.empty()) {
        if (excludes_in_vain())
            give_up({ErrorKind::unsupported,
                     "agent.exclude_targets: this file system does not report the storage targets of a file"});
        return;
    }
    const std::lock_guard lock(alone_);
    known_.insert(stripes.targets.begin(), stripes.targets.end());
    usual_ = std::move(stripes);
}

void Placement::learn(const format::TimingBatch& batch) {
    std::vector<Event> events;
    {
        const std::lock_guard lock(alone_);
        node_ = batch.node;
        nodes_ = std::max(batch.nodes, 1u);
        std::map<std::uint32_t, double> rates;
        for (const auto& target : batch.targets) {
            const auto number = number_of(target.name);
            if (!number) continue;
            known_.insert(*number);
            if (target.writes >= writes_judged_min && target.busy_seconds > 0)
                rates[*number] = static_cast<double>(target.bytes) / target.busy_seconds;
        }
        // Compares with the other targets of this drain. If it wrote to only one or two, compares with the rates
        // before.
        for (const auto& [number, rate] : rates) {
            std::vector<double> others;
            for (const auto& [other, of_other] : rates)
                if (other != number) others.push_back(of_other);
            if (others.size() < 2)
                for (const auto& [other, before] : rates_)
                    if (other != number) others.insert(others.end(), before.begin(), before.end());
            if (const double usual = telemetry::median_of(others); usual > 0)
                judge(number, rate / usual, batch.step, events);
        }
        for (const auto& [number, rate] : rates) {
            auto& kept = rates_[number];
            kept.push_back(rate);
            if (kept.size() > rates_kept) kept.erase(kept.begin());
        }
    }
    // Without the lock: a sink may wait for storage.
    for (const auto& event : events) tell_(event);
}

void Placement::judge(std::uint32_t target, double ratio, std::int64_t step, std::vector<Event>& events) {
    auto& lows = low_in_a_row_[target];
    lows = ratio < low_ratio ? lows + 1 : 0;
    const bool is_slow = ratio < very_low_ratio || lows >= lows_until_slow;
    if (!options_.avoid_slow || given_up_ || !is_slow || slow_.contains(target)) return;
    slow_.emplace(target, ProbePlan(sys::Clock::now(), options_.probe_after));
    // If no target is left, the file system itself has become slow.
    if (candidates().empty()) return slow_.clear();
    events.push_back({.what = What::avoids,
                      .step = step,
                      .detail = fmt::format("storage target {} wrote step {} at {:.2f} of the usual rate",
                                            describe::storage_target_name(target), step, ratio)});
}

std::vector<std::uint32_t> Placement::candidates() const {
    std::vector<std::uint32_t> all = options_.targets;
    if (all.empty()) all.assign(known_.begin(), known_.end());
    std::erase_if(all, [&](std::uint32_t target) {
        return slow_.contains(target) || std::ranges::find(options_.excluded, target) != options_.excluded.end();
    });
    return all;
}

std::uint32_t Placement::stripe_bytes() const {
    if (usual_.stripe_bytes > 0) return usual_.stripe_bytes;
    return default_.stripe_bytes > 0 ? default_.stripe_bytes : stripe_bytes_unknown;
}

bool Placement::wants_default() const {
    const std::lock_guard lock(alone_);
    return !knows_default_ && !given_up_ && (!options_.targets.empty() || !options_.excluded.empty());
}

void Placement::learn(const std::optional<sys::StripeDefault>& defaults) {
    const std::lock_guard lock(alone_);
    knows_default_ = true;
    if (defaults) default_ = *defaults;
}

// Files of all nodes go round the targets without a gap: node 2 of 8 nodes, in its turn 3 with 4 stripes per file,
// begins at stripe (3 x 8 + 2) x 4 of that round. With 20,000 files of one stripe, no target of 156 gets more than
// 1.006 of the mean.
std::optional<sys::Stripes> Placement::next() {
    std::vector<Event> events;
    auto wish = next(events);
    for (const auto& event : events) tell_(event);
    return wish;
}

std::optional<sys::Stripes> Placement::next(std::vector<Event>& events) {
    const std::lock_guard lock(alone_);
    events = std::exchange(to_tell_, {});
    const bool has_reason = !options_.targets.empty() || !options_.excluded.empty() || !slow_.empty();
    if (!has_reason || given_up_) return {};
    const auto from = candidates();
    if (from.empty()) return {};
    // As many stripes as files get by default.
    const auto wanted = usual_.targets.empty() ? default_.count : usual_.targets.size();
    const auto count = std::clamp<std::size_t>(wanted, 1, from.size());
    const std::uint64_t begin = (turn_++ * nodes_ + node_) * count;
    return sys::Stripes{stripe_bytes(), sys::targets_in_turn(from, begin, count)};
}

void Placement::give_up(const Error& why) {
    {
        const std::lock_guard lock(alone_);
        if (std::exchange(given_up_, true)) return;
        slow_.clear();
    }
    tell_({.what = What::unplaced, .detail = why.line()});
}

std::optional<Placement::ProbePair> Placement::due(sys::Clock::time_point now) {
    const std::lock_guard lock(alone_);
    const auto good = candidates();
    if (good.empty() || given_up_) return {};
    for (const auto& [target, plan] : slow_)
        if (plan.is_due(now)) return ProbePair{target, good.front(), stripe_bytes()};
    return {};
}

void Placement::probed(std::uint32_t target, double ratio, sys::Clock::time_point now) {
    const std::lock_guard lock(alone_);
    const auto slow = slow_.find(target);
    if (slow == slow_.end() || !slow->second.probed(ratio, now)) return;
    slow_.erase(slow);
    // The rates of the slow time do not count any more.
    low_in_a_row_.erase(target);
    rates_.erase(target);
    to_tell_.push_back({.what = What::uses_again,
                        .detail = fmt::format("storage target {} has {:.2f} of the rate of another target",
                                              describe::storage_target_name(target), ratio)});
}

std::vector<std::uint32_t> Placement::slow() const {
    const std::lock_guard lock(alone_);
    std::vector<std::uint32_t> targets;
    for (const auto& [target, about] : slow_) targets.push_back(target);
    return targets;
}

std::unique_ptr<sys::Store> placed(sys::Store& store, Placement& placement) {
    return std::make_unique<PlacedStore>(store, placement);
}

void probe_one(sys::Store& store, const std::string& directory, Placement& placement) {
    const auto pair = placement.due(sys::Clock::now());
    if (!pair) return;
    const auto path = sys::temporary_beside(directory + "/probe");
    const auto good = probe(store, path, sys::Stripes{pair->stripe_bytes, {pair->good}});
    const auto slow = good ? probe(store, path, sys::Stripes{pair->stripe_bytes, {pair->slow}}) : good;
    placement.probed(pair->slow, good && slow && *slow > 0 ? *good / *slow : 0, sys::Clock::now());
}

}  // namespace forebay::agent
