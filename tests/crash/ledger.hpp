// What the programs of a World have begun and what they have promised, and what follows from both by the rules of
// lines alone (docs/explanation/lines.md), written down a second time and plainly.
//
// A program that was ended may have done what it had begun, or not. So there are two answers to most questions: what
// holds in any case, by the promises, and what may hold, by all that was begun.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/format/lineage.hpp"
#include "support/small_run.hpp"

namespace forebay::crash {

/// Small files of one packer, which become one snapshot.
struct Batch {
    std::uint64_t id = 0;
    std::map<std::string, std::string> files;  // content by path
};

struct Ledger {
    using Place = std::pair<format::Line, std::int64_t>;

    std::vector<test::SmallSnapshot> saves;        // begun
    std::map<Place, test::SmallSnapshot> durable;  // of a line and step: the last one called committed
    std::set<std::uint64_t> may_vanish;            // ids of what somebody was about to remove
    std::set<std::uint64_t> removed;               // ids of what somebody called removed

    std::set<std::uint64_t> begun_marks, marks;  // ids of what somebody marks, and of what is called marked

    std::vector<format::LineStart> begun_starts, starts;  // lines without a snapshot
    std::set<format::Line> begun_drops, drops;            // lines that count no more

    std::set<std::uint32_t> sessions;    // numbers that were given
    std::vector<std::string> wrong;      // with these numbers
    std::vector<Batch> batches;          // begun
    std::set<std::uint64_t> in_batches;  // ids of batches called committed

    const test::SmallSnapshot* save_of(std::uint64_t id) const;
    /// Promised, and nobody was about to remove it.
    std::vector<test::SmallSnapshot> promised() const;

    /// Whether `save` is abandoned in any case: by a start that was promised.
    bool must_be_abandoned(const test::SmallSnapshot& save) const;
    /// Whether it may be, by any that was begun.
    bool may_be_abandoned(const test::SmallSnapshot& save) const;
    /// Whether it may be by a line that has no snapshot.
    bool may_be_left_for_good(const test::SmallSnapshot& save) const;
    /// Whether each save lies above the step that its line went on from, so that the newest line has the highest step.
    bool ascends() const;

    /// A session that knew of `before` got a number.
    void note_session(std::uint32_t number, const std::set<std::uint32_t>& before);
    void note_committed(const test::SmallSnapshot& save);
    void note_removed(std::uint64_t id);
    /// The directory is another run's: nothing is promised there.
    void begin_anew();
};

/// How publish orders two saves of a step.
inline format::Save which_save(const test::SmallSnapshot& snapshot) {
    return {snapshot.id, snapshot.sealed_unix_ns, snapshot.lineage.line(), snapshot.lineage.save};
}

}  // namespace forebay::crash
