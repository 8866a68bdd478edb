// The rule. A target is slow when
//   - its ratio is below 0.8, and further away than 3.5 median absolute deviations: where each file lies on one
//     target the ratio of its completion, else that of its files' rates, since a file is as late as the slowest of
//     its targets;
//   - the rates of its files speak for it one by one (telemetry/slow.hpp);
//   - and with 64 files or more, files are the slower the more of them lies there: Pearson's correlation is so far
//     below 0 that chance brings it about once in 30,000 targets.
//
// Of several such targets that with the lowest correlation is named, and the others are looked at again without the
// files that have a part on it: with four stripes from OST 3 on, OST 4 has three quarters of its files in common with
// OST 3.

#include "insight/report/darshan_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "path/telemetry/median.hpp"
#include "path/telemetry/slow.hpp"

namespace forebay::report {

namespace {

constexpr double low_ratio = 0.8, far_z = 3.5;
constexpr std::size_t many_files = 64;
constexpr double chance_deviations = 4;  // of a correlation of nothing, which spreads by 1 / sqrt(files)
constexpr double mad_to_deviation = 1.4826, deviation_min = 0.02;
// Smaller files, as logs of a job are, say how long calls take, not how fast targets write.
constexpr double small_share = 0.1;
constexpr double seconds_min = 1e-6;  // of a write: clocks have no less

// From the first write of a file to the end of its last one. Between files nothing is written, maybe for hours.
class Windows {
public:
    void add(double first, double last) { windows_.emplace_back(first, last); }
    /// In which at least one file was written.
    double seconds() const {
        auto sorted = windows_;
        std::ranges::sort(sorted);
        double sum = 0, end = 0;
        for (const auto& [first, last] : sorted) {
            sum += std::max(last - std::max(first, end), 0.0);
            end = std::max(end, last);
        }
        return sum;
    }

private:
    std::vector<std::pair<double, double>> windows_;
};

struct Gathered {
    double bytes = 0;
    Windows windows;
    std::vector<double> rates;                // of its files
    double share_sum = 0, share_squares = 0;  // over all files: 0 of those elsewhere
    double product_sum = 0;                   // of share and rate
};

double rate_of(const DarshanFile& file) {
    const double seconds = file.seconds > 0 ? file.seconds : file.last - file.first;
    return (static_cast<double>(file.written) + static_cast<double>(file.read)) / std::max(seconds, seconds_min);
}

// Half of all bytes lie in files that are smaller than this.
double median_size(const std::vector<const DarshanFile*>& files) {
    std::vector<double> sizes;
    double sum = 0, below = 0;
    for (const auto* const file : files) sum += sizes.emplace_back(static_cast<double>(file->written));
    std::ranges::sort(sizes);
    for (const auto size : sizes)
        if ((below += size) >= sum / 2) return size;
    return 0;
}

// One look at files, all of one mount.
class TargetLook {
public:
    explicit TargetLook(const std::vector<const DarshanFile*>& files) {
        for (const auto* const file : files) add(*file);
        for (const auto& [number, one] : gathered_) targets_.push_back(target_of(number, one));
        compare();
        const auto slow_files = slow_by_files();
        for (auto& target : targets_) {
            const bool agrees = rates_.size() < many_files ||
                                target.correlation < -chance_deviations / std::sqrt(static_cast<double>(rates_.size()));
            target.is_slow = is_told_apart() && judged(target) < low_ratio && target.z > far_z && agrees &&
                             slow_files.contains(fmt::to_string(target.number));
        }
    }

    std::vector<DarshanTarget>& targets() { return targets_; }
    bool is_told_apart() const { return parts_ < rates_.size() * targets_.size(); }
    bool is_on_one() const { return is_on_one_; }
    double median_rate() const { return median_rate_; }
    double bytes() const { return bytes_; }
    double seconds() const { return windows_.seconds(); }
    double judged(const DarshanTarget& target) const { return is_on_one_ ? target.ratio : target.file_ratio; }

private:
    void add(const DarshanFile& file) {
        const double rate = rate_of(file), count = static_cast<double>(file.targets.size());
        const double written = static_cast<double>(file.written);
        std::map<std::uint32_t, double> shares;  // a target may have several stripes
        for (const auto target : file.targets) shares[target] += 1 / count;
        for (const auto& [target, share] : shares) {
            auto& one = gathered_[target];
            one.windows.add(file.first, file.last);
            one.bytes += share * written;
            one.rates.push_back(rate);
            one.share_sum += share;
            one.share_squares += share * share;
            one.product_sum += share * rate;
        }
        windows_.add(file.first, file.last);
        bytes_ += written;
        rates_.push_back(rate);
        is_on_one_ &= shares.size() == 1;
        parts_ += shares.size();
    }

    DarshanTarget target_of(std::uint32_t number, const Gathered& one) const {
        const double seconds = one.windows.seconds();
        return {.number = number,
                .files = one.rates.size(),
                .bytes = one.bytes,
                .seconds = seconds,
                .rate = one.bytes / std::max(seconds, seconds_min),
                .file_ratio = telemetry::median_of(one.rates) / telemetry::median_of(rates_),
                .correlation = correlation_of(one)};
    }

