// Decides what the results of an analysis mean for their snapshot: which conditions of the analysis hold, and which
// actions follow. It works for every kind of analysis, in situ and afterwards.
//
//   judge() or flagged() -> mark_snapshot(), before the results are written -> lines_of(), to the agent

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/format/mark.hpp"
#include "core/sys/store.hpp"
#include "insight/insitu/analyser.hpp"
#include "insight/insitu/parts.hpp"

namespace forebay::insitu {

struct Judgement {
    std::vector<format::Mark> fulfilled;  // one a condition, with the value farthest beyond the limit
    std::vector<Analysis::Action> actions;
    std::vector<std::string> problems;  // conditions without a result, marks that failed
};

/// Integers of 64 bits count as the nearest double. Complex numbers and texts never fulfil a condition.
Judgement judge(const Analysis& analysis, std::span<const FoundVariable> results);

/// For a flag raised by a script with forebay.insitu.raise_flag(): the same as a fulfilled condition with that text.
Judgement flagged(const Analysis& analysis, const std::string& text, double value,
                  std::vector<Analysis::Action> actions);

/// Marks the snapshot in its run, durably, if a condition is fulfilled and `mark` is among the actions. A failure
/// becomes a problem, and the other actions stay.
void mark_snapshot(sys::Store& store, const std::string& run, const SeenSnapshot& source, Judgement& judgement);

/// The lines from the worker to its agent, without line ends: worker.hpp.
std::vector<std::string> lines_of(const Judgement& judgement);

/// Makes any text one line for the agent.
std::string one_line(std::string text);

}  // namespace forebay::insitu
