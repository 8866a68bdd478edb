#include "transfer/tables/hard_links.hpp"

#include <utility>

#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

// If other processes meet names of an inode too, this process cannot know when all of them were met.
constexpr std::uint64_t unknown_names = UINT64_MAX;

}  // namespace

void HardLinks::share_with_others(Ask ask, Tell tell) {
    ask_ = std::move(ask);
    tell_ = std::move(tell);
}

sys::EntryId HardLinks::id_of(const sys::EntryStatus& status) const {
    return {status.id.device ^ proof_of(status), status.id.number};
}

Result<HardLinks::Turn> HardLinks::take(const sys::EntryStatus& status, const sys::EntryId& existing,
                                        const EntryPlace& own, EntryPlace& at) {
    const std::lock_guard lock(mutex_);
    FB_TRY(spill_failed_);
    const auto id = id_of(status);
    if (!spilled_.is_empty() && !links_.contains(id)) {
        FB_TRY_ASSIGN(spilled, spilled_.find(id));
        if (spilled) return take_spilled(id, *spilled, own, at);
    }
    const auto [entry, is_new] = links_.try_emplace(id);
    auto& links = entry->second;
    if (is_new && ask_) {
        // The answer may come later. Until then this name and all further names of the inode wait.
        links.names_left = unknown_names;
        const auto turn = ask_(status, existing, own, at);
        if (!turn) links_.erase(entry);
        else if (*turn == Turn::ready) links.at = at;
        else if (*turn == Turn::waits) {
            links.waiting.push_back(own);
            ++waiting_;
        }
        return turn;
    }
    if (is_new) {
        links.names_left = status.names - 1;
        return Turn::first;
    }
    // The inode was granted to this process: the first waiting name that returns here copies it.
    if (std::exchange(links.is_granted, false)) return Turn::first;
    if (links.names_left > 0 && links.names_left != unknown_names) --links.names_left;
    if (!links.at.dir_node) {
        links.waiting.push_back(own);
        ++waiting_;
        return Turn::waits;
    }
    at = links.at;
    // All names were met: a later inode with this number is another file.
    if (links.names_left == 0) links_.erase(entry);
    return Turn::ready;
}

Result<HardLinks::Turn> HardLinks::take_spilled(const sys::EntryId& id, SpilledLinks links, const EntryPlace& own,
                                                EntryPlace& at) {
    FB_TRY_ASSIGN(place, places_.get(links.place, own.dir_node));
    at = std::move(place);
    if (links.names_left == unknown_names) return Turn::ready;
    if (--links.names_left == 0) FB_TRY(spilled_.erase(id));
    else FB_TRY(spilled_.put(id, links));
    return Turn::ready;
}

Result<> HardLinks::spill(const sys::EntryId& id, const Links& links) {
    FB_TRY_ASSIGN(place, places_.put(links.at));
    return spilled_.put(id, {.place = place, .names_left = links.names_left});
}

std::vector<EntryPlace> HardLinks::take_waiting(Links& links) {
    waiting_ -= links.waiting.size();
    return std::exchange(links.waiting, {});
}

bool HardLinks::knows(std::uint64_t listed_number) const {
    const std::lock_guard lock(mutex_);
    return links_.contains(listed_number);
}

std::vector<EntryPlace> HardLinks::published(const sys::EntryId& id, const EntryPlace& at) {
    if (tell_) tell_(id, at);
    return found(id, at);
}

std::vector<EntryPlace> HardLinks::granted(const sys::EntryId& id) {
    const std::lock_guard lock(mutex_);
    auto& links = links_[id];
    links.is_granted = true;
    return take_waiting(links);
}

void HardLinks::take_grant_back(const sys::EntryId& id) {
    {
        const std::lock_guard lock(mutex_);
        const auto link = links_.find(id);
        if (link == links_.end() || !link->second.is_granted) return;
        links_.erase(link);
    }
    tell_(id, {});
}

std::vector<EntryPlace> HardLinks::found(const sys::EntryId& id, const EntryPlace& at) {
    const std::lock_guard lock(mutex_);
    const auto link = links_.find(id);
    if (link == links_.end()) return {};
    auto waiting = take_waiting(link->second);
    link->second.at = at;
    if (link->second.names_left == 0) {
        links_.erase(link);
        // Spilled only now: a spilled record has no waiting names.
    } else if (links_.size() > memory_max_ && spill_failed_) {
        spill_failed_ = spill(id, link->second);
        if (spill_failed_) links_.erase(link);
    }
    return waiting;
}

void HardLinks::asks_again(const sys::EntryId& id, const EntryPlace& at) {
    const std::lock_guard lock(mutex_);
    auto& links = links_[id];
    links.at = at;
    if (links.names_left != unknown_names) ++links.names_left;
}

std::vector<EntryPlace> HardLinks::failed(const sys::EntryId& id) {
    if (tell_) tell_(id, {});
    const std::lock_guard lock(mutex_);
    const auto link = links_.find(id);
    if (link == links_.end()) return {};
    auto waiting = take_waiting(link->second);
    links_.erase(link);
    return waiting;
}

Result<bool> HardLinks::claim_target(const sys::EntryId& target, const sys::EntryId& source) {
    const std::lock_guard lock(mutex_);
    FB_TRY_ASSIGN(claimed, claimed_.get_or_put(target, source));
    return claimed == source;
}

}  // namespace forebay::tree
