#include "transfer/team/team.hpp"

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"

namespace forebay::tree {

namespace {

// Most items in one reply: with 256 names each about 16 ms of copying, long beside a network message.
constexpr std::size_t items_max = 16;
// For a directory that another process finishes.
constexpr std::uint64_t never_finished = std::uint64_t{1} << 62;

namespace flags {
constexpr std::uint64_t is_folder = 1, is_batch = 2, is_file = 4;  // of a work item
constexpr std::uint64_t was_made = 8, gives_acl = 16, of_lost = 32;
constexpr std::uint64_t changed = 1, had_loss = 2, failed = 4, holds_wanted = 8;  // of a finished item
}  // namespace flags

constexpr std::uint64_t kind_bits = 8;

std::vector<std::string> names_of(const std::string& text) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('/', at), text.size());
        names.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return names;
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : "/") + name;
    return text;
}

Result<NameBatch> batch_of(const TeamMessage& work_item) {
    if (work_item.numbers.size() != 2 * work_item.texts.size())
        return Error{ErrorKind::corrupt, "names of a directory came without their inodes"};
    NameBatch batch;
    for (std::size_t i = 0; i < work_item.texts.size(); ++i) {
        const auto kind = work_item.numbers[2 * i];
        if (kind >= kind_bits) return Error{ErrorKind::corrupt, "a name of a directory came without its kind"};
        batch.push_back({.name = work_item.texts[i],
                         .kind = static_cast<sys::EntryKind>(kind),
                         .number = work_item.numbers[2 * i + 1]});
    }
    return batch;
}

}  // namespace

std::string team_path(const DirNode& dir_node) { return dir_node.parent ? path_of(dir_node) : ""; }

sys::EntryId team_id(const DirNode& dir_node, TreeSide side, const sys::EntryId& id) {
    const auto device = dir_node.status(side).id.device;
    const auto* top = &dir_node;
    while (top->parent && top->parent->status(side).id.device == device) top = top->parent.get();
    sys::EntryId known{0, id.number};
    if (top->parent) known.device = siphash({}, bytes_of(path_of(*top))) | 1;
    if (id.device != device) known.device ^= siphash({}, std::as_bytes(std::span(&id.device, 1))) << 1;
    return known;
}

void Team::start(TeamWork work) {
    work_ = std::make_unique<TeamWork>(std::move(work));
    chain_ = {work_->root};
    work_->share.hold([this] {
        if (work_->idle) work_->idle();
        if (!is_over_ && !has_asked_.exchange(true)) say({.kind = TeamKind::ask});
    });
}

void Team::over(bool stops) {
    if (is_over_.exchange(true)) return;
    if (stops) work_->share.stop();
    work_->share.release();
}

void Team::root_done() {
    if (process_ == 0) over(false);
}

void Team::say_counts(TeamKind kind) {
    say({.kind = kind,
         .number = static_cast<std::uint64_t>(sys::time_since_boot().count()),
         .numbers = work_ && work_->counts ? work_->counts() : std::vector<std::uint64_t>{}});
}

void Team::hear(const TeamMessage& message) {
    switch (message.kind) {
        case TeamKind::steal_request: return give(message);
        case TeamKind::work_item: return take(message);
        case TeamKind::done:
        case TeamKind::back: return end_given(message);
        case TeamKind::end: return over((message.flags & 1) != 0);
        default:
            if (work_->hear) work_->hear(message);
    }
}

void Team::give(const TeamMessage& steal_request) {
    auto offers = is_over_ ? std::vector<WorkShare::Offered>{} : work_->share.take_offers(items_max);
    for (auto& offered : offers) {
        auto work_item = work_item_of(offered.offer);
        work_item.process = steal_request.process;
        {
            const std::lock_guard lock(mutex_);
            work_item.number = next_number_++;
            // Stored before it is sent: the answer may come at once.
            given_.emplace(work_item.number, std::move(offered));
        }
        say(std::move(work_item));
    }
    say({.kind = TeamKind::steal_reply, .process = steal_request.process, .number = offers.size()});
    if (!offers.empty()) has_asked_ = false;  // the coordinator has dropped the earlier request
}

