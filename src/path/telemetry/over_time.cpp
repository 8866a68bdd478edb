// Bytes over time: writes are distributed over equal parts of a time.

#include <algorithm>
#include <set>

#include "path/telemetry/snapshot_rows.hpp"
#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

namespace {

// Each write counts in the parts that it overlaps, by the time in each part. Outside of [begin, end) nothing counts.
class Bins {
public:
    Bins(std::int64_t begin_unix_ns, std::int64_t end_unix_ns, std::size_t bins)
        : begin_(static_cast<double>(begin_unix_ns)), bins_(bins, 0.0) {
        const double whole = static_cast<double>(end_unix_ns) - begin_;
        if (bins > 0 && whole > 0) width_ = whole / static_cast<double>(bins);
    }

    void add(double first_unix_ns, double last_unix_ns, double bytes) {
        if (width_ <= 0 || bytes <= 0) return;
        const double from = (first_unix_ns - begin_) / width_;
        const double to = (std::max(first_unix_ns, last_unix_ns) - begin_) / width_;
        const auto count = static_cast<double>(bins_.size());
        // Also true for NaN from damaged files.
        if (!(to >= 0 && from < count)) return;
        // A write without a duration counts in one part: the share below divides by the duration.
        if (to - from < 1e-9) return put(from, bytes);
        const auto last = static_cast<std::size_t>(std::min(to, count - 1));
        for (auto bin = static_cast<std::size_t>(std::max(from, 0.0)); bin <= last; ++bin) {
            const double part = std::min(to, static_cast<double>(bin + 1)) - std::max(from, static_cast<double>(bin));
            bins_[bin] += bytes * std::max(part, 0.0) / (to - from);
        }
    }

    std::vector<double> take() { return std::move(bins_); }

private:
    void put(double place, double bytes) {
        if (place >= 0) bins_[static_cast<std::size_t>(place)] += bytes;
    }

    double begin_, width_ = 0;
    std::vector<double> bins_;
};

constexpr auto write_kind = static_cast<std::uint16_t>(format::TimingKind::write);

// Calls give(name of the target, begin, end, bytes) for each write. Without timings of writes, calls it for each
// target.
template <class Give>
void each_write(const format::TimingBatch& batch, Give&& give) {
    static const std::string nameless;
    bool known = false;
    for (const auto& timing : batch.timings) {
        if (timing.kind != write_kind) continue;
        known = true;
        const auto& name = timing.target < batch.targets.size() ? batch.targets[timing.target].name : nameless;
        give(name, static_cast<double>(timing.start_unix_ns), static_cast<double>(timing.end_unix_ns()),
             static_cast<double>(timing.bytes()));
    }
    if (known) return;
    for (const auto& target : batch.targets)
        give(target.name, static_cast<double>(target.first_unix_ns), static_cast<double>(target.last_unix_ns),
             static_cast<double>(target.bytes));
}

}  // namespace

std::vector<double> bytes_over_time(const Chronicle& chronicle, std::int64_t begin_unix_ns, std::int64_t end_unix_ns,
                                    std::size_t bins, const std::string& target) {
    Bins into(begin_unix_ns, end_unix_ns, bins);
    for (const auto& batch : chronicle.batches)
        each_write(batch, [&](const std::string& name, double first, double last, double bytes) {
            if (target == "*" || target == name) into.add(first, last, bytes);
        });
    return into.take();
}

std::map<std::string, std::vector<double>> bytes_over_time_by_name(const Chronicle& chronicle, const SnapshotRow& row,
                                                                   std::int64_t begin_unix_ns, std::int64_t end_unix_ns,
                                                                   std::size_t bins, bool by_node) {
    std::map<std::string, Bins> names;
    for (const auto& batch : chronicle.batches) {
        if (batch.stream != row.stream || batch.step != row.step || batch.snapshot_id != row.snapshot_id ||
            batch.session != row.session)
            continue;
        const auto node = by_node ? node_name(batch) : std::string();
        each_write(batch, [&](const std::string& name, double first, double last, double bytes) {
            names.try_emplace(by_node ? node : name, begin_unix_ns, end_unix_ns, bins)
                .first->second.add(first, last, bytes);
        });
    }
    std::map<std::string, std::vector<double>> taken;
    for (auto& [name, own] : names) taken.emplace(name, own.take());
    return taken;
}

}  // namespace forebay::telemetry
