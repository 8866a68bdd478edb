// The sequential test that finds slow subjects among many: storage targets, or nodes.
//
// Each subject is probed 3 times, in random order and never twice at once on one server. m is the median of these
// probes of all subjects; a probe below 0.8 m is low. A subject without a low probe passes. For each remaining subject
// the likelihood of telemetry/likelihood.hpp walks with each further probe. It uses the share of low probes among all
// first probes. The subject is slow at ln(0.99 / 0.001) = 6.90 (1 of 1000 good subjects that come so far is blamed). It
// passes at ln(0.01 / 0.999) = -4.60 (1 of 100 slow subjects passes). After 20 probes it is unclear.
// With 156 targets, 12 at half speed, and 15 % noise, all 12 are found with 4 probes each: walk_test.cpp.
//
// A probe gives one or several rates, such as a node's staging, checksums and draining; each walks separately. The test
// knows no clock: its driver (survey.hpp) has one, real or made. Threads: one at a time.

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
    /// `servers` holds the server of each subject. A subject with its own server needs a unique name there.
    SlowTest(std::vector<std::string> servers, std::size_t rates_of_each, std::uint64_t seed);

    std::size_t size() const { return subjects_.size(); }
    /// The subject to probe now. Its server is busy until took(), late(), again() or lost(). Nothing while all
    /// remaining subjects wait for a server, or for the first probes of all.
    std::optional<std::size_t> next();
    /// The rates of a probe, in bytes a second.
    void took(std::size_t subject, std::span<const double> rates);
    /// The probe takes so long that its server may be probed meanwhile. Its result counts as usual.
    void late(std::size_t subject);
    /// The probe failed without fault of the subject; it will be repeated.
    void again(std::size_t subject);
    /// The subject does not answer: no more probes, and it counts in no median.
    void lost(std::size_t subject);
    /// True if no more probes are needed.
    bool done() const;

    struct Verdict {
        Decision standing = Decision::open;  // open: no probe, or not all first probes
        double rate = 0;                     // the median of its probes
        double ratio = 0;                    // to the median over all
        double z = 0;                        // distance, as a factor, in median absolute deviations of the rest
        std::uint64_t probes = 0;
    };
    /// The verdicts so far: after done(), or when time is over. An open subject with a low probe is then unclear.
    std::vector<Verdict> verdicts(std::size_t which_rate) const;
    double median(std::size_t which_rate) const;
    std::uint64_t probes() const;
    /// Servers with at least two slow subjects, at least half of theirs: the server itself is slow.
    std::vector<std::string> slow_servers(std::size_t which_rate) const;

private:
    struct Subject {
        std::string server;
        std::vector<std::vector<double>> rates;  // by rate, in the order of probes
        bool lost = false, probed_now = false, late = false;
    };
    void end_probe(Subject& subject);
    bool none_probed() const { return busy_.empty() && lates_ == 0; }
    Decision standing_of(const Subject& subject, std::size_t which_rate) const;
    bool wants_more(const Subject& subject) const;
    void end_first_round();

    std::vector<Subject> subjects_;
    std::size_t rates_of_each_;
    std::vector<std::size_t> waiting_;  // subjects in the order of their next probes
    std::vector<std::string> busy_;     // servers
    std::size_t lates_ = 0;             // late probes
    std::uint64_t seed_, shuffles_ = 0;
    bool first_round_ = true;
    std::vector<double> medians_, low_shares_;  // of the first probes, by rate
};

}  // namespace forebay::advice
