#include "bench/tune_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench/raw.hpp"
#include "bindings/api/profile.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/process.hpp"
#include "path/catalog/catalog.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::bench {

namespace {

constexpr const char* stream_name = "tune";
constexpr std::chrono::minutes commit_max{10};
constexpr std::chrono::seconds lfs_max{20};
// Long enough to show a disk's speed, short beside a trial of seconds.
constexpr std::uint64_t reference_bytes = 16u << 20;
constexpr RawWay reference_way{"reference", "reference", 4u << 20, 1, true};
// A drain that takes more of the interval leaves no room for a slow drain.
constexpr double drain_share_max = 0.7;
// Weight of the drain if visible seconds count: it decides between settings that block equally.
constexpr double drain_weight = 0.02;

std::string value_of(const format::AdviceSetting& setting, const std::string& name) {
    const auto match = std::ranges::find(setting, name, &format::AdviceSetting::value_type::first);
    return match == setting.end() ? std::string() : match->second;
}

format::Measure measured(const char* name, const std::vector<double>& samples, double value) {
    return {.name = name,
            .value = value,
            .low = telemetry::quantile_of(samples, 0.1),
            .high = telemetry::quantile_of(samples, 0.9),
            .samples = samples.size(),
            .origin = format::MeasureOrigin::measured};
}

}  // namespace

struct TuneTrials::Figures {
    std::vector<double> visible, durable, drain;  // seconds of each save, of the slowest rank
    std::vector<std::string> not_applied = {};
};

TuneTrials::TuneTrials(Ranks& ranks, const TuneOptions& options)
    : ranks_(ranks),
      options_(options),
      table_(options.bytes_per_rank / BenchTable::row_bytes, static_cast<std::uint32_t>(ranks.rank())) {
    if (options.compressible > 1) table_.thin_out(options.compressible);
}

Result<TuneTrials> TuneTrials::make(Ranks& ranks, const TuneOptions& options) {
    TuneTrials trials(ranks, options);
    for (const auto& run : options.runs.empty() ? std::vector<std::string>{""} : options.runs) {
        FB_TRY_ASSIGN(place, BenchPlace::make(ranks, {.run = run, .staging = options.staging}));
        trials.places_.push_back(std::move(place));
    }
    if (ranks.node().rank() == 0) {
        auto mapped = sys::Mapping::create(trials.places_[0].on_node("reference"), reference_bytes);
        FB_TRY(ranks.agree(mapped ? Result<>() : mapped.error()));
        trials.reference_ = std::move(*mapped);
    } else {
        FB_TRY(ranks.agree({}));
    }
    FB_TRY(trials.look());
    trials.find_knobs();
    return trials;
}

Result<advice::Outcome> TuneTrials::run(const advice::Trial& trial) {
    format::AdviceSetting setting;
    for (std::size_t knob = 0; knob < knobs_.size(); ++knob)
        setting.emplace_back(knobs_[knob].name, knobs_[knob].values[trial.choice[knob]]);
    const auto place = std::ranges::find(options_.runs, value_of(setting, "run")) - options_.runs.begin();
    const auto& at = places_[std::min(static_cast<std::size_t>(place), places_.size() - 1)];
    FB_TRY_ASSIGN(reference_seconds, reference(at));
    const auto figures = saves(at, setting, trial.share);
    FB_TRY(ranks_.agree(ranks_.rank() == 0 ? at.remove_snapshots(stream_name) : Result<>()));
    advice::Outcome outcome;
    if (figures) outcome = outcome_of(*figures, trial.share);
    else outcome.error = figures.error().what;
    outcome.reference_seconds = reference_seconds;
    const std::chrono::duration<double> after = sys::Clock::now() - begin_;
    outcome.measures.push_back(
        {.name = "after_seconds", .value = after.count(), .samples = 1, .origin = format::MeasureOrigin::measured});
    return outcome;
}

Result<double> TuneTrials::reference(const BenchPlace& place) {
    const RawSource source{places_[0].on_node("reference"), reference_.bytes()};
    FB_TRY_ASSIGN(cost, timed_raw_write(ranks_, place.at_target("reference"), source, reference_way));
    return cost.seconds;
}

