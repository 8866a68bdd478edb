// Chooses the snapshot of a restart. First it waits until agents have drained the staged files of a dead session. Then
// rank 0 lists the candidates (find), newest first: committed snapshots of the living line, and staged files that are a
// whole snapshot alone; for reports also snapshots that cannot be used. All ranks get the list. For each candidate all
// ranks load the manifest, add the copies in this node's memory, and check every node file's record once, with the
// files shared out among the ranks. The caller accepts the candidate, or the next older candidate follows.
//
// A candidate is skipped only for its own fault: damage, a mark, another run, files that never came. Other obstacles
// end the choice: too little memory, failing storage, permissions, a link to an unmounted disk, a newer format, a save
// in the memory of several nodes that agents cannot commit. An older snapshot would not cure them, and the run would go
// back without need.

#include "path/restart/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/node_reader.hpp"
#include "path/catalog/run.hpp"
#include "path/node/await.hpp"

namespace forebay::restart {

namespace {

// Joins texts without NUL into one text.
std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const auto& text : texts) all += text + '\0';
    return all;
}

std::vector<std::string> split(std::string_view all) {
    std::vector<std::string> texts;
    for (; !all.empty(); all.remove_prefix(texts.back().size() + 1)) texts.emplace_back(all.substr(0, all.find('\0')));
    return texts;
}

}  // namespace

Result<std::vector<node::StagedFile>> Chooser::staged_here() {
    std::vector<node::StagedFile> staged;
    auto& node = *context_.topology->node;
    const auto look = [&]() -> Result<> {
        FB_TRY_ASSIGN(files, node::staged_files(context_.staging->directory()));
        staged = std::move(files);
        return {};
    };
    // The other ranks look at the same files, but the first rank decides by their names which files count.
    std::string names;
    FB_TRY(comm::agree(node, [&]() -> Result<> {
        if (!context_.topology->leads()) return {};
        FB_TRY(look());
        for (const auto& file : staged)
            if (file.stream == stream_) names += file.path + "\n";
        return {};
    }));
    FB_TRY(node.broadcast_sized(names, 0));
    FB_TRY(comm::agree(node, [&]() -> Result<> {
        if (!context_.topology->leads()) FB_TRY(look());
        std::erase_if(staged, [&](const auto& file) { return names.find(file.path + "\n") == std::string::npos; });
        return {};
    }));
    return staged;
}

bool Chooser::is_whole_alone(const node::StagedFile& file) const {
    const auto& record = file.peek.record;
    return context_.topology->nodes == 1 && record.nodes == 1 && record.lineage.run_id == context_.run_id;
}

// Adds committed snapshots; also snapshots that cannot be used, with reasons.
Result<> Chooser::add_target(const Result<catalog::History>& history, std::vector<Candidate>& candidates) const {
    if (!history && history.error().kind == ErrorKind::missing) return {};
    if (!history)
        return with_context(history.error(),
                            fmt::format("the snapshots of stream '{}' of {} cannot be read: {}", stream_, context_.run,
                                        history.error().what),
                            "all snapshots. Nothing is removed",
                            fmt::format("repair the mount or the permissions, then start again. Or {}", begin_anew));
    for (const auto& version : history->living)
        candidates.push_back({.step = version.head.step,
                              .save = version.head.which_save(),
                              .directory = version.snapshot.directory,
                              .usable = version.readable});
    for (const auto& version : history->foreign)
        candidates.push_back(
            {.step = version.head.step,
             .usable = Error{ErrorKind::refused,
                             fmt::format("{} is of another run, {}", version.snapshot.directory,
                                         catalog::id_text(version.head.lineage.run_id)),
                             "", fmt::format("forebay adopt {} takes it into this run", version.snapshot.directory)}});
    // After `prune --above` a person wanted none of the abandoned snapshots. Otherwise they are all that the run has.
    if (!history->living.empty() || history->was_pruned_back()) return {};
    const auto last = format::name_of(history->latest_line());
    for (const auto& version : history->abandoned) {
        const auto line = format::name_of(version.head.lineage.line());
        candidates.push_back(
            {.step = version.head.step,
             .usable = Error{ErrorKind::refused, fmt::format("the run has abandoned its line, {}", line), "",
                             fmt::format("forebay prune {}/{} --line {} gives up line {}, which has no snapshot",
                                         context_.run, stream_, last, last)}});
    }
    return {};
}

