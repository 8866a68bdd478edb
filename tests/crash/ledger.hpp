// The acts that the programs of a World have begun, their promises, and the consequences by the rules of lines
// (docs/explanation/lines.md). A second, plain implementation of these rules.
//
// A program that was ended may or may not have completed an act. So most questions have two answers: the promises show
// which facts must hold, and the begun acts show which may hold.

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

/// Small files of one packer that become one snapshot.
struct Batch {
    std::uint64_t id = 0;
    std::map<std::string, std::string> files;  // content by path
};

struct Ledger {
    using Place = std::pair<format::Line, std::int64_t>;

    std::vector<test::SmallSnapshot> saves;        // begun
    std::map<Place, test::SmallSnapshot> durable;  // by line and step: the last save reported committed
    std::set<std::uint64_t> may_vanish;            // ids of snapshots with a removal begun
    std::set<std::uint64_t> removed;               // ids of snapshots reported removed

    std::set<std::uint64_t> begun_marks, marks;  // ids with a mark begun, and reported marked

    std::vector<format::LineStart> begun_starts, starts;  // lines without a snapshot
    std::set<format::Line> begun_drops, drops;            // lines that no longer count

    std::set<std::uint32_t> sessions;    // numbers of sessions
    std::vector<std::string> wrong;      // faults in these numbers
    std::vector<Batch> batches;          // begun
    std::set<std::uint64_t> in_batches;  // ids of batches reported committed

    const test::SmallSnapshot* save_of(std::uint64_t id) const;
    /// Committed saves without a removal begun.
    std::vector<test::SmallSnapshot> promised() const;

    /// True if a promised start abandons `save`.
    bool must_be_abandoned(const test::SmallSnapshot& save) const;
    /// True if any begun start may abandon it.
    bool may_be_abandoned(const test::SmallSnapshot& save) const;
    /// True if a line without a snapshot may abandon it.
    bool may_be_left_for_good(const test::SmallSnapshot& save) const;
    /// True if each save lies above the step that its line went on from. Then the newest line has the highest step.
    bool ascends() const;

    /// A session that knew the sessions `before` got this number.
    void note_session(std::uint32_t number, const std::set<std::uint32_t>& before);
    void note_committed(const test::SmallSnapshot& save);
    void note_removed(std::uint64_t id);
    /// The directory now belongs to another run: no promise is left.
    void begin_anew();
};

/// The order of two saves of a step, as publish sees it.
inline format::Save which_save(const test::SmallSnapshot& snapshot) {
    return {snapshot.id, snapshot.sealed_unix_ns, snapshot.lineage.line(), snapshot.lineage.save};
}

}  // namespace forebay::crash
