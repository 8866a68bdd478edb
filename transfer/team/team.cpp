#include "transfer/team/team.hpp"

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"

namespace forebay::tree {

namespace {

// What one request gets at most: with 256 names each some 16 ms of copying, long beside a message over a network.
constexpr std::size_t gifts_max = 16;
// Of a folder that is another process's to finish.
constexpr std::uint64_t never_finished = std::uint64_t{1} << 62;

namespace flags {
constexpr std::uint64_t is_folder = 1, is_portion = 2, is_file = 4;  // of a gift
constexpr std::uint64_t was_made = 8, gives_acl = 16, of_lost = 32;
constexpr std::uint64_t changed = 1, had_loss = 2, failed = 4, holds_wanted = 8;  // of what is done
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

Result<Portion> portion_of(const TeamMessage& gift) {
    if (gift.numbers.size() != 2 * gift.texts.size())
        return Error{ErrorKind::corrupt, "names of a folder came without their inodes"};
    Portion portion;
    for (std::size_t i = 0; i < gift.texts.size(); ++i) {
        const auto kind = gift.numbers[2 * i];
        if (kind >= kind_bits) return Error{ErrorKind::corrupt, "a name of a folder came with no kind"};
        portion.push_back(
            {.name = gift.texts[i], .kind = static_cast<sys::EntryKind>(kind), .number = gift.numbers[2 * i + 1]});
    }
    return portion;
}

}  // namespace

std::string team_path(const Branch& branch) { return branch.parent ? path_of(branch) : ""; }

sys::EntryId team_id(const Branch& branch, TreeSide side, const sys::EntryId& id) {
    const auto device = branch.status(side).id.device;
    const auto* top = &branch;
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
        case TeamKind::want: return give(message);
        case TeamKind::gift: return take(message);
        case TeamKind::done:
        case TeamKind::back: return end_given(message);
        case TeamKind::end: return over((message.flags & 1) != 0);
        default:
            if (work_->hear) work_->hear(message);
    }
}

void Team::give(const TeamMessage& want) {
    auto offers = is_over_ ? std::vector<WorkShare::Offered>{} : work_->share.take_offers(gifts_max);
    for (auto& offered : offers) {
        auto gift = gift_of(offered.offer);
        gift.process = want.process;
        {
            const std::lock_guard lock(mutex_);
            gift.number = next_number_++;
            given_.emplace(gift.number, std::move(offered));
        }
        say(std::move(gift));
    }
    say({.kind = TeamKind::gave, .process = want.process, .number = offers.size()});
    if (!offers.empty()) has_asked_ = false;  // what it asked for before is forgotten by that
}

TeamMessage Team::gift_of(const Offer& offer) const {
    const auto& branch = *offer.branch;
    TeamMessage gift{.kind = TeamKind::gift, .path = team_path(branch), .text = joined(branch.leftovers)};
    if (branch.was_made) gift.flags |= flags::was_made;
    if (branch.seen.gives_acl) gift.flags |= flags::gives_acl;
    if (branch.had_loss) gift.flags |= flags::of_lost;
    if (offer.file) {
        gift.flags |= flags::is_file;
        offer.file->describe(gift, offer.bytes);
    } else if (offer.names) {
        gift.flags |= flags::is_portion;
        for (const auto& named : *offer.names) {
            gift.texts.push_back(named.name);
            gift.numbers.push_back(static_cast<std::uint64_t>(named.kind));
            gift.numbers.push_back(named.number);
        }
    } else {
        gift.flags |= flags::is_folder;
        gift.texts = {offer.name};
    }
    return gift;
}

void Team::take(const TeamMessage& gift) {
    has_asked_ = false;
    work_->share.add_from_outside([this, gift](TreeWorker& worker) { do_gift(worker, gift); });
}

void Team::do_gift(TreeWorker& worker, const TeamMessage& gift) {
    // Whoever gave it does it himself then, and reports what fails there too.
    if (!try_gift(worker, gift)) say_done(gift, nullptr, true);
}

Result<> Team::try_gift(TreeWorker& worker, const TeamMessage& gift) {
    if (!std::ranges::all_of(gift.texts, sys::is_entry_name) || gift.texts.empty())
        return Error{ErrorKind::corrupt, "what another process gave away has no name"};
    FB_TRY_ASSIGN(part, part_of(gift));
    if ((gift.flags & flags::is_file) != 0) {
        if (!work_->file) return Error{ErrorKind::unsupported, "no pieces of files are taken here"};
        FB_TRY_ASSIGN(parts, work_->file(worker, part, gift));
        say_done(gift, part, false, parts);
        return {};
    }
    if ((gift.flags & flags::is_portion) != 0) {
        FB_TRY_ASSIGN(names, portion_of(gift));
        part->give_back = [this, gift](const BranchRef& done) { say_done(gift, done, false); };
        work_->portion(worker, part, names);
        work_->done(part);
        return {};
    }
    part->give_back = [this, gift](const BranchRef& done) { say_done(gift, done, false); };
    const auto child = std::make_shared<Branch>(part, gift.texts.front());
    FB_TRY(take_wish(*child));
    work_->enter(worker, child);
    return {};
}

// A branch of its own for each gift: it is finished, and given back, when all of that gift is done.
Result<BranchRef> Team::part_of(const TeamMessage& gift) {
    FB_TRY_ASSIGN(folder, folder_at(gift.path));
    auto part = std::make_shared<Branch>(folder->parent, folder->name);
    part->statuses = folder->statuses;
    part->was_entered = true;
    part->wished = folder->wished;
    part->named = folder->named;
    part->was_made = (gift.flags & flags::was_made) != 0;
    part->seen.gives_acl = (gift.flags & flags::gives_acl) != 0;
    part->had_loss = (gift.flags & flags::of_lost) != 0;
    part->leftovers = names_of(gift.text);
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

Result<BranchRef> Team::folder_at(const std::string& path) {
    const auto names = names_of(path);
    const std::lock_guard lock(chain_mutex_);
    std::size_t depth = 0;
    while (depth < names.size() && depth + 1 < chain_.size() && chain_[depth + 1]->name == names[depth]) ++depth;
    chain_.resize(depth + 1);
    for (; depth < names.size(); ++depth) {
        if (!sys::is_entry_name(names[depth]))
            return Error{ErrorKind::corrupt, "another process named no path below the tree"};
        FB_TRY_ASSIGN(branch, open_below(chain_.back(), names[depth]));
        chain_.push_back(branch);
    }
    return chain_.back();
}

Result<BranchRef> Team::open_below(const BranchRef& above, const std::string& name) {
    auto branch = std::make_shared<Branch>(above, name);
    branch->pending = never_finished;
    branch->was_entered = true;
    FB_TRY(take_wish(*branch));
    branch->was_made = work_->may_lack_target && above->was_made;
    for (const auto side : {TreeSide::source, TreeSide::target}) {
        if (side == TreeSide::source ? !work_->on_source : !work_->on_target || branch->was_made) continue;
        FB_TRY_ASSIGN(folder, work_->folders.get(above, side));
        const bool may_be_unseen = side == TreeSide::target && work_->makes_target;
        auto opened = may_be_unseen ? folder->open_made_folder(name) : folder->open_folder(name);
        if (!opened && side == TreeSide::target && work_->may_lack_target && opened.error().kind != ErrorKind::retry) {
            branch->was_made = true;
            continue;
        }
        FB_TRY(opened);
        FB_TRY_ASSIGN(status, (*opened)->status());
        branch->status(side) = status;
        work_->folders.keep(branch, side, std::move(*opened));
    }
    return branch;
}

void Team::say_done(const TeamMessage& gift, const BranchRef& part, bool failed, const std::string& parts) {
    // What a stop has cut off looks like what is done. Who has stopped is lost, or the command ends.
    if (work_->share.is_stopped()) return;
    TeamMessage done{.kind = TeamKind::done, .process = gift.process, .number = gift.number, .text = parts};
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
    const auto& branch = given.offer.branch;
    if (done.kind == TeamKind::back || (done.flags & flags::failed) != 0) {
        // The other one may have done a part, under names that nobody here knows of.
        branch->was_made = false;
        branch->had_loss = true;
        return work_->share.add_from_outside(std::move(given.work));
    }
    work_->share.add_from_outside([this, offer = std::move(given.offer), done](TreeWorker& worker) {
        if ((done.flags & flags::changed) != 0) offer.branch->was_changed = true;
        if ((done.flags & flags::had_loss) != 0) offer.branch->had_loss = true;
        if ((done.flags & flags::holds_wanted) != 0) note_wanted(offer.branch.get());
        if (work_->take_found) work_->take_found(offer.branch, done);
        if (offer.file) offer.file->done_by_other(worker, offer.bytes, done.text);
        else work_->done(offer.branch);
    });
}

}  // namespace forebay::tree
