#include "restart/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/error_text.hpp"
#include "catalog/catalog.hpp"
#include "catalog/history.hpp"
#include "catalog/names.hpp"
#include "catalog/node_reader.hpp"
#include "node/await.hpp"

namespace forebay::restart {

namespace {

using node::SlotState;

// What a dead session left staged on nodes of which it had another number is whole at the target alone.
bool is_of_other_nodes(const std::string& directory, std::uint32_t nodes) {
    const auto staged = node::staged_files(directory);
    return staged &&
           std::ranges::any_of(*staged, [&](const node::StagedFile& file) { return file.peek.record.nodes != nodes; });
}

// A list of texts in one; none of them holds a NUL.
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

// What a dead session left staged on several nodes can be read by all of them only from the target, so it is first
// drained there, by the agents that this session has started. One node reads its staged copies as they are.
Result<> Chooser::settle() {
    if (std::exchange(settled_, true)) return {};
    const auto nodes = context_.topology->nodes;
    bool waits = false;
    FB_TRY(comm::agree(*context_.topology->world, [&] {
        waits = context_.topology->leads() && (nodes > 1 || is_of_other_nodes(context_.staging->directory(), nodes));
    }));
    const auto& page = context_.staging->control();
    const auto look = [&](std::chrono::milliseconds nap) -> std::optional<std::string> {
        if (!waits) return {};
        const auto seen = page.news.load(std::memory_order_acquire);
        std::vector<std::uint32_t> busy;
        for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) {
            const auto state = page.slots[i].state.load(std::memory_order_acquire);
            if (state == SlotState::sealed || state == SlotState::draining || state == SlotState::drained)
                busy.push_back(i);
        }
        if (busy.empty()) return {};
        sys::wait_on(page.news, seen, nap);
        return fmt::format("the agent on {} to drain what an earlier session left in {}: {}", sys::host_name(),
                           context_.staging->directory(), node::show_pending(*context_.staging, busy));
    };
    // What is committed by then is what there is.
    node::wait_together(*context_.topology->world, look, context_.wait_max, context_.say);
    return {};
}

Result<std::vector<node::StagedFile>> Chooser::staged_here() {
    std::vector<node::StagedFile> staged;
    auto& node = *context_.topology->node;
    const auto look = [&]() -> Result<> {
        FB_TRY_ASSIGN(found, node::staged_files(context_.staging->directory()));
        staged = std::move(found);
        return {};
    };
    // The others look at the same files; only which of them count is the first rank's to say, by their names.
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

// By the world's first rank.
Result<std::vector<Chooser::Candidate>> Chooser::find(const std::vector<node::StagedFile>& staged) const {
    // Before the target is listed: what is committed by now is in the list, unless somebody has removed it, and then
    // its staged copy is not to come back.
    std::set<std::uint64_t> committed;
    const auto& page = context_.staging->control();
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i)  // ids are of one stream: others have the same
        if (page.slots[i].state.load(std::memory_order_acquire) == SlotState::committed &&
            page.streams[page.slots[i].stream].name.data() == stream_)
            committed.insert(page.slots[i].snapshot_id.load());
    std::vector<format::Lineage> lineages;
    for (const auto& file : staged)
        if (is_whole_alone(file) && !committed.contains(file.peek.record.snapshot_id))
            lineages.push_back(file.peek.record.lineage);

    std::vector<Candidate> found;
    auto history = catalog::history(*context_.store, context_.run, stream_, lineages);
    if (!history && history.error().kind != ErrorKind::missing) return history.error();
    std::set<std::uint64_t> known = committed;
    for (const auto& version : history ? history->living : std::vector<catalog::Version>()) {
        known.insert(version.head.snapshot_id);
        found.push_back({version.head.step, version.head.which_save(), version.snapshot.directory});
    }
    for (const auto& version : history ? history->foreign : std::vector<catalog::Version>())
        found.push_back(
            {.step = version.head.step,
             .why = note_line(fmt::format("{} is of another run, {}", version.snapshot.directory,
                                          catalog::id_text(version.head.lineage.run_id)),
                              fmt::format("forebay adopt {} takes it into this one", version.snapshot.directory))});
    for (const auto& file : staged) {
        const auto& record = file.peek.record;
        if (!is_whole_alone(file) || known.contains(record.snapshot_id)) continue;
        if (history && history->abandons(record.lineage.line(), record.step)) continue;
        known.insert(record.snapshot_id);
        found.push_back({.step = record.step, .save = record.which_save(), .staged = file.path});
    }
    const auto parts = catalog::leftovers(*context_.store, context_.run, stream_);
    for (const auto& part : parts ? *parts : std::vector<catalog::Leftover>())
        if (part.kind == catalog::Leftover::Kind::part && !known.contains(part.snapshot_id))
            found.push_back(
                {.step = part.step,
                 .why = note_line(
                     fmt::format("it is not committed, {} does not hold all of its node files", part.directory),
                     fmt::format("forebay recover {}, on the nodes that saved it", context_.run))});
    std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
        return a.step != b.step ? a.step > b.step : format::is_later(a.save, b.save);
    });
    return found;
}

