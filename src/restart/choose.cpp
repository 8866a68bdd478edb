#include "restart/choose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "catalog/catalog.hpp"
#include "catalog/node_reader.hpp"

namespace forebay::restart {

namespace {

using stage::SlotState;
constexpr std::int64_t none = -1;

}  // namespace

// What a dead session left staged on several nodes can be read by all of them only from the target, so it is first
// drained there, by the agents that this session has started. One node reads its staged copies as they are.
Result<> Chooser::settle() {
    if (std::exchange(settled_, true) || context_.topology->nodes == 1) return {};
    Result<> mine;
    if (context_.topology->leads()) {
        auto& page = context_.staging->control();
        const auto deadline = sys::Clock::now() + context_.wait_max;
        for (bool busy = true; busy;) {
            const auto seen = page.news.load(std::memory_order_acquire);
            busy = false;
            for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) {
                const auto state = page.slots[i].state.load(std::memory_order_acquire);
                busy |= state == SlotState::sealed || state == SlotState::draining || state == SlotState::drained;
            }
            if (busy && sys::Clock::now() > deadline) break;  // what is committed by then is what there is
            if (busy) sys::wait_on(page.news, seen, std::chrono::milliseconds(100));
        }
    }
    return comm::agree(*context_.topology->world, mine);
}

Result<std::vector<stage::StagedFile>> Chooser::staged_here() {
    std::vector<stage::StagedFile> staged;
    auto& node = *context_.topology->node;
    const auto look = [&]() -> Result<> {
        FB_TRY_ASSIGN(found, stage::staged_files(context_.staging->directory()));
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

std::optional<stage::StagedFile> Chooser::staged_only(const std::vector<stage::StagedFile>& staged,
                                                      std::int64_t below) {
    std::optional<stage::StagedFile> best;
    if (context_.topology->nodes != 1) return best;
    for (const auto& file : staged) {
        const auto& record = file.peek.record;
        if (record.nodes != 1 || record.step >= below) continue;
        if (!best || record.sealed_unix_ns > best->peek.record.sealed_unix_ns) best = file;
    }
    return best;
}

Result<std::int64_t> Chooser::newest_at_target(std::int64_t below) {
    auto& world = *context_.topology->world;
    std::int64_t step = none;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (world.rank() != 0) return {};
        const auto there = catalog::snapshots(*context_.store, context_.run, stream_);
        if (!there) return there.error().kind == ErrorKind::missing ? Result<>() : Result<>(there.error());
        for (const auto& snapshot : *there)
            if (snapshot.step < below) step = std::max(step, snapshot.step);
        return {};
    }));
    world.broadcast(std::as_writable_bytes(std::span(&step, 1)), 0);
    return step;
}

Result<Choice> Chooser::load(std::int64_t step, const std::vector<stage::StagedFile>& staged) {
    auto& world = *context_.topology->world;
    Choice choice;
    std::string text;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        choice.directory = fmt::format("{}/{}/{}", context_.run, stream_, catalog::step_name(step));
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

Result<Choice> Chooser::load_staged(const stage::StagedFile& staged) {
    Choice choice;
    FB_TRY(comm::agree(*context_.topology->world, [&]() -> Result<> {
        choice.source = "staged copy on this node, " + staged.path;
        choice.staged.push_back({.node = 0, .path = staged.path});
        FB_TRY_ASSIGN(reader,
                      catalog::NodeReader::open(*context_.store, staged.path, catalog::NodeReader::Length::at_least));
        FB_TRY_ASSIGN(head, reader.head());
        const auto& record = head.record;
        choice.manifest = {.snapshot_id = record.snapshot_id,
                           .step = record.step,
                           .time = record.time,
                           .sealed_unix_ns = record.sealed_unix_ns,
                           .world_ranks = record.world_ranks,
                           .schema = head.schema,
                           .shapes = format::distinct_shapes(head.schema),
                           .nodes = {format::line_of(head, format::node_path(0, 1))}};
        return {};
    }));
    return choice;
}

Result<> Chooser::pass_over(std::int64_t step, const char* what, const Error& why) {
    // A process without memory or descriptors would fail at any snapshot, and come back from an older one.
    if (why.kind == ErrorKind::full) return why;
    return comm::agree(*context_.topology->world,
                       [&] { notes_.push_back(fmt::format("step {}{} is passed over: {}", step, what, why.text)); });
}

Result<std::optional<Choice>> Chooser::newest_below(std::int64_t below) {
    notes_.clear();
    FB_TRY(settle());
    std::vector<stage::StagedFile> staged;
    FB_TRY(comm::agree(*context_.topology->world, [&]() -> Result<> {
        FB_TRY_ASSIGN(here, staged_here());
        staged = std::move(here);
        return {};
    }));
    for (;;) {
        std::optional<stage::StagedFile> local;
        FB_TRY(comm::agree(*context_.topology->world, [&] { local = staged_only(staged, below); }));
        FB_TRY_ASSIGN(step, newest_at_target(below));
        if (!local && step == none) return std::optional<Choice>();
        // The same step at both places may be two saves; a staged one is then the later.
        const bool use_staged = local && local->peek.record.step >= step;
        if (use_staged && local->peek.record.step > step) {
            auto choice = load_staged(*local);
            if (choice) return std::optional(std::move(*choice));
            FB_TRY(pass_over(local->peek.record.step, ": its staged copy", choice.error()));
            std::erase_if(staged, [&](const auto& file) { return file.path == local->path; });
            continue;
        }
        auto choice = load(step, staged);
        if (choice) return std::optional(std::move(*choice));
        FB_TRY(pass_over(step, "", choice.error()));
        if (use_staged) {
            if (auto there = load_staged(*local)) return std::optional(std::move(*there));
        }
        below = step;
    }
}

}  // namespace forebay::restart
