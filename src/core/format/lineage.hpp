// Where a snapshot stands in the history of its run: which run it is of, which session saved it, and from which step
// that session went on.
//
// A line is what one session saves of a stream without going back. A session that restarts goes on from the step that
// it restarted from, and one that goes back begins another line in the same way. What earlier lines hold above that
// step is abandoned. No clock takes part: a session's number comes from the run (catalog/run_lock.hpp).

#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace forebay::format {

/// Sessions of a run are numbered from 1; session 0 is all that was saved before sessions were numbered. `turn` counts
/// how often the session has gone back in this stream. The greater line began later.
struct Line {
    std::uint32_t session = 0;
    std::uint32_t turn = 0;
    friend auto operator<=>(const Line&, const Line&) = default;
};

/// "5", or "5.1" after the session went back once.
std::string name_of(const Line& line);

/// The line goes on from step `from`, and abandons what earlier lines hold above it. -1: it began anew.
struct LineStart {
    Line line;
    std::int64_t from = -1;
    friend bool operator==(const LineStart&, const LineStart&) = default;
};

/// Starts that a snapshot remembers: enough to say what is abandoned when all snapshots of the lines between are gone.
inline constexpr std::size_t line_starts_max = 32;

struct Lineage {
    std::uint64_t run_id = 0;      // 0: of before runs had an identity
    std::uint64_t save = 0;        // the session's how-manieth save of the stream
    std::vector<LineStart> lines;  // ascending, of this snapshot and those that it goes on from; empty: session 0

    Line line() const { return lines.empty() ? Line{} : lines.back().line; }
    friend bool operator==(const Lineage&, const Lineage&) = default;
};

/// Whether the line of `starts` that begins last goes on from those before it: lines ascend, at most line_starts_max.
bool is_ascending(std::span<const LineStart> starts);

/// Whether a snapshot of `line` at `step` is abandoned by the line that `start` begins.
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

/// Whether `a` is the later one of two saves of a step: by line, then by its number in the line. Wall clocks decide
/// only between saves of before sessions were numbered.
bool is_later(const Save& a, const Save& b);

}  // namespace forebay::format