// Adds snapshots that were never committed because node files did not arrive.
Result<> Chooser::add_parts(const std::set<std::uint64_t>& known, std::vector<Candidate>& candidates) const {
    const auto parts = catalog::leftovers(*context_.store, context_.run, stream_);
    if (!parts && parts.error().kind == ErrorKind::missing) return {};
    FB_TRY(parts);
    for (const auto& part : *parts)
        if (part.kind == catalog::Leftover::Kind::part && !known.contains(part.snapshot_id))
            candidates.push_back(
                {.step = part.step,
                 .usable = Error{
                     ErrorKind::missing,
                     fmt::format("it is not committed, as {} does not hold all of its node files", part.directory), "",
                     fmt::format("run forebay recover {} on the nodes that saved it", context_.run)}});
    return {};
}

// Only on the world's first rank.
Result<std::vector<Chooser::Candidate>> Chooser::find(const std::vector<node::StagedFile>& staged,
                                                      const std::vector<UncommittedSave>& uncommitted) const {
    // Before the list of the target: a snapshot committed by now is in that list. If it is not, somebody removed it,
    // and its staged copy must not come back.
    const auto committed = context_.staging->committed_snapshots(stream_);
    std::vector<format::Lineage> lineages;
    for (const auto& file : staged)
        if (is_whole_alone(file) && !committed.contains(file.peek.record.snapshot_id))
            lineages.push_back(file.peek.record.lineage);
    for (const auto& save : uncommitted) lineages.push_back(save.record.lineage);

    std::vector<Candidate> candidates;
    const auto history = catalog::history(*context_.store, context_.run, stream_, lineages);
    FB_TRY(add_target(history, candidates));
    auto known = committed;
    for (const auto& candidate : candidates) known.insert(candidate.save.snapshot_id);
    for (const auto& file : staged) {
        const auto& record = file.peek.record;
        if (!is_whole_alone(file) || known.contains(record.snapshot_id)) continue;
        if (history && history->abandons(record.lineage.line(), record.step)) continue;
        known.insert(record.snapshot_id);
        candidates.push_back({.step = record.step, .save = record.which_save(), .staged = file.path});
    }
    for (const auto& [record, why] : uncommitted) {
        if (known.contains(record.snapshot_id)) continue;
        if (history && history->abandons(record.lineage.line(), record.step)) continue;
        known.insert(record.snapshot_id);
        candidates.push_back({.step = record.step, .save = record.which_save(), .usable = why, .uncommitted = true});
    }
    FB_TRY(add_parts(known, candidates));
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
        return a.step != b.step ? a.step > b.step : format::is_later(a.save, b.save);
    });
    return candidates;
}

Result<std::vector<Chooser::Candidate>> Chooser::candidates(const std::vector<node::StagedFile>& staged) {
    auto& world = *context_.topology->world;
    constexpr std::size_t fields = 8;
    std::string text;
    // Before the list of the target, so that a snapshot committed meanwhile is in the list.
    FB_TRY_ASSIGN(uncommitted,
                  uncommitted_saves(*context_.topology, *context_.staging, {stream_, context_.run_id, context_.left}));
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (world.rank() != 0) return {};
        FB_TRY_ASSIGN(candidates, find(staged, uncommitted));
        std::vector<std::string> texts;
        for (const auto& candidate : candidates) {
            const auto why = candidate.usable ? Error{.kind = {}} : candidate.usable.error();
            texts.insert(texts.end(),
                         {fmt::to_string(candidate.step), fmt::to_string(candidate.save.snapshot_id),
                          candidate.directory, candidate.staged, fmt::to_string(static_cast<int>(why.kind)), why.what,
                          why.next, candidate.uncommitted ? "1" : ""});
        }
        text = joined(texts);
        return {};
    }));
    FB_TRY(world.broadcast_sized(text, 0));
    std::vector<Candidate> all;
    FB_TRY(comm::agree(world, [&] {
        const auto texts = split(text);
        for (std::size_t i = 0; i + fields <= texts.size(); i += fields) {
            const auto kind = std::stoi(texts[i + 4]);
            all.push_back({.step = std::stoll(texts[i]),
                           .save = {.snapshot_id = std::stoull(texts[i + 1])},
                           .directory = texts[i + 2],
                           .staged = texts[i + 3]});
            all.back().uncommitted = !texts[i + 7].empty();
            if (kind != 0) all.back().usable = Error{static_cast<ErrorKind>(kind), texts[i + 5], "", texts[i + 6]};
        }
    }));
    return all;
}

