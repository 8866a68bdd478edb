// Counts living snapshots from the newest to the oldest. A snapshot counts if it has no mark and its bytes are known to
// be whole. Once `keep` snapshots count, older snapshots go. Snapshots that do not count never push out a good
// snapshot. The `keep` newest marked living snapshots stay, because a run that makes no good snapshots any more would
// fill the target.
//
// Abandoned snapshots are counted separately. The snapshots of line 1 above step 300 go when line 2, which went back to
// 300, has `keep` snapshots that count. Lines that go on from line 2 add to this number.

#include "path/catalog/retention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/names.hpp"

namespace forebay::catalog {

namespace {

/// The state of a snapshot.
enum class Verdict { good, marked, unknown };

// The start of the first line that left the snapshot; for a dropped line, the next line. Empty if this start is not
// known any more.
std::optional<format::LineStart> left_by(const History& history, const Version& version) {
    auto line = version.head.lineage.line();
    // The name aside is the only source of the line while the manifest cannot be read.
    if (const auto aside = aside_of(leaf_of(version.snapshot.directory)); !version.readable && aside)
        line = aside->line;
    const bool dropped = std::ranges::find(history.dropped, line) != history.dropped.end();
    std::optional<format::LineStart> first;
    for (const auto& start : history.starts)
        if ((dropped ? start.line > line : format::abandons(start, line, version.head.step)) &&
            (!first || start.line < first->line))
            first = start;
    return first;
}

std::string words_of(const std::optional<format::LineStart>& start) {
    if (!start) return "the run has abandoned it";
    const auto line = format::name_of(start->line);
    return start->from < 0 ? fmt::format("line {} began anew", line)
                           : fmt::format("line {} continues from step {}", line, start->from);
}

class Selection {
public:
    Selection(sys::Store& store, const History& history, const Retention& what)
        : store_(store), history_(history), what_(what) {}

    Pruned select() {
        select_living();
        if (what_.keep_abandoned >= 0) select_abandoned_by_number();
        else select_abandoned();
        return std::move(pruned_);
    }

private:
    void select_living();
    void select_abandoned();
    void select_abandoned_by_number();
    Verdict look(const Version& version);
    Result<> check(const Version& version, const format::Manifest& manifest) const;

    void keep(const Version& version) { pruned_.kept.push_back(version.snapshot); }
    void remove(const Version& version, std::string reason) {
        pruned_.removed.push_back(version.snapshot);
        pruned_.reasons.push_back(std::move(reason));
    }

    sys::Store& store_;
    const History& history_;
    const Retention& what_;
    std::vector<format::Line> counted_;  // lines of the living snapshots that count
    Pruned pruned_;
};

void Selection::select_living() {
    const auto most = static_cast<std::size_t>(what_.keep);
    std::size_t marked = 0;
    int unproved = what_.unproved;
    for (const auto& version : history_.living) {
        // An analysis may still mark it, so it must neither count nor go.
        const bool may_be_marked = unproved-- > 0 || what_.in_analysis.contains(version.head.snapshot_id);
        if (most == 0 || may_be_marked) {
            keep(version);
            continue;
        }
        const bool is_protected = version.head.step == what_.keep_also;
        if (counted_.size() >= most && !is_protected) {
            remove(version, "it is older than " + show_count(most, "whole snapshot"));
            continue;
        }
        const auto verdict = look(version);
        if (verdict == Verdict::marked && marked++ >= most && !is_protected) {
            remove(version, "it is marked, and older than " + show_count(most, "marked snapshot"));
            continue;
        }
        keep(version);
        if (verdict == Verdict::good) counted_.push_back(version.head.lineage.line());
    }
}

// It does not check snapshots that stay: they stay in any state.
void Selection::select_abandoned() {
    for (const auto& version : history_.abandoned) {
        const auto start = left_by(history_, version);
        const auto is_newer = [&](const format::Line& line) { return !start || !(line < start->line); };
        const auto own = static_cast<std::size_t>(std::ranges::count_if(counted_, is_newer));
        if (what_.keep == 0 || own < static_cast<std::size_t>(what_.keep)) {
            keep(version);
            continue;
        }
        remove(version, fmt::format("{}, and {} came after", words_of(start), show_count(own, "whole snapshot")));
    }
}

void Selection::select_abandoned_by_number() {
    const auto most = static_cast<std::size_t>(what_.keep_abandoned);
    std::size_t good = 0, marked = 0;
    for (const auto& version : history_.abandoned) {
        const auto verdict = good >= most ? Verdict::unknown : look(version);
        const bool goes = good >= most || (verdict == Verdict::marked && marked++ >= most);
        if (goes) {
            remove(version, most == 0 ? "the run has abandoned it"
                                      : "the run has abandoned it, and it is older than " +
                                            show_count(most, "snapshot") + " of that kind");
            continue;
        }
        keep(version);
        good += verdict == Verdict::good ? 1 : 0;
    }
}

Result<> Selection::check(const Version& version, const format::Manifest& manifest) const {
    if (what_.proof) return what_.proof(version.snapshot);
    return check_unchanged(store_, version.snapshot.directory, manifest);
}

Verdict Selection::look(const Version& version) {
    const auto seen = [&]() -> Result<Verdict> {
        FB_TRY(version.readable);
        FB_TRY_ASSIGN(manifest, load_manifest(store_, version.snapshot.directory));
        FB_TRY(check_place(manifest, version.snapshot));
        FB_TRY_ASSIGN(marks, marks_of(store_, version.snapshot.directory, manifest));
        if (!marks.empty()) return Verdict::marked;
        FB_TRY(check(version, manifest));
        return Verdict::good;
    }();
    if (seen) return *seen;
    pruned_.problems.push_back(fmt::format("step {} does not count: {}", version.snapshot.step, seen.error().line()));
    return Verdict::unknown;
}

}  // namespace

Pruned select_snapshots(sys::Store& store, const History& history, const Retention& what) {
    return Selection(store, history, what).select();
}

}  // namespace forebay::catalog
