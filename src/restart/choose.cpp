#include "restart/choose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "catalog/catalog.hpp"
#include "catalog/node_reader.hpp"
#include "stage/await.hpp"

namespace forebay::restart {

namespace {

using stage::SlotState;
constexpr std::int64_t none = -1;

}  // namespace

// What a dead session left staged on several nodes can be read by all of them only from the target, so it is first
// drained there, by the agents that this session has started. One node reads its staged copies as they are.
void Chooser::settle() {
    if (std::exchange(settled_, true) || context_.topology->nodes == 1) return;
    const auto& page = context_.staging->control();
    const auto look = [&](std::chrono::milliseconds nap) -> std::optional<std::string> {
        if (!context_.topology->leads()) return {};
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
                           context_.staging->directory(), stage::show_pending(*context_.staging, busy));
    };
    // What is committed by then is what there is.
    stage::wait_together(*context_.topology->world, look, context_.wait_max, context_.say);
}

Result<std::vector<stage::StagedFile>> Chooser::staged_here() {
    std::vector<std::byte> message;
    Result<> mine;
    std::vector<stage::StagedFile> staged;
    auto& node = *context_.topology->node;
    if (context_.topology->leads()) {
        auto found = stage::staged_files(context_.staging->directory());
        if (found) staged = std::move(*found);
        else mine = found.error();
    }
    FB_TRY(comm::agree(node, mine));
    // The others look at the same files; only which of them count is the first rank's to say, by their names.
    std::string names;
    for (const auto& file : staged)
        if (file.stream == stream_) names += file.path + "\n";
    message.assign(bytes_of(names).begin(), bytes_of(names).end());
    node.broadcast_sized(message, 0);
    if (!context_.topology->leads()) {
        auto found = stage::staged_files(context_.staging->directory());
        if (found) staged = std::move(*found);
        else mine = found.error();
    }
    FB_TRY(comm::agree(node, mine));
    std::erase_if(staged,
                  [&](const auto& file) { return text_of(message).find(file.path + "\n") == std::string_view::npos; });
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
    Result<> mine;
    if (world.rank() == 0) {
        const auto there = catalog::snapshots(*context_.store, context_.run, stream_);
        if (there) {
            for (const auto& snapshot : *there)
                if (snapshot.step < below) step = std::max(step, snapshot.step);
        } else if (there.error().kind != ErrorKind::missing) {
            mine = there.error();
        }
    }
    FB_TRY(comm::agree(world, mine));
    world.broadcast(std::as_writable_bytes(std::span(&step, 1)), 0);
    return step;
}

Result<Choice> Chooser::load(std::int64_t step, const std::vector<stage::StagedFile>& staged) {
    auto& world = *context_.topology->world;
    Choice choice;
    choice.directory = fmt::format("{}/{}/{}", context_.run, stream_, catalog::step_name(step));
    choice.source = choice.directory;
    std::vector<std::byte> text;
    Result<> mine;
    if (world.rank() == 0) {
        if (const auto manifest = catalog::load_manifest(*context_.store, choice.directory)) {
            const auto encoded = format::encode_manifest(*manifest);
            text.assign(bytes_of(encoded).begin(), bytes_of(encoded).end());
        } else {
            mine = manifest.error();
        }
    }
    FB_TRY(comm::agree(world, mine));
    world.broadcast_sized(text, 0);
    auto manifest = format::decode_manifest(text_of(text), choice.directory);
    if (!manifest) mine = manifest.error();
    else choice.manifest = std::move(*manifest);
    FB_TRY(comm::agree(world, mine));

    for (const auto& file : staged) {
        const auto& record = file.peek.record;
        if (record.snapshot_id == choice.manifest.snapshot_id && record.node < choice.manifest.nodes.size() &&
            staged_crc32c(choice.manifest.nodes[record.node]) == file.peek.record_crc32c)
            choice.staged.push_back({.node = record.node, .path = file.path});
    }
    // Every node file's record is looked at once, the files shared out among all ranks.
    const auto size = static_cast<std::size_t>(world.size());
    for (auto i = static_cast<std::size_t>(world.rank()); mine && i < choice.manifest.nodes.size(); i += size) {
        const auto& line = choice.manifest.nodes[i];
        const bool here = context_.topology->nodes == 1 &&
                          std::ranges::find(choice.staged, i, &StagedCopy::node) != choice.staged.end();
        if (here) continue;
        auto reader = catalog::NodeReader::open(*context_.store, choice.directory, line);
        if (!reader) mine = reader.error();
        else if (reader->peek().record_crc32c != line.record_crc32c)
            mine = Error{ErrorKind::corrupt,
                         fmt::format("{} is not the file that was committed: record {:08x}, expected {:08x}.",
                                     catalog::name_of(choice.directory, line), reader->peek().record_crc32c,
                                     line.record_crc32c)};
    }
    FB_TRY(comm::agree(world, mine));
    if (choice.staged.size() == choice.manifest.nodes.size())
        choice.source = "staged copy on this node, " + choice.staged.front().path;
    return choice;
}

Result<Choice> Chooser::load_staged(const stage::StagedFile& staged) {
    Choice choice{.source = "staged copy on this node, " + staged.path};
    choice.staged.push_back({.node = 0, .path = staged.path});
    const auto open = [&]() -> Result<> {
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
    };
    FB_TRY(comm::agree(*context_.topology->world, open()));
    return choice;
}

Result<std::optional<Choice>> Chooser::newest_below(std::int64_t below) {
    notes_.clear();
    settle();
    FB_TRY_ASSIGN(staged, staged_here());
    for (;;) {
        const auto local = staged_only(staged, below);
        FB_TRY_ASSIGN(step, newest_at_target(below));
        if (!local && step == none) return std::optional<Choice>();
        // The same step at both places may be two saves; a staged one is then the later.
        const bool use_staged = local && local->peek.record.step >= step;
        if (use_staged && local->peek.record.step > step) {
            if (auto choice = load_staged(*local)) return std::optional(std::move(*choice));
            else
                note(fmt::format("step {}: its staged copy is passed over: {}", local->peek.record.step,
                                 choice.error().text));
            std::erase_if(staged, [&](const auto& file) { return file.path == local->path; });
            continue;
        }
        if (auto choice = load(step, staged)) return std::optional(std::move(*choice));
        else note(fmt::format("step {} is passed over: {}", step, choice.error().text));
        if (use_staged) {
            if (auto choice = load_staged(*local)) return std::optional(std::move(*choice));
        }
        below = step;
    }
}

}  // namespace forebay::restart
