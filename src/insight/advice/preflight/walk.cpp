#include "insight/advice/preflight/walk.hpp"

#include <algorithm>
#include <map>

#include "core/base/splitmix.hpp"
#include "path/telemetry/likelihood.hpp"

namespace forebay::advice {

namespace {

using telemetry::low_ratio;
using telemetry::median_of;

constexpr std::size_t first_probes = 3, probes_max = 20;
constexpr double slow_at = 6.90, good_at = -4.60;

void shuffle(std::vector<std::size_t>& order, std::uint64_t seed) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[splitmix(seed, i) % i]);
}

}  // namespace

SlowTest::SlowTest(std::vector<std::string> servers, std::size_t rates_of_each, std::uint64_t seed)
    : rates_of_each_(rates_of_each), seed_(seed), medians_(rates_of_each), low_shares_(rates_of_each) {
    for (auto& server : servers)
        subjects_.push_back({.server = std::move(server), .rates = std::vector<std::vector<double>>(rates_of_each)});
    for (std::size_t round = 0; round < first_probes; ++round) {
        std::vector<std::size_t> order(subjects_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        shuffle(order, splitmix(seed_, shuffles_++));
        // Round after round: no subject waits for its first probe while another gets its third.
        waiting_.insert(waiting_.end(), order.begin(), order.end());
    }
    if (subjects_.empty()) end_first_round();
}

std::optional<std::size_t> SlowTest::next() {
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
        auto& subject = subjects_[*at];
        if (subject.lost || subject.late) continue;
        // Two probes at once on one server would slow each other.
        if (std::ranges::find(busy_, subject.server) != busy_.end()) continue;
        const auto chosen = *at;
        waiting_.erase(at);
        busy_.push_back(subject.server);
        subject.probed_now = true;
        return chosen;
    }
    return std::nullopt;
}

void SlowTest::end_probe(Subject& subject) {
    if (subject.late) --lates_;
    else if (subject.probed_now) std::erase(busy_, subject.server);
    subject.probed_now = subject.late = false;
}

void SlowTest::late(std::size_t which) {
    auto& subject = subjects_[which];
    end_probe(subject);
    subject.late = true;
    ++lates_;
}

void SlowTest::took(std::size_t which, std::span<const double> rates) {
    auto& subject = subjects_[which];
    end_probe(subject);
    // A missing rate counts as 0, so as low.
    for (std::size_t i = 0; i < rates_of_each_; ++i) subject.rates[i].push_back(i < rates.size() ? rates[i] : 0);
    // The median needs the first probes of all subjects.
    if (first_round_) {
        if (waiting_.empty() && none_probed()) end_first_round();
    } else if (wants_more(subject)) {
        waiting_.push_back(which);
    }
}

void SlowTest::again(std::size_t which) {
    end_probe(subjects_[which]);
    waiting_.push_back(which);
}

void SlowTest::lost(std::size_t which) {
    auto& subject = subjects_[which];
    end_probe(subject);
    subject.lost = true;
    std::erase(waiting_, which);
    if (first_round_ && waiting_.empty() && none_probed()) end_first_round();
}

void SlowTest::end_first_round() {
    first_round_ = false;
    for (std::size_t i = 0; i < rates_of_each_; ++i) {
        std::vector<double> all;
        for (const auto& subject : subjects_)
            if (!subject.lost) all.insert(all.end(), subject.rates[i].begin(), subject.rates[i].end());
        medians_[i] = median_of(all);
        const auto low = std::ranges::count_if(all, [&](double rate) { return rate < low_ratio * medians_[i]; });
        low_shares_[i] = all.empty() ? 0 : static_cast<double>(low) / static_cast<double>(all.size());
    }
    for (std::size_t i = 0; i < subjects_.size(); ++i)
        if (wants_more(subjects_[i])) waiting_.push_back(i);
    shuffle(waiting_, splitmix(seed_, shuffles_++));
}

Decision SlowTest::standing_of(const Subject& subject, std::size_t which) const {
    const auto& rates = subject.rates[which];
    if (subject.lost || rates.size() < first_probes) return Decision::open;
    const double limit = low_ratio * medians_[which];
    const auto low =
        static_cast<std::uint64_t>(std::ranges::count_if(rates, [&](double rate) { return rate < limit; }));
    // Most subjects end here, after their first probes.
    if (low == 0) return Decision::good;
    // Too few subjects for the statistics: only clear cases count.
    if (subjects_.size() < telemetry::names_to_compare)
        return low == rates.size() && median_of(rates) < telemetry::small_ratio * medians_[which] ? Decision::slow
                                                                                                  : Decision::good;
    const double walk = telemetry::likelihood(low, rates.size() - low, low_shares_[which]);
    if (walk >= slow_at) return Decision::slow;
    if (walk <= good_at) return Decision::good;
    return rates.size() >= probes_max ? Decision::unclear : Decision::open;
}

// A subject that is slow by one rate needs no more probes; its other rates are judged by the probes so far.
bool SlowTest::wants_more(const Subject& subject) const {
    if (subject.lost || subject.rates.empty()) return false;
    bool open = false;
    for (std::size_t i = 0; i < rates_of_each_; ++i) {
        const auto standing = standing_of(subject, i);
        if (standing == Decision::slow) return false;
        open = open || standing == Decision::open;
    }
    return open;
}

bool SlowTest::done() const { return !first_round_ && waiting_.empty() && none_probed(); }

std::vector<SlowTest::Verdict> SlowTest::verdicts(std::size_t which) const {
    std::vector<double> medians;
    for (const auto& subject : subjects_)
        if (!subject.lost && !subject.rates[which].empty()) medians.push_back(median_of(subject.rates[which]));
    // The deviation takes logarithms.
    std::erase_if(medians, [](double rate) { return rate <= 0; });
    const double all = median_of(medians), deviation = telemetry::deviation_of(medians, all);
    std::vector<Verdict> verdicts;
    for (const auto& subject : subjects_) {
        const auto& rates = subject.rates[which];
        Verdict verdict{.standing = first_round_ ? Decision::open : standing_of(subject, which),
                        .rate = median_of(rates),
                        .probes = rates.size()};
        if (verdict.standing == Decision::open && !first_round_ && !subject.lost && rates.size() >= first_probes)
            verdict.standing = Decision::unclear;
        if (!rates.empty() && all > 0 && verdict.rate > 0) {
            verdict.ratio = verdict.rate / all;
            verdict.z = -std::log(verdict.ratio) / deviation;
        }
        verdicts.push_back(verdict);
    }
    return verdicts;
}

double SlowTest::median(std::size_t which) const {
    std::vector<double> rates;
    for (const auto& subject : subjects_)
        if (!subject.lost && !subject.rates[which].empty()) rates.push_back(median_of(subject.rates[which]));
    return median_of(rates);
}

std::uint64_t SlowTest::probes() const {
    std::uint64_t count = 0;
    for (const auto& subject : subjects_) count += subject.rates.empty() ? 0 : subject.rates.front().size();
    return count;
}

std::vector<std::string> SlowTest::slow_servers(std::size_t which) const {
    struct Count {
        std::size_t all = 0, slow = 0;
    };
    std::map<std::string, Count> servers;
    for (const auto& subject : subjects_) {
        auto& count = servers[subject.server];
        ++count.all;
        if (!first_round_ && standing_of(subject, which) == Decision::slow) ++count.slow;
    }
    std::vector<std::string> slow;
    for (const auto& [name, count] : servers)
        if (count.all >= 2 && count.slow >= 2 && count.slow * 2 >= count.all) slow.push_back(name);
    return slow;
}

}  // namespace forebay::advice
