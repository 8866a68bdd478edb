#include "bench/matrix/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <thread>

#include "bench/load.hpp"
#include "bench/matrix/way.hpp"
#include "bench/spread.hpp"
#include "core/base/try.hpp"
#include "core/sys/store.hpp"

namespace forebay::bench {

using sys::Clock;

namespace {

double seconds_of(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

class MatrixTrial {
public:
    MatrixTrial(Ranks& ranks, const TrialPlace& place, RowResult& result, std::vector<int> nodes)
        : ranks_(ranks),
          place_(place),
          result_(result),
          setting_(result.setting),
          content_(setting_, ranks.size()),
          placement_(content_, setting_, nodes, place.targets, place.name),
          row_{.ranks = ranks,
               .setting = setting_,
               .content = content_,
               .placement = placement_,
               .directory = place.targets.front() + "/" + place.name + "-run",
               .staging = place.staging,
               .machines = static_cast<int>(ranks.group().sum(ranks.node().rank() == 0 ? 1 : 0)),
               .nodes = 1 + *std::ranges::max_element(nodes),
               .remarks = result.remarks} {
        result_.ranks = ranks.size();
        result_.nodes = row_.nodes;
        result_.ranks_per_node = static_cast<int>(std::ranges::count(nodes, 0));
    }

    Result<> run() {
        const auto& operations = setting_.operations;
        if (operations.metadata) FB_TRY(run_tree(ranks_, setting_.tree, place_.targets.front(), result_.samples));
        if (!operations.write) return {};
        FB_TRY(ranks_.agree(make_way()));
        if (operations.kill && !place_.is_victim) {
            const auto killed = ranks_.rank() == 0 ? run_victim(setting_, ranks_.size(), place_) : Result<>();
            ranks_.rest();
            FB_TRY(ranks_.agree(killed));
        } else {
            FB_TRY(write_dumps());
            FB_TRY(ranks_.agree(way_->finish()));
            if (operations.read) FB_TRY(read_own());
        }
        if (operations.restart) FB_TRY(restart());
        add("placement_ratio", placement_.imbalance());
        return remove_all();
    }

private:
    // Every rank has it, one reports it.
    void add(const std::string& name, double value) { add_sample(result_.samples, name, value); }

    Result<> make_way() {
        switch (setting_.via) {
            case Via::posix:
            case Via::mmap: way_ = file_way(row_); break;
            case Via::mpiio: way_ = mpiio_way(row_); break;
            case Via::hdf5: way_ = hdf5_way(row_); break;
            case Via::forebay: way_ = forebay_way(row_); break;
            case Via::dfs:
            case Via::genericio: return Error{ErrorKind::unsupported, "this build does not have it"};
        }
        return {};
    }

    Result<> write_dumps() {
        OwnMemory memory(content_, setting_, ranks_.rank());
        std::vector<double> seconds;
        for (int dump = 0; dump < setting_.dumps; ++dump) {
            memory.fill(dump);
            const auto own = memory.segments(dump);
            const auto pieces = placement_.located(own, dump);
            FB_TRY(ranks_.agree(way_->prepare(own, dump)));
            if (setting_.compute_seconds > 0) compute(dump);
            if (place_.is_victim && dump + 1 == setting_.dumps) {
                FB_TRY(ranks_.agree(
                    ranks_.rank() == 0
                        ? sys::write_text_durable(sys::posix_store(), victim_mark(place_), "in the last dump\n")
                        : Result<>()));
                FB_TRY(be_killed_in(std::chrono::duration<double>(0.5 * spread_of(seconds).median)));
            }
            FB_TRY_ASSIGN(took, write_one(pieces, dump));
            seconds.push_back(took);
            if (dump >= 2) FB_TRY(ranks_.agree(way_->remove(dump - 2)));
        }
        if (setting_.compute_seconds > 0) FB_TRY(settle(setting_.dumps));
        // A victim must not outlive its last dump, however fast that was.
        if (place_.is_victim) std::this_thread::sleep_for(std::chrono::minutes(1));
        return {};
    }

    // The slowest rank's seconds until the dump is as durable as requested.
    Result<double> write_one(const std::vector<Located>& pieces, int dump) {
        ranks_.group().barrier();
        const auto written = way_->write(pieces, dump);
        FB_TRY(ranks_.agree(written ? Result<>() : written.error()));
        const auto& times = *written;
        const bool staged = setting_.via == Via::forebay;
        const auto end = setting_.durable == Durable::none ? times.moved : times.closed;
        const auto seconds = ranks_.span(times.begin, end);
        result_.bytes = static_cast<std::uint64_t>(ranks_.group().sum(static_cast<std::int64_t>(times.bytes)));
        const auto bytes = static_cast<double>(result_.bytes);
        if (!staged || setting_.durable == Durable::none || setting_.compute_seconds == 0)
            add("write_rate_bytes_per_second", bytes / seconds);
        add_phases("", times);
        FB_TRY(add_visible(seconds_of((staged ? times.moved : end) - times.begin)));
        add("save_rate_bytes_per_second", bytes / row_.nodes / ranks_.span(times.begin, staged ? times.moved : end));
        if (setting_.compute_seconds == 0) FB_TRY(settle(1));
        return seconds;
    }

    void add_phases(const std::string& prefix, const Times& times) {
        if (setting_.via == Via::forebay) return;
        add(prefix + "open_seconds", ranks_.span(times.begin, times.opened));
        add(prefix + "transfer_seconds", ranks_.span(times.opened, times.moved));
        add(prefix + "close_seconds", ranks_.span(times.moved, times.closed));
        add(prefix + "total_seconds", ranks_.span(times.begin, times.closed));
    }

    // Each rank's loss by this save. The spread over ranks and saves is the jitter.
    Result<> add_visible(double own_seconds) {
        std::vector<double> all(static_cast<std::size_t>(ranks_.size()));
        ranks_.group().gather_all(std::as_bytes(std::span(&own_seconds, 1)), std::as_writable_bytes(std::span(all)));
        for (const auto seconds : all) add("visible_seconds", seconds);
        return {};
    }

    Result<> settle(int saves) {
        const auto settled = way_->settle();
        FB_TRY(ranks_.agree(settled ? Result<>() : settled.error()));
        const auto seconds = ranks_.max(*settled) / saves;
        if (seconds <= 0) return {};
        add("drain_seconds", seconds);
        add("drain_rate_bytes_per_second", static_cast<double>(result_.bytes) / row_.nodes / seconds);
        return {};
    }

    // Before the first save every agent is idle. That round is the reference for later rounds.
    void compute(int dump) {
        const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                            std::chrono::duration<double>(setting_.compute_seconds));
        ranks_.group().barrier();
        if (!setting_.burns) {
            std::this_thread::sleep_until(end);
            return;
        }
        if (!load_) load_ = std::make_unique<LoadLoop>(Load::compute);
        const auto rate = ranks_.min(load_->rate([&] { return Clock::now() < end; }));
        if (dump == 0) idle_rate_ = rate;
        else add("compute_slowdown_ratio", idle_rate_ / rate);
    }

    Result<> read_own() {
        const int dump = setting_.dumps - 1;
        auto memory = ReadMemory::of_own(content_, ranks_.rank(), dump);
        if (setting_.operations.cold) FB_TRY(ranks_.agree(ranks_.node().rank() == 0 ? way_->forget(dump) : Result<>()));
        ranks_.group().barrier();
        const auto read = way_->read(ranks_, memory, dump, true);
        FB_TRY(ranks_.agree(read ? Result<>() : read.error()));
        const auto bytes = ranks_.group().sum(static_cast<std::int64_t>(read->bytes));
        add("read_rate_bytes_per_second", static_cast<double>(bytes) / ranks_.span(read->begin, read->closed));
        add_phases("read_", *read);
        return ranks_.agree(verify(memory, way_->newest() >= 0 ? way_->newest() : dump));
    }

    Result<> verify(const ReadMemory& memory, int dump) const {
        for (const auto& segment : memory.segments()) FB_TRY(content_.verify(segment, dump));
        return {};
    }

    // Reads the whole newest complete dump on another number of ranks.
    Result<> restart() {
        const int wish = setting_.operations.readers;
        if (wish > ranks_.size())
            return Error{ErrorKind::refused,
                         fmt::format("restart:{} needs more ranks than the {} of this job", wish, ranks_.size()), "",
                         fmt::format("mpiexec -n {}", wish)};
        const auto readers = ranks_.first(wish > 0 ? wish : ranks_.size());
        const auto outcome = readers ? restart_on(*readers) : Result<>();
        ranks_.rest();
        return ranks_.agree(outcome);
    }

    Result<> restart_on(Ranks& readers) {
        Result<> outcome;
        for (int dump = setting_.dumps - 1; dump >= 0; --dump) {
            auto memory = ReadMemory::of_share(content_, readers.rank(), readers.size(), dump);
            if (setting_.operations.cold && !setting_.operations.kill)
                FB_TRY(readers.agree(readers.node().rank() == 0 ? way_->forget(dump) : Result<>()));
            readers.group().barrier();
            const auto read = way_->read(readers, memory, dump, readers.size() == ranks_.size());
            const int newest = way_->newest() >= 0 ? way_->newest() : dump;
            outcome = readers.agree(read ? verify(memory, newest) : read.error());
            // A killed job's last dump may be torn. Then the dump before it counts.
            const bool torn =
                !outcome && (outcome.error().kind == ErrorKind::corrupt || outcome.error().kind == ErrorKind::missing);
            if (setting_.operations.kill && torn && way_->newest() < 0) continue;
            FB_TRY(outcome);
            const auto seconds = readers.span(read->begin, read->closed);
            const auto bytes = readers.group().sum(static_cast<std::int64_t>(read->bytes));
            add("restart_seconds", seconds);
            add("restart_rate_bytes_per_second", static_cast<double>(bytes) / seconds);
            if (setting_.operations.kill) add("lost_saves", setting_.dumps - 1 - newest);
            return {};
        }
        return outcome;
    }

    Result<> remove_all() {
        ranks_.group().barrier();
        Result<> removed;
        for (int dump = std::max(0, setting_.dumps - 2); dump < setting_.dumps && removed; ++dump)
            removed = way_->remove(dump);
        FB_TRY(ranks_.agree(removed));
        if (ranks_.rank() == 0) {
            removed = sys::posix_store().remove(victim_mark(place_));
            if (removed && setting_.via == Via::forebay) removed = sys::posix_store().remove_tree(row_.directory);
        }
        return ranks_.agree(removed);
    }

    Ranks& ranks_;
    const TrialPlace& place_;
    RowResult& result_;
    const RowSetting& setting_;
    Content content_;
    FilePlacement placement_;
    RowContext row_;
    std::unique_ptr<Way> way_;
    std::unique_ptr<LoadLoop> load_;
    double idle_rate_ = 0;
};

// The node that each rank belongs to.
Result<std::vector<int>> nodes_of(Ranks& ranks, int wish) {
    const auto machines = ranks.group().sum(ranks.node().rank() == 0 ? 1 : 0);
    FB_TRY_ASSIGN(topology,
                  comm::find_topology(ranks.group().split(0), std::max(1, wish / static_cast<int>(machines))));
    const auto own = static_cast<int>(topology.node_index);
    std::vector<int> nodes(static_cast<std::size_t>(ranks.size()));
    ranks.group().gather_all(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(nodes)));
    return nodes;
}

}  // namespace

void add_sample(Samples& samples, const std::string& name, double value) {
    const auto sample = std::ranges::find(samples, name, &Samples::value_type::first);
    if (sample != samples.end()) sample->second.push_back(value);
    else samples.push_back({name, {value}});
}

const std::vector<double>* find_samples(const Samples& samples, const std::string& name) {
    const auto sample = std::ranges::find(samples, name, &Samples::value_type::first);
    return sample == samples.end() ? nullptr : &sample->second;
}

Result<> run_trial(Ranks& ranks, const TrialPlace& place, RowResult& result) {
    FB_TRY_ASSIGN(nodes, nodes_of(ranks, result.setting.nodes));
    return MatrixTrial(ranks, place, result, std::move(nodes)).run();
}

}  // namespace forebay::bench