Result<TuneTrials::Figures> TuneTrials::saves(const BenchPlace& place, const format::AdviceSetting& setting,
                                              double share) {
    FB_TRY(ranks_.agree(ranks_.rank() == 0 ? set_stripes(place, setting) : Result<>()));
    Options options{.run = place.run(), .staging = place.on_node("")};
    StreamOptions of_stream = BenchPlace::stream_options();
    FB_TRY(apply_setting(setting, options));
    FB_TRY(apply_setting(setting, of_stream));
    FB_TRY_ASSIGN(session, forebay::open(ranks_.comm(), options));
    FB_TRY_ASSIGN(stream, session.stream(stream_name, of_stream));
    FB_TRY_ASSIGN(particles, BenchTable::describe(stream));
    const auto rows = static_cast<std::uint64_t>(static_cast<double>(table_.rows_in(0)) * share);
    FB_TRY(ranks_.agree(table_.bind(particles, std::max<std::uint64_t>(rows, 1))));
    FB_TRY(stream.prepare());
    Figures figures;
    for (int turn = 0; turn < options_.saves; ++turn) {
        ranks_.rest();
        const auto before = stream.counters();
        const auto begin = sys::Clock::now();
        FB_TRY_ASSIGN(saved, stream.save(++step_));
        const auto blocked = saved.blocked_seconds;
        FB_TRY(stream.wait_committed(commit_max));
        const auto took = std::chrono::duration<double>(sys::Clock::now() - begin).count();
        figures.visible.push_back(ranks_.max(blocked));
        figures.durable.push_back(ranks_.max(took));
        figures.drain.push_back(ranks_.max(stream.counters().drain_seconds - before.drain_seconds));
    }
    const auto wished = value_of(setting, "copy_threads");
    const auto copied = static_cast<std::uint64_t>(ranks_.max(static_cast<double>(stream.counters().copy_threads)));
    if (!wished.empty() && wished != "auto" && wished != fmt::to_string(copied))
        figures.not_applied.emplace_back("copy_threads");
    FB_TRY(session.close());
    read_back(place, setting, figures);
    return figures;
}

// New directories inherit the layout of their parent.
Result<> TuneTrials::set_stripes(const BenchPlace& place, const format::AdviceSetting& setting) {
    const auto count = value_of(setting, "stripe_count"), bytes = value_of(setting, "stripe_bytes");
    if (count.empty() && bytes.empty()) return {};
    FB_TRY(sys::output_of(stripe_command(options_.lfs, facts_, count, bytes, place.run()), lfs_max));
    return {};
}

// Rank 0 checks the written files, and its result counts for all ranks.
void TuneTrials::read_back(const BenchPlace& place, const format::AdviceSetting& setting, Figures& figures) {
    std::string names;
    const auto look = [&]() -> Result<> {
        auto& store = sys::posix_store();
        FB_TRY_ASSIGN(snapshots, catalog::snapshots(store, place.run(), stream_name));
        if (snapshots.empty()) return Error{ErrorKind::missing, "no snapshot was committed"};
        FB_TRY_ASSIGN(entries, store.list(snapshots.front().directory));
        std::vector<std::string> files;
        for (const auto& entry : entries)
            if (entry.name.ends_with(".h5")) files.push_back(entry.name);
        const auto file = value_of(setting, "stream.file");
        const auto nodes = kind_.nodes * static_cast<std::uint64_t>(
                                             std::max(1, std::atoi(value_of(setting, "virtual_nodes").c_str())));
        const bool shared = std::ranges::find(files, "shared.h5") != files.end();
        if (!file.empty() && shared != (file == "shared")) names += "stream.file\n";
        if (file == "own" && files.size() != nodes) names += "virtual_nodes\n";
        const auto count = value_of(setting, "stripe_count"), bytes = value_of(setting, "stripe_bytes");
        const bool as_site = count == facts_.site_stripes && bytes == facts_.site_stripe_bytes;
        if (facts_.stripes && !as_site && !files.empty()) {
            FB_TRY_ASSIGN(opened, store.open(snapshots.front().directory + "/" + files.front(), sys::Access::read));
            const auto map = opened->stripes();
            if (fmt::to_string(map.last().targets.size()) != count) names += "stripe_count\n";
            if (fmt::to_string(map.last().stripe_bytes) != bytes) names += "stripe_bytes\n";
        }
        return {};
    };
    if (ranks_.rank() == 0)
        if (const auto looked = look(); !looked) names += "stream.file\n";
    names = ranks_.broadcast(names);
    for (std::size_t at = 0; at < names.size(); at = names.find('\n', at) + 1)
        figures.not_applied.push_back(names.substr(at, names.find('\n', at) - at));
}

advice::Outcome TuneTrials::outcome_of(const Figures& figures, double share) const {
    advice::Outcome outcome;
    outcome.not_applied = figures.not_applied;
    const auto durable = telemetry::quantile_of(figures.durable, 0.75);
    const auto visible = telemetry::quantile_of(figures.visible, 0.95);
    const auto drain = telemetry::quantile_of(figures.drain, 0.75);
    if (options_.is_staged()) {
        const double room = drain_share_max * options_.interval_seconds * share;
        const double late = options_.interval_seconds > 0 ? std::max(0.0, durable - room) : 0;
        outcome.cost = visible + late + drain_weight * drain;
    } else {
        outcome.cost = durable;
    }
    const double bytes = static_cast<double>(node_bytes_) * share;
    outcome.measures = {
        measured("visible_seconds", figures.visible, visible), measured("durable_seconds", figures.durable, durable),
        measured("drain_seconds", figures.drain, drain), measured("save_rate_bytes_per_second", {}, bytes / visible),
        measured("drain_rate_bytes_per_second", {}, bytes / drain)};
    return outcome;
}

}  // namespace forebay::bench
