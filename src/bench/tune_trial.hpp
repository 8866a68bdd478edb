// A trial of `forebay tune`: a session with the options of a setting, some saves and drains by all ranks, and whether
// what was set is what came of it.
//
// Ranks: all calls are collective. Owner: what is made in the directories is removed, trial by trial.

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
    double budget = 25;  // trials of all bytes
    std::uint64_t bytes_per_rank = 266'000'000;
    std::vector<std::string> runs;  // directories at the target, one of which is to be chosen
    std::string staging;
    double interval_seconds = 0;  // between saves; 0: not known
    std::string durable;          // "staged", "committed"; "": staged where the interval is known
    int saves = 2;                // of a trial
    std::uint64_t seed = 1;
    std::uint64_t compressible = 0;  // about how many times smaller the data can be made; 0: codecs are not tried
    std::string lfs = "lfs";
    std::string exclude;  // numbers of OSTs, or advice of a preflight that names them
    std::string out;
    std::string ask, tell;
    double ask_wait_seconds = 600;
    bool json = false, replace = false;

    bool is_staged() const { return durable == "staged"; }
};

/// What the target can, as rank 0 has found it.
struct TargetFacts {
    bool direct = false, huge_pages = false;
    bool stripes = false;                         // files have stripes, and `lfs` sets them
    std::string site_stripes, site_stripe_bytes;  // of a file for which nobody has set them
    std::uint64_t count = 0;                      // of storage targets that are not excluded
    std::string targets;                          // the numbers of those, "0,1,3"; "": all
    std::string note;                             // why stripes are not tried where there are any
};

/// For new files of a directory; what the site has for those for which nobody sets anything, where both are that.
std::vector<std::string> stripe_command(const std::string& lfs, const TargetFacts& facts, const std::string& count,
                                        const std::string& bytes, const std::string& directory);

class TuneTrials {
public:
    static Result<TuneTrials> make(Ranks& ranks, const TuneOptions& options);

    const std::vector<advice::Knob>& knobs() const { return knobs_; }
    const telemetry::RunKind& kind() const { return kind_; }
    /// Of all ranks of this node.
    std::uint64_t node_bytes() const { return node_bytes_; }
    const TargetFacts& facts() const { return facts_; }

    /// An error of the setting is the outcome's. Of this call: what keeps every trial from being made.
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
    sys::Mapping reference_;  // on the node's first rank: what the reference writes
    TargetFacts facts_;
    telemetry::RunKind kind_;
    std::vector<advice::Knob> knobs_;
    std::uint64_t node_bytes_ = 0;
    std::int64_t step_ = 0;
    sys::Clock::time_point begin_ = sys::Clock::now();
};

}  // namespace forebay::bench
