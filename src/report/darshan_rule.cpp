// The rule. A target is slow when
//   - its ratio is below 0.8, and further away than 3.5 median absolute deviations: where each file lies on one target the
//     ratio of its completion, else that of its files' rates, since a file is as late as the slowest of its targets;
//   - the rates of its files speak for it one by one (telemetry/slow.hpp);
//   - and with 64 files or more, files are the slower the more of them lies there: Pearson's correlation is so far below
//     0 that chance brings it about once in 30,000 targets.

#include "report/darshan_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "telemetry/median.hpp"
#include "telemetry/slow.hpp"

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

class Judge {
public:
    explicit Judge(DarshanMount& mount) : mount_(mount) {}

    void add(const DarshanFile& file) {
        const double rate = rate_of(file), count = static_cast<double>(file.targets.size());
        const double written = static_cast<double>(file.written);
        std::map<std::uint32_t, double> shares;  // a target may have several stripes
        for (const auto target : file.targets) shares[target] += 1 / count;
        for (const auto& [target, share] : shares) {
            auto& one = targets_[target];
            one.windows.add(file.first, file.last);
            one.bytes += share * written;
            one.rates.push_back(rate);
            one.share_sum += share;
            one.share_squares += share * share;
            one.product_sum += share * rate;
        }
        windows_.add(file.first, file.last);
        ++mount_.files;
        mount_.bytes += written;
        rates_.push_back(rate);
        is_on_one_ &= shares.size() == 1;
        on_all_ += shares.size();
    }

    void judge() {
        mount_.seconds = windows_.seconds();
        mount_.is_told_apart = on_all_ < mount_.files * targets_.size();
        for (const auto& [number, one] : targets_) mount_.targets.push_back(target_of(number, one));
        compare();
        const auto slow_files = slow_by_files();
        for (auto& target : mount_.targets) {
            const bool agrees = mount_.files < many_files ||
                                target.correlation < -chance_deviations / std::sqrt(static_cast<double>(mount_.files));
            const double ratio = is_on_one_ ? target.ratio : target.file_ratio;
            target.is_slow = mount_.is_told_apart && ratio < low_ratio && target.z > far_z && agrees &&
                             slow_files.contains(fmt::to_string(target.number));
        }
        std::ranges::stable_sort(mount_.targets, {}, [&](const DarshanTarget& target) {
            return is_on_one_ ? target.ratio : target.file_ratio;
        });
        predict();
    }

private:
    DarshanTarget target_of(std::uint32_t number, const Gathered& one) const {
        const double seconds = one.windows.seconds();
        return {.mount = mount_.mount,
                .number = number,
                .files = one.rates.size(),
                .bytes = one.bytes,
                .seconds = seconds,
                .rate = one.bytes / std::max(seconds, seconds_min),
                .file_ratio = telemetry::median_of(one.rates) / telemetry::median_of(rates_),
                .correlation = correlation_of(one)};
    }

    double correlation_of(const Gathered& one) const {
        const double n = static_cast<double>(mount_.files);
        double mean = 0, spread = 0;
        for (const auto rate : rates_) mean += rate / n;
        for (const auto rate : rates_) spread += (rate - mean) * (rate - mean);
        const double shares = one.share_squares - one.share_sum * one.share_sum / n;
        const double together = one.product_sum - one.share_sum * mean;
        return spread <= 0 || shares <= 0 ? 0 : std::clamp(together / std::sqrt(spread * shares), -1.0, 1.0);
    }

    // Ratios to the median of targets, and how far they are away from it.
    void compare() {
        const auto values = [&](auto member) {
            std::vector<double> all;
            for (const auto& target : mount_.targets) all.push_back(target.*member);
            return all;
        };
        mount_.median_rate = telemetry::median_of(values(&DarshanTarget::rate));
        for (auto& target : mount_.targets)
            target.ratio = mount_.median_rate > 0 ? target.rate / mount_.median_rate : 1;
        const auto judged = values(is_on_one_ ? &DarshanTarget::ratio : &DarshanTarget::file_ratio);
        const double median = telemetry::median_of(judged);
        std::vector<double> distances;
        for (const auto value : judged) distances.push_back(std::abs(value - median));
        const double deviation =
            std::max({mad_to_deviation * telemetry::median_of(distances), deviation_min * median, 1e-12});
        for (std::size_t i = 0; i < judged.size(); ++i) mount_.targets[i].z = (median - judged[i]) / deviation;
    }

    std::set<std::string> slow_by_files() const {
        std::vector<telemetry::RateSample> samples;
        for (const auto& [number, one] : targets_)
            for (const auto rate : one.rates) samples.push_back({fmt::to_string(number), rate});
        std::set<std::string> names;
        for (const auto& slow : telemetry::slow_ones(samples)) names.insert(slow.name);
        return names;
    }

    // All bytes on the other targets, as fast as the slowest of these was. Files on several targets would all be as fast
    // as those without a part on a slow one.
    void predict() {
        double kept_bytes = 0, kept_seconds = 0, slow_ratio = 1;
        std::vector<double> kept_ratios;
        for (const auto& target : mount_.targets) {
            if (target.is_slow) {
                slow_ratio = std::min(slow_ratio, target.file_ratio);
                continue;
            }
            mount_.kept.push_back(target.number);
            kept_bytes += target.bytes;
            kept_seconds = std::max(kept_seconds, target.seconds);
            kept_ratios.push_back(target.file_ratio);
        }
        std::ranges::sort(mount_.kept);
        if (mount_.kept.size() == mount_.targets.size() || kept_bytes <= 0) return;
        mount_.seconds_without = is_on_one_ ? kept_seconds * mount_.bytes / kept_bytes
                                            : mount_.seconds * slow_ratio / telemetry::median_of(kept_ratios);
    }

    DarshanMount& mount_;
    std::map<std::uint32_t, Gathered> targets_;
    std::vector<double> rates_;  // of files
    Windows windows_;
    bool is_on_one_ = true;     // each file on one target
    std::uint64_t on_all_ = 0;  // files x targets of each
};

}  // namespace

std::vector<DarshanMount> judge_darshan(const DarshanLog& log) {
    std::map<std::string, std::vector<const DarshanFile*>> mounts;
    for (const auto& file : log.files)
        if (!file.targets.empty() && file.written > 0) mounts[file.mount].push_back(&file);
    std::vector<DarshanMount> all;
    for (const auto& [name, files] : mounts) {
        auto& mount = all.emplace_back();
        mount.mount = name;
        Judge judge(mount);
        const double size_min = small_share * median_size(files);
        for (const auto* const file : files) {
            if (static_cast<double>(file->written) >= size_min) judge.add(*file);
            else ++mount.small_files;
        }
        judge.judge();
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