TeamMessage Team::work_item_of(const Offer& offer) const {
    const auto& dir_node = *offer.dir_node;
    TeamMessage work_item{.kind = TeamKind::work_item, .path = team_path(dir_node), .text = joined(dir_node.leftovers)};
    if (dir_node.was_made) work_item.flags |= flags::was_made;
    if (dir_node.seen.gives_acl) work_item.flags |= flags::gives_acl;
    if (dir_node.had_loss) work_item.flags |= flags::of_lost;
    if (offer.file) {
        work_item.flags |= flags::is_file;
        offer.file->describe(work_item, offer.bytes);
    } else if (offer.names) {
        work_item.flags |= flags::is_batch;
        for (const auto& named : *offer.names) {
            work_item.texts.push_back(named.name);
            work_item.numbers.push_back(static_cast<std::uint64_t>(named.kind));
            work_item.numbers.push_back(named.number);
        }
    } else {
        work_item.flags |= flags::is_folder;
        work_item.texts = {offer.name};
    }
    return work_item;
}

void Team::take(const TeamMessage& work_item) {
    has_asked_ = false;
    work_->share.add_from_outside([this, work_item](TreeWorker& worker) { do_work_item(worker, work_item); });
}

void Team::do_work_item(TreeWorker& worker, const TeamMessage& work_item) {
    // If it fails here, the sender repeats it and reports the error.
    if (!try_work_item(worker, work_item)) say_done(work_item, nullptr, true);
}

Result<> Team::try_work_item(TreeWorker& worker, const TeamMessage& work_item) {
    if (!std::ranges::all_of(work_item.texts, sys::is_entry_name) || work_item.texts.empty())
        return Error{ErrorKind::corrupt, "a work item from another process has no name"};
    FB_TRY_ASSIGN(part, part_of(work_item));
    if ((work_item.flags & flags::is_file) != 0) {
        if (!work_->file) return Error{ErrorKind::unsupported, "this process takes no pieces of files"};
        FB_TRY_ASSIGN(parts, work_->file(worker, part, work_item));
        say_done(work_item, part, false, parts);
        return {};
    }
    if ((work_item.flags & flags::is_batch) != 0) {
        FB_TRY_ASSIGN(names, batch_of(work_item));
        part->give_back = [this, work_item](const DirNodeRef& done) { say_done(work_item, done, false); };
        work_->batch(worker, part, names);
        work_->done(part);
        return {};
    }
    part->give_back = [this, work_item](const DirNodeRef& done) { say_done(work_item, done, false); };
    const auto child = std::make_shared<DirNode>(part, work_item.texts.front());
    FB_TRY(take_wish(*child));
    work_->enter(worker, child);
    return {};
}

// Each work item has its own node: when the item is done, the node is finished and the item is reported.
Result<DirNodeRef> Team::part_of(const TeamMessage& work_item) {
    FB_TRY_ASSIGN(folder, folder_at(work_item.path));
    auto part = std::make_shared<DirNode>(folder->parent, folder->name);
    part->statuses = folder->statuses;
    part->was_entered = true;
    part->wished = folder->wished;
    part->named = folder->named;
    part->was_made = (work_item.flags & flags::was_made) != 0;
    part->seen.gives_acl = (work_item.flags & flags::gives_acl) != 0;
    part->had_loss = (work_item.flags & flags::of_lost) != 0;
    part->leftovers = names_of(work_item.text);
    for (const auto side : {TreeSide::source, TreeSide::target}) {
        if (side == TreeSide::source ? !work_->on_source
                                     : !work_->on_target || (work_->may_lack_target && folder->was_made))
            continue;
        FB_TRY_ASSIGN(opened, work_->folders.get(folder, side));
        if (side == TreeSide::target && part->was_made) opened->expect_new();
        work_->folders.keep(part, side, opened);
    }
    return part;
}