    double correlation_of(const Gathered& one) const {
        const double n = static_cast<double>(rates_.size());
        double mean = 0, spread = 0;
        for (const auto rate : rates_) mean += rate / n;
        for (const auto rate : rates_) spread += (rate - mean) * (rate - mean);
        const double shares = one.share_squares - one.share_sum * one.share_sum / n;
        const double together = one.product_sum - one.share_sum * mean;
        return spread <= 0 || shares <= 0 ? 0 : std::clamp(together / std::sqrt(spread * shares), -1.0, 1.0);
    }

    // Ratios to the median of targets, and how far they are away from it.
    void compare() {
        std::vector<double> rates, ratios, distances;
        for (const auto& target : targets_) rates.push_back(target.rate);
        median_rate_ = telemetry::median_of(rates);
        for (auto& target : targets_) {
            target.ratio = median_rate_ > 0 ? target.rate / median_rate_ : 1;
            ratios.push_back(judged(target));
        }
        const double median = telemetry::median_of(ratios);
        for (const auto ratio : ratios) distances.push_back(std::abs(ratio - median));
        const double deviation =
            std::max({mad_to_deviation * telemetry::median_of(distances), deviation_min * median, 1e-12});
        for (auto& target : targets_) target.z = (median - judged(target)) / deviation;
    }

    std::set<std::string> slow_by_files() const {
        std::vector<telemetry::RateSample> samples;
        for (const auto& [number, one] : gathered_)
            for (const auto rate : one.rates) samples.push_back({fmt::to_string(number), rate});
        std::set<std::string> names;
        for (const auto& slow : telemetry::slow_ones(samples)) names.insert(slow.name);
        return names;
    }

    std::map<std::uint32_t, Gathered> gathered_;
    std::vector<DarshanTarget> targets_;
    std::vector<double> rates_;  // of files
    Windows windows_;
    double bytes_ = 0, median_rate_ = 0;
    bool is_on_one_ = true;    // each file on one target
    std::uint64_t parts_ = 0;  // of each file, on how many targets
};

// All bytes on the other targets, as fast as the slowest of these was. Files on several targets would all be as fast as
// those without a part on a slow one.
void predict(DarshanMount& mount, bool is_on_one) {
    double kept_bytes = 0, kept_seconds = 0, slow_ratio = 1;
    std::vector<double> kept_ratios;
    for (const auto& target : mount.targets) {
        if (target.is_slow) {
            slow_ratio = std::min(slow_ratio, target.file_ratio);
            continue;
        }
        mount.kept.push_back(target.number);
        kept_bytes += target.bytes;
        kept_seconds = std::max(kept_seconds, target.seconds);
        kept_ratios.push_back(target.file_ratio);
    }
    std::ranges::sort(mount.kept);
    if (mount.kept.size() == mount.targets.size() || kept_bytes <= 0) return;
    mount.seconds_without = is_on_one ? kept_seconds * mount.bytes / kept_bytes
                                      : mount.seconds * slow_ratio / telemetry::median_of(kept_ratios);
}

void judge(DarshanMount& mount, std::vector<const DarshanFile*> files) {
    mount.files = files.size();
    TargetLook first(files);
    mount.bytes = first.bytes();
    mount.seconds = first.seconds();
    mount.median_rate = first.median_rate();
    mount.is_told_apart = first.is_told_apart();
    std::map<std::uint32_t, DarshanTarget> slow, others;
    for (const auto& target : first.targets()) others[target.number] = target;
    const auto most = others.size() / 2;
    for (auto look = first; slow.size() < most; look = TargetLook(files)) {
        const DarshanTarget* lowest = nullptr;
        for (const auto& target : look.targets()) {
            if (!slow.empty()) others[target.number] = target;
            if (target.is_slow && (lowest == nullptr || target.correlation < lowest->correlation)) lowest = &target;
        }
        if (lowest == nullptr) break;
        slow[lowest->number] = *lowest;
        others.erase(lowest->number);
        std::erase_if(files, [&](const DarshanFile* file) {
            return std::ranges::find(file->targets, lowest->number) != file->targets.end();
        });
    }
    const auto take = [&](const auto& from, bool is_slow) {
        for (const auto& [number, target] : from) {
            mount.targets.push_back(target);
            mount.targets.back().mount = mount.mount;
            mount.targets.back().is_slow = is_slow;
        }
    };
    take(slow, true);
    take(others, false);
    std::ranges::stable_sort(mount.targets, {}, [&](const DarshanTarget& target) {
        return std::pair(!target.is_slow, first.judged(target));
    });
    predict(mount, first.is_on_one());
}

}  // namespace

std::vector<DarshanMount> judge_darshan(const DarshanLog& log) {
    std::map<std::string, std::vector<const DarshanFile*>> mounts;
    for (const auto& file : log.files)
        if (!file.targets.empty() && file.written > 0) mounts[file.mount].push_back(&file);
    std::vector<DarshanMount> all;
    for (const auto& [name, files] : mounts) {
        auto& mount = all.emplace_back();
        mount.mount = name;
        const double size_min = small_share * median_size(files);
        std::vector<const DarshanFile*> large;
        std::ranges::copy_if(files, std::back_inserter(large),
                             [&](const DarshanFile* file) { return static_cast<double>(file->written) >= size_min; });
        mount.small_files = files.size() - large.size();
        judge(mount, std::move(large));
    }
    return all;
}

std::string ranges_of(const std::vector<std::uint32_t>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t end = i;
        while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
        text += text.empty() ? "" : ",";
        text += end == i ? fmt::to_string(numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[end]);
        i = end + 1;
    }
    return text;
}

}  // namespace forebay::report