Result<std::vector<Chooser::Candidate>> Chooser::candidates(const std::vector<node::StagedFile>& staged) {
    auto& world = *context_.topology->world;
    constexpr std::size_t fields = 5;
    std::string text;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (world.rank() != 0) return {};
        FB_TRY_ASSIGN(found, find(staged));
        std::vector<std::string> texts;
        for (const auto& one : found)
            texts.insert(texts.end(), {fmt::to_string(one.step), fmt::to_string(one.save.snapshot_id), one.directory,
                                       one.staged, one.why});
        text = joined(texts);
        return {};
    }));
    FB_TRY(world.broadcast_sized(text, 0));
    std::vector<Candidate> all;
    FB_TRY(comm::agree(world, [&] {
        const auto texts = split(text);
        for (std::size_t i = 0; i + fields <= texts.size(); i += fields)
            all.push_back({.step = std::stoll(texts[i]),
                           .save = {.snapshot_id = std::stoull(texts[i + 1])},
                           .directory = texts[i + 2],
                           .staged = texts[i + 3],
                           .why = texts[i + 4]});
    }));
    return all;
}

Result<Choice> Chooser::load(const Candidate& candidate, const std::vector<node::StagedFile>& staged) {
    auto& world = *context_.topology->world;
    Choice choice;
    std::string text;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        choice.directory = candidate.directory;
        choice.source = choice.directory;
        if (world.rank() != 0) return {};
        FB_TRY_ASSIGN(manifest, catalog::load_manifest(*context_.store, choice.directory));
        text = format::encode_manifest(manifest);
        return {};
    }));
    FB_TRY(world.broadcast_sized(text, 0));
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY_ASSIGN(manifest, format::decode_manifest(text, choice.directory));
        choice.manifest = std::move(manifest);
        for (const auto& file : staged) {
            const auto& record = file.peek.record;
            if (record.snapshot_id == choice.manifest.snapshot_id && record.node < choice.manifest.nodes.size() &&
                staged_crc32c(choice.manifest.nodes[record.node]) == file.peek.record_crc32c)
                choice.staged.push_back({.node = record.node, .path = file.path});
        }
        return {};
    }));
    FB_TRY(comm::agree(world, [&] { return check_records(choice); }));
    FB_TRY(comm::agree(world, [&] {
        if (choice.staged.size() == choice.manifest.nodes.size())
            choice.source = "staged copy on this node, " + choice.staged.front().path;
    }));
    return choice;
}

// Every node file's record is looked at once, the files shared out among all ranks.
Result<> Chooser::check_records(const Choice& choice) const {
    auto& world = *context_.topology->world;
    const auto size = static_cast<std::size_t>(world.size());
    for (auto i = static_cast<std::size_t>(world.rank()); i < choice.manifest.nodes.size(); i += size) {
        const auto& line = choice.manifest.nodes[i];
        const bool here = context_.topology->nodes == 1 &&
                          std::ranges::find(choice.staged, i, &StagedCopy::node) != choice.staged.end();
        if (here) continue;
        FB_TRY_ASSIGN(reader, catalog::NodeReader::open(*context_.store, choice.directory, line));
        if (reader.peek().record_crc32c != line.record_crc32c)
            return Error{
                ErrorKind::corrupt,
                fmt::format("{} is not the file that was committed: record {:08x}, expected {:08x}.",
                            catalog::name_of(choice.directory, line), reader.peek().record_crc32c, line.record_crc32c)};
    }
    return {};
}

Result<Choice> Chooser::load_staged(const std::string& path) {
    Choice choice;
    FB_TRY(comm::agree(*context_.topology->world, [&]() -> Result<> {
        choice.source = "staged copy on this node, " + path;
        choice.staged.push_back({.node = 0, .path = path});
        FB_TRY_ASSIGN(reader,
                      catalog::NodeReader::open(sys::posix_store(), path, catalog::NodeReader::Length::at_least));
        FB_TRY_ASSIGN(head, reader.head());
        const auto& record = head.record;
        choice.manifest = {.snapshot_id = record.snapshot_id,
                           .step = record.step,
                           .time = record.time,
                           .sealed_unix_ns = record.sealed_unix_ns,
                           .world_ranks = record.world_ranks,
                           .lineage = record.lineage,
                           .schema = head.schema,
                           .shapes = format::distinct_shapes(head.schema),
                           .nodes = {format::line_of(head, format::node_path(0, 1))}};
        return {};
    }));
    return choice;
}

Result<> Chooser::pass_over(std::int64_t step, const char* what, const Error& why) {
    // A process without memory or descriptors would fail at any snapshot, and come back from an older one. And storage
    // that fails now may give the snapshot in a minute: the run must not go back for that.
    if (why.kind == ErrorKind::full || why.kind == ErrorKind::retry) return why;
    return comm::agree(*context_.topology->world,
                       [&] { notes_.push_back(fmt::format("step {}{} is passed over: {}", step, what, why.line())); });
}

Result<std::optional<Choice>> Chooser::newest_below(std::int64_t below) {
    notes_.clear();
    FB_TRY(settle());
    auto& world = *context_.topology->world;
    std::vector<node::StagedFile> staged;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY_ASSIGN(here, staged_here());
        staged = std::move(here);
        return {};
    }));
    FB_TRY_ASSIGN(all, candidates(staged));
    for (const auto& candidate : all) {
        if (candidate.step >= below) continue;
        if (!candidate.why.empty()) {
            FB_TRY(pass_over(candidate.step, "", {ErrorKind::missing, candidate.why}));
            continue;
        }
        auto choice = candidate.staged.empty() ? load(candidate, staged) : load_staged(candidate.staged);
        if (choice) return std::optional(std::move(*choice));
        FB_TRY(pass_over(candidate.step, candidate.staged.empty() ? "" : ": its staged copy", choice.error()));
    }
    return std::optional<Choice>();
}

}  // namespace forebay::restart
