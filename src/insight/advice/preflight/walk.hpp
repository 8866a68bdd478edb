// The sequential test that finds slow ones among many: storage targets, or nodes.
//
// Each is probed 3 times, in random order and never two at once on one server. m is the median of those probes of all;
// a probe is low below 0.8 m. Who has no low probe passes. For the others the likelihood of telemetry/likelihood.hpp
// walks with each further probe, the share of low ones being that of the first probes of all, until it says slow
// (ln(0.99 / 0.001) = 6.90: of 1000 good ones that get there one is named), passes (ln(0.01 / 0.999) = -4.60: of 100
// slow ones one passes), or 20 probes are made: then it is unclear.
// Of 156 targets, 12 at half speed, under 15 % of noise all 12 are found with 4 probes each: walk_test.cpp.
//
// A probe gives one rate or several, as those of a node for staging, checksums and draining; each walks on its own.
// Knows no clock: who drives it (survey.hpp) has one, real or made up. Threads: one at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::advice {

enum class Decision : std::uint8_t { open, good, slow, unclear };

class SlowTest {
public:
    /// `servers` has that of each subject; one that shares its server with nobody has a name of its own there.
    SlowTest(std::vector<std::string> servers, std::size_t rates_of_each, std::uint64_t seed);

    std::size_t size() const { return subjects_.size(); }
    /// Whom to probe now; its server is taken until took(), late(), again() or lost(). Nothing while all that are left
    /// must wait for a server, or for the first probes of all.
    std::optional<std::size_t> next();
    /// What a probe gave, in bytes a second.
    void took(std::size_t subject, std::span<const double> rates);
    /// Its probe takes so long that others of its server are probed meanwhile. What comes of it counts as ever.
    void late(std::size_t subject);
    /// The probe came to nothing for no fault of the subject's: it will be made anew.
    void again(std::size_t subject);
    /// It does not answer: no more probes, and it counts in no median.
    void lost(std::size_t subject);
    /// Whether no probe is wanted any more.
    bool done() const;

    struct Verdict {
        Decision standing = Decision::open;  // open: no probe was made, or not all of the first ones
        double rate = 0;                     // the median of its probes
        double ratio = 0;                    // of that to the median over all
        double z = 0;                        // how far away: by the median absolute deviation of the others, in factors
        std::uint64_t probes = 0;
    };
    /// By what is known by now: after done(), or when no time is left; what is open then, and has a low probe, is
    /// unclear.
    std::vector<Verdict> verdicts(std::size_t which_rate) const;
    double median(std::size_t which_rate) const;
    std::uint64_t probes() const;
    /// Servers of which at least two subjects, and at least half of them, are slow: then the server is.
    std::vector<std::string> slow_servers(std::size_t which_rate) const;

private:
    struct Subject {
        std::string server;
        std::vector<std::vector<double>> rates;  // by which rate, in the order of probes
        bool lost = false, probed_now = false, late = false;
    };
    void end_probe(Subject& subject);
    bool none_probed() const { return busy_.empty() && lates_ == 0; }
    Decision standing_of(const Subject& subject, std::size_t which_rate) const;
    bool wants_more(const Subject& subject) const;
    void end_first_round();

    std::vector<Subject> subjects_;
    std::size_t rates_of_each_;
    std::vector<std::size_t> waiting_;  // subjects, in the order of their next probes
    std::vector<std::string> busy_;     // servers
    std::size_t lates_ = 0;             // probes that are late
    std::uint64_t seed_, shuffles_ = 0;
    bool first_round_ = true;
    std::vector<double> medians_, low_shares_;  // of the first probes, by which rate
};

}  // namespace forebay::advice