// Adds the marks beside the node files: at the target, or in the part where a staged snapshot is being drained.
Result<format::Manifest> Chooser::read_manifest(const Candidate& candidate) const {
    auto& store = *context_.store;
    const auto part =
        context_.run + "/" + stream_ + "/" + catalog::part_name(candidate.step, candidate.save.snapshot_id);
    const bool is_staged = candidate.directory.empty();
    FB_TRY_ASSIGN(manifest, is_staged ? catalog::manifest_of_staged(candidate.staged)
                                      : catalog::load_manifest(store, candidate.directory));
    if (!is_staged) FB_TRY(catalog::check_place(manifest, {stream_, candidate.step, candidate.directory}));
    // Another run may lie there since the list; this session belongs to one run.
    const auto run_id = manifest.lineage.run_id;
    if (run_id != 0 && context_.run_id != 0 && run_id != context_.run_id)
        return Error{ErrorKind::refused,
                     fmt::format("{} is of another run, {}", is_staged ? candidate.staged : candidate.directory,
                                 catalog::id_text(run_id)),
                     "", fmt::format("move the run back to {}, then start again", context_.run)};
    FB_TRY_ASSIGN(marks, catalog::marks_of(store, is_staged ? part : candidate.directory, manifest));
    manifest.marks = std::move(marks);
    return manifest;
}

// Rank 0 reads it for all ranks, so that all see the same marks.
Result<format::Manifest> Chooser::manifest_of(const Candidate& candidate) {
    auto& world = *context_.topology->world;
    format::Manifest manifest;
    std::string text;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (world.rank() != 0) return {};
        FB_TRY_ASSIGN(read, read_manifest(candidate));
        text = format::encode_manifest(read);
        return {};
    }));
    FB_TRY(world.broadcast_sized(text, 0));
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        const auto& name = candidate.directory.empty() ? candidate.staged : candidate.directory;
        FB_TRY_ASSIGN(decoded, format::decode_manifest(text, name));
        manifest = std::move(decoded);
        return {};
    }));
    return manifest;
}

// Decides about a marked snapshot, and reports the decision.
Result<bool> Chooser::takes_marked(const format::Manifest& manifest, std::int64_t named) {
    const auto step = manifest.step;
    const bool takes = step == named || context_.marked == Marked::take;
    FB_TRY(comm::agree(*context_.topology->world, [&] {
        const auto why = fmt::format("it is marked, {}", format::words_of(manifest.marks.front()));
        if (takes) return context_.note(fmt::format("step {} is used, although {}", step, why));
        context_.pass_over(
            {step,
             Error{ErrorKind::refused, why, "",
                   fmt::format(
                       "forebay unmark {}/{}@{}. Or FOREBAY_RESTART={} takes it once, and marked = \"take\" always",
                       context_.run, stream_, step, step)}});
    }));
    return takes;
}

Result<Choice> Chooser::load(const Candidate& candidate, const std::vector<node::StagedFile>& staged) {
    auto& world = *context_.topology->world;
    FB_TRY_ASSIGN(manifest, manifest_of(candidate));
    Choice choice;
    FB_TRY(comm::agree(world, [&] {
        choice = {std::move(manifest), catalog::SnapshotCopies(*context_.store, candidate.directory)};
        choice.copies.add(catalog::copies_in_memory(choice.manifest, staged), choice.manifest);
    }));
    FB_TRY(comm::agree(world, [&] { return check_records(choice); }));
    return choice;
}

// Checks every node file's record once, with the files shared out among all ranks. With several nodes a rank may check
// a file for another node, so this node's copies prove nothing; then it checks the target.
Result<> Chooser::check_records(const Choice& choice) const {
    auto& world = *context_.topology->world;
    const auto size = static_cast<std::size_t>(world.size());
    for (auto i = static_cast<std::size_t>(world.rank()); i < choice.manifest.nodes.size(); i += size) {
        const auto& line = choice.manifest.nodes[i];
        const auto& copies = context_.topology->nodes == 1 ? choice.copies.of(line) : choice.copies.at_target();
        FB_TRY(copies.check_record(line));
    }
    return {};
}

