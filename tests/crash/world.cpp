#include "crash/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "base/bytes.hpp"
#include "catalog/names.hpp"
#include "drain/node_drain.hpp"
#include "support/committed_run.hpp"
#include "support/marked_view.hpp"

namespace forebay::crash {

namespace {

using test::SmallSnapshot;

constexpr std::uint64_t page = limits::page_bytes;

bool is_later(const SmallSnapshot& a, const SmallSnapshot& b) { return a.sealed_unix_ns > b.sealed_unix_ns; }

std::string view_path(const SmallSnapshot& snapshot) {
    return fmt::format("{}/{}/{}", run, snapshot.stream, catalog::view_name(snapshot.step));
}

}  // namespace

std::string view_text(const SmallSnapshot& snapshot) {
    return test::marked_view("a view of " + catalog::id_text(snapshot.id));
}

const std::vector<std::byte>& image_of(const SmallSnapshot& snapshot, std::uint32_t node) {
    using Key = std::tuple<std::uint64_t, std::int64_t, std::uint32_t, std::uint32_t, std::uint32_t>;
    static std::map<Key, std::vector<std::byte>> images;
    auto& image = images[{snapshot.id, snapshot.step, snapshot.nodes, snapshot.nodes_per_file, node}];
    if (image.empty()) image = test::small_node_file(snapshot, node);
    return image;
}

World::World(std::uint64_t seed, Programs programs)
    : programs_(std::move(programs)), seed_(seed), disk_(std::make_unique<test::SimStore>()) {
    disk_->make_directories(run).value();
    disk_->settle();
    disk_ = disk_->clone();  // counts from 0
    disk_->support_direct(true);
}

World::World(const World& other)
    : programs_(other.programs_),
      seed_(other.seed_),
      disk_(other.disk_->clone()),
      memory_(other.memory_),
      ledger_(other.ledger_) {
    disk_->support_direct(true);
}

sys::Store& World::store() {
    if (!programs_.make_store) return *disk_;
    if (!store_) store_ = programs_.make_store(*disk_);
    return *store_;
}

void World::fault(const Error& error) {
    if (!cut()) errors_.push_back(error.text);
}

void World::cut_before(int operation) {
    cut_at_ = operation;
    disk_->crash_before(operation - memory_operations_);
}

// The disk counts its own operations, so its cut moves with each of memory.
bool World::memory_operation() {
    if (cut()) return false;
    if (cut_at_ >= 0 && operations() >= cut_at_) {
        memory_cut_ = true;
        return false;
    }
    ++memory_operations_;
    if (cut_at_ >= 0) disk_->crash_before(cut_at_ - memory_operations_);
    return true;
}

void World::fail_by_seed(std::uint64_t seed, int one_in) { disk_->fail_by_seed(seed, one_in); }

void World::end(const Ending& ending) {
    if (ending.kind == Ending::Kind::killed) {
        disk_->kill_programs();
    } else {
        memory_.clear();
        if (ending.seed < 4) disk_->reboot({.names = (ending.seed & 1) != 0, .bytes = (ending.seed & 2) != 0});
        else disk_->reboot_torn(ending.seed);
    }
    store_.reset();
    cut_at_ = -1;
    memory_cut_ = false;
    errors_.clear();
}

void World::save(const SmallSnapshot& snapshot, int slot) {
    ledger_.saves.push_back(snapshot);
    std::mt19937_64 random(seed_ + snapshot.id);
    for (std::uint32_t node = 0; node < snapshot.nodes; ++node) {
        const auto& image = image_of(snapshot, node);
        auto& staged = memory_[{node, slot}];
        if (!memory_operation()) return;
        staged.resize(image.size());
        format::invalidate(staged);
        // The ranks copy in no order; the record comes when all have.
        std::vector<std::uint64_t> pages;
        for (std::uint64_t at = 0; at < image.size(); at += page)
            if (at != format::record_offset_bytes) pages.push_back(at);
        std::ranges::shuffle(pages, random);
        pages.insert(programs_.seal_first ? pages.begin() : pages.end(), format::record_offset_bytes);
        for (const auto at : pages) {
            if (!memory_operation()) return;
            std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(at), page,
                        staged.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }
}

void World::drain(const SmallSnapshot& snapshot, std::uint32_t node, int slot) {
    const auto& staged = memory_[{node, slot}];
    if (cut() || staged.empty()) return;
    ledger_.removed.erase(snapshot.id);  // it may come back now
    // Into a shared file, one of any two neighbours writes past the page cache; others would need aligned memory.
    const bool direct = snapshot.nodes_per_file == format::in_shared_file && node % 2 == 1;
    const drain::NodeDrain how{
        .store = &store(), .run = run, .write = {.block_bytes = 4 * page, .in_flight = 1}, .direct = direct};
    const auto drained = drain::drain_node_file(how, staged, fmt::format("node {}, step {}", node, snapshot.step));
    if (!drained) fault(drained.error());
}

void World::commit(const SmallSnapshot& snapshot) {
    if (cut()) return;
    const auto outcome = test::commit(store(), run, snapshot);
    if (!outcome) return fault(outcome.error());
    if (*outcome != drain::Commit::committed && *outcome != drain::Commit::already) return;
    ledger_.durable[snapshot.step] = snapshot;
    ledger_.may_vanish.erase(snapshot.step);
    if (*outcome == drain::Commit::already) return;
    const auto viewed = sys::write_text_durable(store(), view_path(snapshot), view_text(snapshot));
    if (!viewed) fault(viewed.error());
}

void World::prune(int keep) {
    if (cut()) return;
    std::map<std::int64_t, std::uint64_t> before;
    const auto copy = disk_->clone();
    if (const auto would = catalog::prune(*copy, run, "restart", {.keep = keep, .dry_run = true}); would)
        for (const auto& snapshot : would->removed) {
            ledger_.may_vanish.insert(snapshot.step);
            if (const auto* save = committed_at(snapshot.step)) before[snapshot.step] = save->id;
        }
    const auto pruned = catalog::prune(store(), run, "restart", {.keep = keep});
    if (!pruned && pruned.error().kind == ErrorKind::missing) return;  // nothing was drained yet
    if (!pruned) return fault(pruned.error());
    for (const auto& snapshot : pruned->removed) {
        ledger_.durable.erase(snapshot.step);
        ledger_.removed.insert(before[snapshot.step]);
    }
}

void World::recover(bool remove_incomplete) {
    if (cut()) return;
    const auto recovered = drain::recover(store(), run, remove_incomplete);
    if (!recovered) return fault(recovered.error());
    // What is listed now is durable.
    const auto listed = catalog::snapshots(*disk_, run, "restart");
    if (!listed) return;
    for (const auto& snapshot : *listed) {
        const auto* save = committed_at(snapshot.step);
        if (save == nullptr) continue;
        ledger_.durable[snapshot.step] = *save;
        ledger_.may_vanish.erase(snapshot.step);
    }
}

void World::take_over() {
    std::vector<SmallSnapshot> found;
    for (const auto& [place, staged] : memory_) {
        const auto peeked = format::peek(staged, "staged");
        const auto* save = peeked ? save_of(peeked->record.snapshot_id) : nullptr;
        if (save == nullptr) continue;
        // As the agent does, which looks before it drains what it did not see sealed.
        if (committed_at(save->step) != save) drain(*save, place.first, place.second);
        if (!std::ranges::count(found, save->id, &SmallSnapshot::id)) found.push_back(*save);
    }
    for (const auto& snapshot : found) commit(snapshot);
}

const SmallSnapshot* World::save_of(std::uint64_t id) const {
    const auto save = std::ranges::find(ledger_.saves, id, &SmallSnapshot::id);
    return save == ledger_.saves.end() ? nullptr : &*save;
}

const SmallSnapshot* World::save_in(const std::string& name) const {
    const auto manifest = catalog::load_manifest(*disk_, run + "/restart/" + name);
    return manifest ? save_of(manifest->snapshot_id) : nullptr;
}

const SmallSnapshot* World::committed_at(std::int64_t step) const { return save_in(catalog::step_name(step)); }

std::vector<std::string> World::lost_from_memory() const {
    std::map<std::uint64_t, std::uint32_t> sealed;
    for (const auto& [place, staged] : memory_)
        if (const auto peeked = format::peek(staged, "staged"); peeked) ++sealed[peeked->record.snapshot_id];
    std::vector<std::string> lost;
    for (const auto& [id, nodes] : sealed) {
        const auto* save = save_of(id);
        if (save == nullptr || nodes != save->nodes || ledger_.removed.contains(id)) continue;
        const auto* committed = committed_at(save->step);
        if (committed == nullptr || is_later(*save, *committed))
            lost.push_back(
                fmt::format("step {} ({}) was sealed and is not committed", save->step, catalog::id_text(id)));
    }
    return lost;
}

}  // namespace forebay::crash
