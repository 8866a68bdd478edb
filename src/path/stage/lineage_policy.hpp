// The line of a stream's saves (format/lineage.hpp). Each rank computes it alone: all ranks choose the same snapshots
// and save the same steps, so they agree without a message.
//
//   nothing chosen, first save of step s         goes on from s - 1: continues steps below s, abandons the rest
//   newest() gave step c, or older(), restore()  goes on from c
//   newest() found nothing                       begins anew and abandons everything
//   a snapshot is chosen between two saves       goes on from it: this session begins another line
//
// If a session saves a lower step than before without choosing a snapshot, it stays on its line: its steps may be case
// numbers in any order.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/format/lineage.hpp"

namespace forebay::stage {

class LineagePolicy {
public:
    /// `session` is the session's number in the run.
    explicit LineagePolicy(std::uint32_t session) : session_(session) {}

    /// The application goes on from a snapshot with its lines, or from nothing.
    void chose(std::int64_t step, const std::vector<format::LineStart>& lines);
    void chose_nothing();

    /// The lines of a save of `step`; the last is its own. Nothing changes until saved().
    std::vector<format::LineStart> lines_of(std::int64_t step) const;
    /// True if the application left the save of `line` at `step`: it did not go on from it, nor from a later save of
    /// its line. Empty while the application has neither chosen nor saved a snapshot.
    std::optional<bool> has_left(const format::Line& line, std::int64_t step) const;
    /// True while the application has neither chosen nor saved a snapshot.
    bool is_new() const { return !chosen_ && lines_.empty(); }
    /// A save of `step` was admitted.
    void saved(std::int64_t step);

private:
    struct Chosen {
        std::int64_t step = -1;
        std::vector<format::LineStart> lines;
    };

    std::uint32_t session_;
    std::vector<format::LineStart> lines_;  // of the last save; empty before the first
    std::int64_t last_ = -1;                // its step
    std::optional<Chosen> chosen_;          // and not saved since
};

}  // namespace forebay::stage
