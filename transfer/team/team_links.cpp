#include "transfer/team/team_links.hpp"

#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

TeamMessage place_of(const sys::EntryId& id, const std::string& path, const std::string& name) {
    return {.kind = TeamKind::link_answer, .id = id, .path = path, .text = name};
}

}  // namespace

TeamMessage TeamLinks::make_first(const sys::EntryId& id, Link& link, const Asker& asker) {
    link.owner = asker.process;
    TeamMessage answer{.kind = TeamKind::link_answer, .flags = link_is_first, .id = id};
    if (asker.existing == sys::EntryId{}) return answer;
    // Two source files must not keep the same target inode.
    const auto claimed = claimed_.get_or_put(asker.existing, id);
    if (!claimed) failed_ = claimed.error();
    else if (*claimed == id) answer.flags |= link_may_keep;
    return answer;
}

Result<TeamLinks::Answers> TeamLinks::ask(std::uint64_t process, const TeamMessage& asked) {
    FB_TRY(failed_);
    // Memory first: a lookup in the file costs a read.
    if (!spilled_.is_empty() && !links_.contains(asked.id)) {
        FB_TRY_ASSIGN(spilled, spilled_.find(asked.id));
        if (spilled) {
            FB_TRY_ASSIGN(path, texts_.at(spilled->path));
            FB_TRY_ASSIGN(name, texts_.at(spilled->name));
            return Answers{{process, place_of(asked.id, path, name)}};
        }
    }
    const auto [entry, is_new] = links_.try_emplace(asked.id);
    auto& link = entry->second;
    const Asker asker{process, asked.other_id};
    if (is_new) return Answers{{process, make_first(asked.id, link, asker)}};
    if (link.is_published) return Answers{{process, place_of(asked.id, link.path, link.name)}};
    link.waiting.push_back(asker);
    return Answers();
}

Result<> TeamLinks::spill(const sys::EntryId& id, const Link& link) {
    // Many names in a row lie in one directory: its path is stored once.
    if (last_path_at_ == 0 || link.path != last_path_) {
        FB_TRY_ASSIGN(path_at, texts_.append(link.path));
        last_path_ = link.path;
        last_path_at_ = path_at;
    }
    FB_TRY_ASSIGN(name_at, texts_.append(link.name));
    return spilled_.put(id, {.path = last_path_at_, .name = name_at});
}

TeamLinks::Answers TeamLinks::published(const TeamMessage& published) {
    const auto match = links_.find(published.id);
    if (match == links_.end()) return {};
    auto& link = match->second;
    link.is_published = true;
    link.path = published.path;
    link.name = published.text;
    Answers answers;
    for (const auto& asker : std::exchange(link.waiting, {}))
        answers.emplace_back(asker.process, place_of(published.id, link.path, link.name));
    // Only published links move to the file: others still have waiting processes.
    if (links_.size() > memory_max_ && failed_) {
        failed_ = spill(published.id, link);
        if (failed_) links_.erase(match);
    }
    return answers;
}

void TeamLinks::hand_on(const sys::EntryId& id, Link& link, Answers& answers) {
    const auto next = link.waiting.front();
    link.waiting.erase(link.waiting.begin());
    answers.emplace_back(next.process, make_first(id, link, next));
}

TeamLinks::Answers TeamLinks::failed(const TeamMessage& failed) {
    const auto link = links_.find(failed.id);
    if (link == links_.end() || link->second.is_published) return {};
    Answers answers;
    if (link->second.waiting.empty()) links_.erase(link);
    else hand_on(failed.id, link->second, answers);
    return answers;
}

TeamLinks::Answers TeamLinks::lost(std::uint64_t process) {
    Answers answers;
    for (auto at = links_.begin(); at != links_.end();) {
        auto& [id, link] = *at;
        std::erase_if(link.waiting, [&](const Asker& asker) { return asker.process == process; });
        if (!link.is_published && link.owner == process && link.waiting.empty()) {
            at = links_.erase(at);
            continue;
        }
        if (!link.is_published && link.owner == process) hand_on(id, link, answers);
        ++at;
    }
    return answers;
}

}  // namespace forebay::tree
