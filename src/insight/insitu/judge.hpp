// What the results of an analysis say of the snapshot that they are made of: which of the analysis's conditions it
// fulfils, and what becomes of it. For every kind of analysis, wherever its results come from.
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
    std::vector<format::Mark> fulfilled;  // one a condition: of its values the one farthest beyond the number
    std::vector<Analysis::Action> actions;
    std::vector<std::string> problems;  // conditions over results that are not there, marks that were not made
};

/// Integers of 64 bits count as the nearest double. Complex numbers and texts fulfil nothing.
Judgement judge(const Analysis& analysis, std::span<const FoundVariable> results);

/// What a script says of the snapshot by itself, by forebay.insitu.raise_flag(): as if a condition with that text were
/// fulfilled.
Judgement flagged(const Analysis& analysis, const std::string& text, double value,
                  std::vector<Analysis::Action> actions);

/// Marks the snapshot in its run, durably, if something is fulfilled and the actions say so. Where that cannot be done
/// it is a problem, and the other actions stay.
void mark_snapshot(sys::Store& store, const std::string& run, const SeenSnapshot& source, Judgement& judgement);

/// What a worker says to its agent of it, without the ends of the lines: worker.hpp.
std::vector<std::string> lines_of(const Judgement& judgement);

/// One line that the agent reads, whatever the text holds.
std::string one_line(std::string text);

}  // namespace forebay::insitu
