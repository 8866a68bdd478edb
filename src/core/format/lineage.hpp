// The place of a snapshot in the history of its run: the run, the session that saved it, and the step from which the
// session continued.
//
// A line is the series of saves of one session in a stream, without going back. A restarted session continues from its
// restart step. A session that goes back begins another line in the same way. Snapshots of earlier lines above that
// step are abandoned. No clock is used: the number of a session comes from the run (catalog/run_lock.hpp).

#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace forebay::format {

/// Sessions of a run are numbered from 1. Session 0 stands for all saves before sessions had numbers. `turn` counts how
/// often the session went back in this stream. The greater line began later.
struct Line {
    std::uint32_t session = 0;
    std::uint32_t turn = 0;
    friend auto operator<=>(const Line&, const Line&) = default;
};

/// Returns "5", or "5.1" after the session went back once.
std::string name_of(const Line& line);

/// The line continues from step `from`, and abandons snapshots of earlier lines above it. -1: it began anew.
struct LineStart {
    Line line;
    std::int64_t from = -1;
    friend bool operator==(const LineStart&, const LineStart&) = default;
};

/// The most starts that a snapshot keeps. They show the abandoned snapshots even if all snapshots of the lines between
/// are gone.
inline constexpr std::size_t line_starts_max = 32;

struct Lineage {
    std::uint64_t run_id = 0;      // 0: saved before runs had an identity
    std::uint64_t save = 0;        // number of this save in the session and stream
    std::vector<LineStart> lines;  // ascending: the lines that lead to this snapshot, and its own; empty: session 0

    Line line() const { return lines.empty() ? Line{} : lines.back().line; }
    friend bool operator==(const Lineage&, const Lineage&) = default;
};

/// Returns true if the lines ascend and are at most line_starts_max.
bool is_ascending(std::span<const LineStart> starts);

/// Returns true if the line of `start` abandons a snapshot of `line` at `step`.
inline bool abandons(const LineStart& start, const Line& line, std::int64_t step) {
    return start.line > line && step > start.from;
}

/// One save of one step.
struct Save {
    std::uint64_t snapshot_id = 0;
    std::int64_t sealed_unix_ns = 0;
    Line line = {};
    std::uint64_t number = 0;  // Lineage::save
};

/// Returns true if `a` is the later of two saves of a step: by line, then by its number in the line. Wall clocks decide
/// only between saves of session 0.
bool is_later(const Save& a, const Save& b);

}  // namespace forebay::format
