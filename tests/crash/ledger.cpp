#include "crash/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::crash {

using test::SmallSnapshot;

const SmallSnapshot* Ledger::save_of(std::uint64_t id) const {
    const auto save = std::ranges::find(saves, id, &SmallSnapshot::id);
    return save == saves.end() ? nullptr : &*save;
}

// A later save of the line and step may already have the name, although its commit was cut. If the later save is then
// removed, the step is gone: the earlier save was replaced.
std::vector<SmallSnapshot> Ledger::promised() const {
    const auto may_be_gone = [&](const SmallSnapshot& promised) {
        return std::ranges::any_of(saves, [&](const SmallSnapshot& save) {
            return may_vanish.contains(save.id) && save.step == promised.step &&
                   save.lineage.line() == promised.lineage.line() &&
                   !format::is_later(which_save(promised), which_save(save));
        });
    };
    std::vector<SmallSnapshot> all;
    for (const auto& [place, save] : durable)
        if (!may_be_gone(save)) all.push_back(save);
    return all;
}

bool Ledger::must_be_abandoned(const SmallSnapshot& save) const {
    if (drops.contains(save.lineage.line())) return true;
    const auto abandons = [&](const format::LineStart& start) {
        return !begun_drops.contains(start.line) && format::abandons(start, save.lineage.line(), save.step);
    };
    return std::ranges::any_of(starts, abandons) || std::ranges::any_of(promised(), [&](const auto& other) {
               return std::ranges::any_of(other.lineage.lines, abandons);
           });
}

bool Ledger::may_be_abandoned(const SmallSnapshot& save) const {
    if (begun_drops.contains(save.lineage.line())) return true;
    const auto abandons = [&](const format::LineStart& start) {
        return !drops.contains(start.line) && format::abandons(start, save.lineage.line(), save.step);
    };
    return std::ranges::any_of(begun_starts, abandons) || std::ranges::any_of(saves, [&](const auto& other) {
               return other.lineage.run_id == save.lineage.run_id && std::ranges::any_of(other.lineage.lines, abandons);
           });
}

bool Ledger::may_be_left_for_good(const SmallSnapshot& save) const {
    return std::ranges::any_of(begun_starts, [&](const format::LineStart& start) {
        return format::abandons(start, save.lineage.line(), save.step);
    });
}

bool Ledger::ascends() const {
    return std::ranges::all_of(saves, [](const SmallSnapshot& save) {
        return save.lineage.lines.empty() || save.step > save.lineage.lines.back().from;
    });
}

void Ledger::note_session(std::uint32_t number, const std::set<std::uint32_t>& before) {
    if (!sessions.insert(number).second) wrong.push_back(fmt::format("two sessions have the number {}", number));
    else if (!before.empty() && number < *before.rbegin())
        wrong.push_back(fmt::format("session {} has begun after session {}", number, *before.rbegin()));
}

void Ledger::note_committed(const SmallSnapshot& save) {
    durable[{save.lineage.line(), save.step}] = save;
    may_vanish.erase(save.id);
}

void Ledger::note_removed(std::uint64_t id) {
    removed.insert(id);
    std::erase_if(durable, [id](const auto& entry) { return entry.second.id == id; });
}

void Ledger::begin_anew() {
    auto begun = std::move(saves);
    *this = {};
    saves = std::move(begun);
}

}  // namespace forebay::crash
