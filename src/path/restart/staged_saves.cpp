// Each node's first rank looks at its control pages. If any node has a slot that is neither committed nor given up, all
// first ranks send the staged files of earlier sessions: the first pages of the node files, and their state.

#include "path/restart/staged_saves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/store.hpp"
#include "path/node/watch.hpp"

namespace forebay::restart {

namespace {

using node::SlotState;

// A line of text; `forebay ls` on the nodes shows all.
constexpr std::size_t hosts_named_max = 4;

/// A node file that an earlier session left on a node.
struct StagedPart {
    std::string first_pages;
    SlotState state = SlotState::empty;
    std::string host;
    Error why = {};  // if it failed
};

bool is_pending(SlotState state) { return state != SlotState::empty && state != SlotState::committed; }

Result<std::string> first_pages_of(const std::string& path) {
    FB_TRY_ASSIGN(file, sys::posix_store().open(path, sys::Access::read));
    std::string pages(format::first_pages_bytes, '\0');
    FB_TRY(file->read(0, std::as_writable_bytes(std::span(pages))));
    return pages;
}

// Skips this session's own saves.
Result<> add_parts(const node::Staging& staging, const StagedPlace& place, bool is_own,
                   std::vector<StagedPart>& parts) {
    const auto& page = staging.control();
    FB_TRY_ASSIGN(staged, node::staged_files(staging.directory()));
    for (const auto& file : staged) {
        if (file.stream != place.stream || file.peek.record.lineage.run_id != place.run_id) continue;
        for (std::uint32_t i = 0; i < page.slot_count.load(std::memory_order_acquire); ++i) {
            const auto& slot = page.slots[i];
            const bool is_it =
                slot.snapshot_id.load() == file.peek.record.snapshot_id && staging.slot_path(i) == file.path;
            if (!is_it || (is_own && slot.inherited.load() == 0) || slot.given_up.load() != 0) continue;
            FB_TRY_ASSIGN(pages, first_pages_of(file.path));
            StagedPart part{.first_pages = std::move(pages),
                            .state = slot.state.load(std::memory_order_acquire),
                            .host = sys::host_name()};
            if (part.state == SlotState::failed) part.why = node::error_in(slot.error_kind, slot.error_text);
            parts.push_back(std::move(part));
        }
    }
    return {};
}

bool is_of_this_session(const std::string& directory) {
    return sys::lock_is_held(node::application_lock_path(directory));
}

bool has_pending(const node::Staging& staging, const StagedPlace& place) {
    const auto& page = staging.control();
    const auto slots = std::span(page.slots).first(page.slot_count.load(std::memory_order_acquire));
    return std::ranges::any_of(slots,
                               [](const node::SlotControl& slot) {
                                   return slot.inherited.load() != 0 && is_pending(slot.state.load());
                               }) ||
           std::ranges::any_of(place.left, [](const std::string& directory) {
               return !is_of_this_session(directory) && node::may_hold_uncommitted(directory);
           });
}

Result<std::vector<StagedPart>> parts_here(const node::Staging& staging, const StagedPlace& place) {
    std::vector<StagedPart> parts;
    FB_TRY(add_parts(staging, place, true, parts));
    for (const auto& directory : place.left) {
        if (is_of_this_session(directory)) continue;
        const auto watch = node::Watch::open(directory);
        if (watch) FB_TRY(add_parts(watch->staging(), place, false, parts));  // no page: all of it was committed
    }
    return parts;
}

void put(std::string& to, std::string_view text) {
    std::array<std::byte, sizeof(std::uint64_t)> size{};
    store_le(size.data(), static_cast<std::uint64_t>(text.size()));
    to += text_of(size);
    to += text;
}
std::string take(std::string_view& from) {
    const auto size = load_le<std::uint64_t>(bytes_of(from).data());
    const std::string text(from.substr(sizeof size, size));
    from.remove_prefix(sizeof size + size);
    return text;
}

std::string encode(const std::vector<StagedPart>& parts) {
    std::string text;
    for (const auto& part : parts) {
        put(text, part.first_pages);
        put(text, fmt::to_string(static_cast<int>(part.state)));
        put(text, part.host);
        put(text, fmt::to_string(static_cast<int>(part.why.kind)));
        put(text, part.why.what);
    }
    return text;
}
void decode(std::string_view text, std::vector<StagedPart>& parts) {
    while (!text.empty()) {
        StagedPart part{.first_pages = take(text)};
        part.state = static_cast<SlotState>(std::stoi(take(text)));
        part.host = take(text);
        part.why.kind = static_cast<ErrorKind>(std::stoi(take(text)));
        part.why.what = take(text);
        parts.push_back(std::move(part));
    }
}

/// The parts of one save on all nodes.
struct Seen {
    format::Record record = {};
    std::set<std::uint32_t> nodes;
    std::set<std::string> hosts;
    bool is_pending = false, is_committed = false;
    const StagedPart* failed = nullptr;
    const StagedPart* waiting = nullptr;
};

Error why_not(const Seen& seen) {
    std::vector<std::string> hosts(seen.hosts.begin(), seen.hosts.end());
    const auto more = hosts.size() > hosts_named_max ? hosts.size() - hosts_named_max : 0;
    hosts.resize(hosts.size() - more);
    auto where = fmt::format("{}", fmt::join(hosts, ", "));
    if (more > 0) where += fmt::format(" and {} more", more);
    const auto reason = seen.failed != nullptr ? seen.failed->why.what
                                               : fmt::format("the agent on {} has not committed it yet: it is {}",
                                                             seen.waiting->host, node::name_of(seen.waiting->state));
    return {seen.failed != nullptr ? seen.failed->why.kind : ErrorKind::retry,
            fmt::format("the memory of {} holds all of it, and {}", where, reason)};
}

std::vector<UncommittedSave> saves_in(const std::vector<StagedPart>& parts) {
    std::map<std::uint64_t, Seen> all;
    for (const auto& part : parts) {
        const auto peek = format::peek(bytes_of(part.first_pages), part.host);
        if (!peek) continue;
        auto& seen = all[peek->record.snapshot_id];
        seen.record = peek->record;
        seen.nodes.insert(peek->record.node);
        seen.hosts.insert(part.host);
        seen.is_pending = seen.is_pending || is_pending(part.state);
        seen.is_committed = seen.is_committed || part.state == SlotState::committed;
        if (part.state == SlotState::failed) seen.failed = &part;
        else if (is_pending(part.state)) seen.waiting = &part;
    }
    std::vector<UncommittedSave> saves;
    for (const auto& [id, seen] : all)
        if (seen.is_pending && !seen.is_committed && seen.nodes.size() == seen.record.nodes)
            saves.push_back({seen.record, why_not(seen)});
    return saves;
}

}  // namespace

Result<std::vector<UncommittedSave>> uncommitted_saves(const comm::Topology& topology, const node::Staging& staging,
                                                       const StagedPlace& place) {
    auto& world = *topology.world;
    std::string own;
    bool is_any_pending = false;
    FB_TRY(comm::agree(world, [&] { is_any_pending = topology.leads() && has_pending(staging, place); }));
    std::vector<UncommittedSave> saves;
    // The usual case costs this one number: nothing is pending.
    if (world.max(is_any_pending ? 1 : 0) == 0) return saves;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (!topology.leads()) return {};
        FB_TRY_ASSIGN(parts, parts_here(staging, place));
        own = encode(parts);
        return {};
    }));
    Result<std::vector<std::vector<std::byte>>> answers(std::vector<std::vector<std::byte>>{});
    if (topology.leads()) answers = topology.leaders->gather_all_sized(bytes_of(own));
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY(answers);
        if (world.rank() != 0) return {};
        std::vector<StagedPart> parts;
        for (const auto& answer : *answers) decode(text_of(answer), parts);
        saves = saves_in(parts);
        return {};
    }));
    return saves;
}

}  // namespace forebay::restart
