// A trial of `forebay tune`: a session with the options of a setting, some saves and drains by all ranks, and a check
// that the settings took effect.
//
// Ranks: all calls are collective. Owner: everything made in the directories is removed after each trial.

#pragma once

#include <string>
#include <vector>

#include "bench/place.hpp"
#include "bench/table.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/mapping.hpp"
#include "insight/advice/tune/tuner.hpp"
#include "path/telemetry/profile.hpp"

namespace forebay::bench {

struct TuneOptions {
    double budget = 25;  // trials with all bytes
    std::uint64_t bytes_per_rank = 266'000'000;
    std::vector<std::string> runs;  // directories at the target; the search chooses one
    std::string staging;
    double interval_seconds = 0;  // between saves; 0: unknown
    std::string durable;          // "staged", "committed"; "": staged if the interval is known
    int saves = 2;                // of a trial
    std::uint64_t seed = 1;
    std::uint64_t compressible = 0;  // estimated compression factor of the data; 0: no codecs are tried
    std::string lfs = "lfs";
    std::string exclude;  // numbers of OSTs, or a preflight's advice with their names
    std::string out;
    std::string ask, tell;
    double ask_wait_seconds = 600;
    bool json = false, replace = false;

    bool is_staged() const { return durable == "staged"; }
};

/// Abilities of the target, found by rank 0.
struct TargetFacts {
    bool direct = false, huge_pages = false;
    bool stripes = false;                         // files have stripes, and `lfs` sets them
    std::string site_stripes, site_stripe_bytes;  // of a file without explicit stripes
    std::uint64_t count = 0;                      // of storage targets that are not excluded
    std::string targets;                          // their numbers, "0,1,3"; "": all
    std::string note;                             // why existing stripes are not tried
};

/// The command that sets stripes for new files of a directory, or restores the default if both values equal it.
std::vector<std::string> stripe_command(const std::string& lfs, const TargetFacts& facts, const std::string& count,
                                        const std::string& bytes, const std::string& directory);

class TuneTrials {
public:
    static Result<TuneTrials> make(Ranks& ranks, const TuneOptions& options);

    const std::vector<advice::Knob>& knobs() const { return knobs_; }
    const telemetry::RunKind& kind() const { return kind_; }
    /// Of all ranks on this node.
    std::uint64_t node_bytes() const { return node_bytes_; }
    const TargetFacts& facts() const { return facts_; }

    /// The outcome has an error of the setting. Returns an error if no trial can be made.
    Result<advice::Outcome> run(const advice::Trial& trial);

private:
    struct Figures;
    TuneTrials(Ranks& ranks, const TuneOptions& options);
    Result<> look();
    void find_knobs();
    Result<Figures> saves(const BenchPlace& place, const format::AdviceSetting& setting, double share);
    Result<> set_stripes(const BenchPlace& place, const format::AdviceSetting& setting);
    void read_back(const BenchPlace& place, const format::AdviceSetting& setting, Figures& figures);
    Result<double> reference(const BenchPlace& place);
    advice::Outcome outcome_of(const Figures& figures, double share) const;

    Ranks& ranks_;
    const TuneOptions& options_;
    std::vector<BenchPlace> places_;
    BenchTable table_;
    sys::Mapping reference_;  // on the node's first rank: the bytes of the reference
    TargetFacts facts_;
    telemetry::RunKind kind_;
    std::vector<advice::Knob> knobs_;
    std::uint64_t node_bytes_ = 0;
    std::int64_t step_ = 0;
    sys::Clock::time_point begin_ = sys::Clock::now();
};

}  // namespace forebay::bench