Result<DirNodeRef> Team::folder_at(const std::string& path) {
    // The chain keeps the last path open. Items of one directory often follow each other.
    const auto names = names_of(path);
    const std::lock_guard lock(chain_mutex_);
    std::size_t depth = 0;
    while (depth < names.size() && depth + 1 < chain_.size() && chain_[depth + 1]->name == names[depth]) ++depth;
    chain_.resize(depth + 1);
    for (; depth < names.size(); ++depth) {
        // A path from another host must not lead out of the tree.
        if (!sys::is_entry_name(names[depth]))
            return Error{ErrorKind::corrupt, "another process sent no path below the tree"};
        FB_TRY_ASSIGN(dir_node, open_below(chain_.back(), names[depth]));
        chain_.push_back(dir_node);
    }
    return chain_.back();
}

Result<DirNodeRef> Team::open_below(const DirNodeRef& above, const std::string& name) {
    auto dir_node = std::make_shared<DirNode>(above, name);
    dir_node->pending = never_finished;
    dir_node->was_entered = true;
    FB_TRY(take_wish(*dir_node));
    dir_node->was_made = work_->may_lack_target && above->was_made;
    for (const auto side : {TreeSide::source, TreeSide::target}) {
        if (side == TreeSide::source ? !work_->on_source : !work_->on_target || dir_node->was_made) continue;
        FB_TRY_ASSIGN(folder, work_->folders.get(above, side));
        const bool may_be_unseen = side == TreeSide::target && work_->makes_target;
        auto opened = may_be_unseen ? folder->open_made_folder(name) : folder->open_folder(name);
        if (!opened && side == TreeSide::target && work_->may_lack_target && opened.error().kind != ErrorKind::retry) {
            dir_node->was_made = true;
            continue;
        }
        FB_TRY(opened);
        FB_TRY_ASSIGN(status, (*opened)->status());
        dir_node->status(side) = status;
        work_->folders.keep(dir_node, side, std::move(*opened));
    }
    return dir_node;
}

void Team::say_done(const TeamMessage& work_item, const DirNodeRef& part, bool failed, const std::string& parts) {
    // Work cut off by a stop looks finished, so it is not reported. After a stop this worker is lost, or the command
    // ends.
    if (work_->share.is_stopped()) return;
    TeamMessage done{.kind = TeamKind::done, .process = work_item.process, .number = work_item.number, .text = parts};
    if (failed) done.flags |= flags::failed;
    if (part && part->was_changed) done.flags |= flags::changed;
    if (part && part->had_loss) done.flags |= flags::had_loss;
    if (part && part->holds_wanted) done.flags |= flags::holds_wanted;
    if (part && work_->tell_found) work_->tell_found(part, done);
    say(std::move(done));
}

void Team::end_given(const TeamMessage& done) {
    WorkShare::Offered given;
    {
        const std::lock_guard lock(mutex_);
        const auto match = given_.find(done.number);
        if (match == given_.end()) return;
        given = std::move(match->second);
        given_.erase(match);
    }
    const auto& dir_node = given.offer.dir_node;
    if (done.kind == TeamKind::back || (done.flags & flags::failed) != 0) {
        // The other process may have done a part, under temporary names unknown here.
        dir_node->was_made = false;
        dir_node->had_loss = true;
        return work_->share.add_from_outside(std::move(given.work));
    }
    work_->share.add_from_outside([this, offer = std::move(given.offer), done](TreeWorker& worker) {
        if ((done.flags & flags::changed) != 0) offer.dir_node->was_changed = true;
        if ((done.flags & flags::had_loss) != 0) offer.dir_node->had_loss = true;
        if ((done.flags & flags::holds_wanted) != 0) note_wanted(offer.dir_node.get());
        if (work_->take_found) work_->take_found(offer.dir_node, done);
        if (offer.file) offer.file->done_by_other(worker, offer.bytes, done.text);
        else work_->done(offer.dir_node);
    });
}

}  // namespace forebay::tree
