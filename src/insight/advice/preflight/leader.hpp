// The node that asks, with its phases: checks of nodes and their comparison (preflight.cpp), then the speeds of nodes
// and storage targets, and the result (preflight_speeds.cpp). Only these two files use it.

#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "insight/advice/preflight/preflight.hpp"
#include "insight/advice/preflight/survey.hpp"
#include "insight/advice/preflight/talk.hpp"
#include "insight/advice/preflight/walk.hpp"

namespace forebay::advice {

using format::Finding;
using format::Measure;
using format::Severity;

/// The median and the spread of values, as one measure.
Measure spread_of(std::string name, const std::vector<double>& values, std::uint64_t samples, std::string from);

class Preflight {
public:
    Preflight(Nodes& nodes, const PreflightRequest& request)
        : request_(request),
          nodes_(nodes),
          start_(nodes.now()),
          talk_(nodes,
                start_ + std::chrono::duration_cast<sys::Clock::duration>(
                             std::chrono::duration<double>(request.seconds_max)),
                request.interrupted),
          answers_(nodes.size()),
          names_(nodes.size()) {}

    PreflightOutcome run(const RunProgram& run);

private:
    using Numbers = std::vector<double>;
    const CheckRule& rule(CheckKind check) const { return request_.rules.of(check); }
    void add(CheckKind check, Finding finding) { request_.rules.add(findings_, check, std::move(finding)); }
    void tell(const char* what, std::uint64_t done, std::uint64_t all) const {
        if (request_.progress) request_.progress(what, done, all);
    }
    std::vector<std::size_t> alive() const {
        std::vector<std::size_t> alive;
        for (std::size_t i = 0; i < answers_.size(); ++i)
            if (answers_[i] && !talk_.is_silent(i)) alive.push_back(i);
        return alive;
    }

    // Asks each of these nodes one question, at most `at_once` nodes at a time.
    template <class Take>
    void ask_each(const std::vector<std::size_t>& whom, const char* what, const Question& question,
                  std::chrono::milliseconds at_most, Take take) {
        std::size_t asked = 0, heard = 0;
        while (heard < whom.size() && !talk_.over()) {
            while (asked < whom.size() && talk_.out() < request_.at_once) {
                const auto node = whom[asked++];
                talk_.ask(node, question, at_most, node);
            }
            const auto reply = talk_.next();
            if (!reply) break;
            take(*reply);
            tell(what, ++heard, whom.size());
        }
        for (std::size_t i = 0; i < whom.size() && heard < whom.size(); ++i)
            if (talk_.out_at(whom[i]) > 0 || i >= asked) unheard_.insert(whom[i]);
    }

    void check_nodes();
    void name_nodes();
    void compare_nodes();
    void compare_one(std::size_t number, CheckKind check, const char* what);
    void time_metadata();
    void compare_clocks();
    void meet();
    void measure_nodes();
    void judge_rates(const SlowTest& walk, std::size_t which, const char* what, const std::vector<std::size_t>& whom);
    void measure_targets();
    void judge_targets(const SlowTest& walk, const Unprobed& unprobed);
    void name_server(const SlowTest& walk, const std::string& server);
    PreflightOutcome finish();
    void tally(PreflightOutcome& outcome) const;
    void exclude(PreflightOutcome& outcome);
    /// A silent node's machine is unknown, so its name stands for the machine.
    std::string machine_of(std::size_t node) const;
    /// The number of machines of these nodes; several ranks of MPI may share a machine.
    std::size_t machines(const std::vector<std::size_t>& nodes) const;

    const PreflightRequest& request_;
    Nodes& nodes_;
    sys::Clock::time_point start_;
    Talk talk_;
    std::vector<std::optional<NodeAnswer>> answers_;
    std::vector<std::string> names_;
    std::vector<Finding> findings_;
    std::vector<Measure> measures_;
    std::set<std::size_t> unheard_;  // no time was left to hear from them
    std::set<std::string> bad_targets_;
};

}  // namespace forebay::advice
