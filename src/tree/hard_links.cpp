#include "tree/hard_links.hpp"

#include <utility>

namespace forebay::tree {

namespace {

// Where others meet names of an inode too, nobody here knows when all of them were met.
constexpr std::uint64_t unknown_names = UINT64_MAX;

}  // namespace

void HardLinks::share_with_others(Ask ask, Tell tell) {
    ask_ = std::move(ask);
    tell_ = std::move(tell);
}

HardLinks::Turn HardLinks::take(const sys::EntryStatus& status, const sys::EntryId& existing, const EntryPlace& own,
                                EntryPlace& at) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = links_.try_emplace(status.id);
    auto& links = found->second;
    if (is_new && ask_) {
        links.names_left = unknown_names;
        const auto turn = ask_(status.id, existing, own, at);
        if (turn == Turn::ready) links.at = at;
        if (turn == Turn::waits) links.waiting.push_back(own);
        return turn;
    }
    if (is_new) {
        links.names_left = status.names - 1;
        return Turn::first;
    }
    if (std::exchange(links.is_granted, false)) return Turn::first;
    if (links.names_left > 0 && links.names_left != unknown_names) --links.names_left;
    if (!links.at.branch) {
        links.waiting.push_back(own);
        return Turn::waits;
    }
    at = links.at;
    if (links.names_left == 0) links_.erase(found);
    return Turn::ready;
}

bool HardLinks::knows(const sys::EntryId& id) const {
    const std::lock_guard lock(mutex_);
    return links_.contains(id);
}

std::vector<EntryPlace> HardLinks::published(const sys::EntryId& id, const EntryPlace& at) {
    if (tell_) tell_(id, at);
    return found(id, at);
}

std::vector<EntryPlace> HardLinks::granted(const sys::EntryId& id) {
    const std::lock_guard lock(mutex_);
    auto& links = links_[id];
    links.is_granted = true;
    return std::exchange(links.waiting, {});
}

void HardLinks::take_grant_back(const sys::EntryId& id) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = links_.find(id);
        if (found == links_.end() || !found->second.is_granted) return;
        links_.erase(found);
    }
    tell_(id, {});
}

std::vector<EntryPlace> HardLinks::found(const sys::EntryId& id, const EntryPlace& at) {
    const std::lock_guard lock(mutex_);
    const auto found = links_.find(id);
    if (found == links_.end()) return {};
    auto waiting = std::exchange(found->second.waiting, {});
    found->second.at = at;
    if (found->second.names_left == 0) links_.erase(found);
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
    const auto found = links_.find(id);
    if (found == links_.end()) return {};
    auto waiting = std::exchange(found->second.waiting, {});
    links_.erase(found);
    return waiting;
}

bool HardLinks::claim_target(const sys::EntryId& target, const sys::EntryId& source) {
    const std::lock_guard lock(mutex_);
    return claimed_.try_emplace(target, source).first->second == source;
}

}  // namespace forebay::tree