std::optional<std::int64_t> Chooser::before(std::int64_t step) const {
    const auto at = usable_steps_.lower_bound(step);
    return at == usable_steps_.begin() ? std::nullopt : std::optional(*std::prev(at));
}

// A process without memory or descriptors would fail at any snapshot and restart from an older one. Storage that fails
// now, or permissions missing for a night, may give the snapshot soon.
Error Chooser::judge(std::int64_t step, const std::string& directory, const Error& why) const {
    auto& world = *context_.topology->world;
    std::int64_t removed = 0;
    const auto looked = comm::agree(world, [&]() -> Result<> {
        if ((why.kind != ErrorKind::missing && why.kind != ErrorKind::corrupt) || world.rank() != 0) return {};
        // If another run lies there now, its files are neither damaged nor removed.
        FB_TRY(catalog::check_identity(*context_.store, context_.run, context_.run_id));
        if (why.kind == ErrorKind::corrupt) return {};
        removed = 1;
        if (directory.empty()) return {};  // it was in this node's memory
        // If the whole stream is gone, its storage is gone.
        FB_TRY(catalog::list_stream(*context_.store, context_.run, stream_));
        FB_TRY_ASSIGN(is_removed, catalog::is_removed(*context_.store, directory, 0));
        removed = is_removed ? 1 : 0;
        return {};
    });
    removed = world.max(removed);
    Error judged;
    const auto done = comm::agree(world, [&] {
        const bool its_own_fault = looked && (why.kind == ErrorKind::corrupt || removed != 0);
        judged = its_own_fault ? why : cannot_be_read_now(place(), step, looked ? why : looked.error(), before(step));
    });
    return done ? judged : done.error();
}

Result<> Chooser::pass_over(const Candidate& candidate, const Error& why) const {
    auto judged = judge(candidate.step, candidate.directory, why);
    if (judged.kind != ErrorKind::corrupt && judged.kind != ErrorKind::missing) return judged;
    return comm::agree(*context_.topology->world, [&] {
        if (!candidate.staged.empty()) judged.what = "its staged copy: " + judged.what;
        context_.pass_over({candidate.step, std::move(judged)});
    });
}

Error Chooser::not_committed_now(const Candidate& candidate) const {
    Error error;
    const auto done = comm::agree(*context_.topology->world, [&] {
        error = restart::not_committed_now(place(), candidate.step, candidate.usable.error(), before(candidate.step));
    });
    return done ? error : done.error();
}

Result<bool> Chooser::choose_below(std::int64_t below, std::int64_t named, const Accept& accept) {
    if (!settled_)
        FB_TRY(node::await_inherited(*context_.topology, *context_.staging, context_.wait_max, context_.host,
                                     context_.say));
    settled_ = true;
    auto& world = *context_.topology->world;
    std::vector<node::StagedFile> staged;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY_ASSIGN(here, staged_here());
        staged = std::move(here);
        return {};
    }));
    FB_TRY_ASSIGN(all, candidates(staged));
    FB_TRY(comm::agree(world, [&] {
        // judge() reports the next older step from this list.
        usable_steps_.clear();
        for (const auto& candidate : all)
            if (candidate.usable) usable_steps_.insert(candidate.step);
    }));
    for (const auto& candidate : all) {
        if (candidate.step >= below) continue;
        if (candidate.uncommitted) {
            settled_ = false;  // agents may commit it before the next call
            return not_committed_now(candidate);
        }
        // Loading a committed snapshot reports the fault of its manifest. For others the reason is known already.
        if (!candidate.usable && candidate.directory.empty()) {
            FB_TRY(comm::agree(world, [&] { context_.pass_over({candidate.step, candidate.usable.error()}); }));
            continue;
        }
        auto choice = candidate.usable ? load(candidate, staged) : Result<Choice>(candidate.usable.error());
        if (!choice) {
            FB_TRY(pass_over(candidate, choice.error()));
            continue;
        }
        if (!choice->manifest.marks.empty()) {
            FB_TRY_ASSIGN(takes, takes_marked(choice->manifest, named));
            if (!takes) continue;
        }
        FB_TRY_ASSIGN(accepted, accept(std::move(*choice)));
        if (accepted) return true;
        below = candidate.step;  // older saves of this step are skipped too
    }
    return false;
}

}  // namespace forebay::restart
