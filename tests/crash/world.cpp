#include "crash/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "core/base/bytes.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/drain/node_drain.hpp"
#include "support/committed_run.hpp"
#include "support/marked_view.hpp"

namespace forebay::crash {

namespace {

using test::SmallSnapshot;

constexpr std::uint64_t page = limits::page_bytes;
constexpr std::uint64_t first_run = 0xf3, second_run = 0xf4;
constexpr std::int64_t hour_ns = 3'600'000'000'000, start_ns = 1'700'000'000'000'000'000;
constexpr std::uint64_t hours_max = 12;

void make_run(test::SimStore& disk, std::uint64_t run_id) {
    const auto own = run + "/" + catalog::own_directory;
    disk.make_directories(own).value();
    sys::write_text_durable(disk, own + "/run-" + catalog::id_text(run_id) + ".json", "{}\n").value();
}

std::string view_path(const SmallSnapshot& snapshot) {
    return fmt::format("{}/{}/{}", run, snapshot.stream, catalog::view_name(snapshot.step));
}

}  // namespace

std::string view_text(const SmallSnapshot& snapshot) {
    return test::marked_view("a view of " + catalog::id_text(snapshot.id));
}

std::string key_of(const SmallSnapshot& snapshot) {
    const auto& [run_id, save, lines] = snapshot.lineage;
    auto key = fmt::format("{} {} {} {} {} {} {}", snapshot.id, snapshot.step, snapshot.nodes, snapshot.nodes_per_file,
                           snapshot.sealed_unix_ns, run_id, save);
    for (const auto& start : lines) key += fmt::format(" {} {}", format::name_of(start.line), start.from);
    return key;
}

const std::vector<std::byte>& image_of(const SmallSnapshot& snapshot, std::uint32_t node) {
    static std::map<std::pair<std::string, std::uint32_t>, std::vector<std::byte>> images;
    auto& image = images[{key_of(snapshot), node}];
    if (image.empty()) image = test::small_node_file(snapshot, node);
    return image;
}

World::World(std::uint64_t seed, Programs programs)
    : programs_(std::move(programs)), seed_(seed), run_id_(first_run), disk_(std::make_unique<test::SimStore>()) {
    make_run(*disk_, run_id_);
    ledger_.sessions = {claim_in(*disk_).value()};
    disk_->settle();
    disk_ = disk_->clone();  // restarts the count of operations at 0
    disk_->support_direct(true);
}

World::World(const World& other)
    : programs_(other.programs_),
      seed_(other.seed_),
      run_id_(other.run_id_),
      disk_(other.disk_->clone()),
      memory_(other.memory_),
      spools_(other.spools_),
      ledger_(other.ledger_) {
    disk_->support_direct(true);
}

sys::Store& World::store() {
    if (!programs_.make_store) return *disk_;
    if (!store_) store_ = programs_.make_store(*disk_);
    return *store_;
}

void World::fault(const Error& error) {
    if (!cut()) errors_.push_back(error.text());
}

void World::cut_before(int operation) {
    cut_at_ = operation;
    disk_->crash_before(operation - memory_operations_);
}

// The disk counts only its own operations, so its cut moves with each memory operation.
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
        spools_.clear();
        disk_->reboot_by(ending.seed);
    }
    packers_.clear();
    store_.reset();
    cut_at_ = -1;
    memory_cut_ = false;
    errors_.clear();
}

std::int64_t World::time_of(std::uint64_t id) const {
    std::seed_seq mix{seed_, id};
    std::mt19937_64 random(mix);
    return start_ns +
           hour_ns * (static_cast<std::int64_t>(random() % (2 * hours_max)) - static_cast<std::int64_t>(hours_max));
}

SmallSnapshot World::recorded(const SmallSnapshot& save) const {
    return programs_.recorded ? programs_.recorded(save) : save;
}

void World::save(const SmallSnapshot& snapshot, int slot) {
    if (cut()) return;
    ledger_.saves.push_back(snapshot);
    std::mt19937_64 random(seed_ + snapshot.id);
    for (std::uint32_t node = 0; node < snapshot.nodes; ++node) {
        const auto& image = image_of(recorded(snapshot), node);
        auto& staged = memory_[{node, slot}];
        if (!memory_operation()) return;
        staged.resize(image.size());
        format::invalidate(staged);
        // The ranks copy in any order. The record comes last: it makes the slot a snapshot.
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

void World::drain(const SmallSnapshot& snapshot, std::uint32_t node, int slot, bool has_looked) {
    const auto& staged = memory_[{node, slot}];
    if (cut() || staged.empty()) return;
    const auto is_run = has_looked ? Result<>() : catalog::check_identity(store(), run, snapshot.lineage.run_id);
    // A snapshot of another run stays in memory.
    if (!is_run && snapshot.lineage.run_id != run_id_) return;
    if (!is_run) return fault(is_run.error());
    ledger_.removed.erase(snapshot.id);  // the drain may bring it back
    // Marks disappear with the removed part that holds them.
    if (!is_there(snapshot.id)) ledger_.marks.erase(snapshot.id);
    // In a shared file every second node writes past the page cache, so that both ways meet in its pages. For other
    // forms the memory of this test is not aligned enough.
    const bool direct = snapshot.nodes_per_file == test::all_in_one && node % 2 == 1;
    const drain::NodeDrain how{
        .store = &store(), .run = run, .write = {.block_bytes = 4 * page, .in_flight = 1}, .direct = direct};
    const auto drained = drain::drain_node_file(how, staged, fmt::format("node {}, step {}", node, snapshot.step));
    if (!drained) fault(drained.error());
}

bool World::is_there(std::uint64_t id) const {
    const auto copy = disk_->clone();
    const auto left = catalog::leftovers(*copy, run, stream);
    const auto parts = left ? *left : std::vector<catalog::Leftover>{};
    return ids_on(*copy).contains(id) || std::ranges::any_of(parts, [id](const catalog::Leftover& leftover) {
               return leftover.kind != catalog::Leftover::Kind::gone && leftover.snapshot_id == id;
           });
}

void World::commit(const SmallSnapshot& snapshot) {
    if (cut()) return;
    const auto outcome = test::commit(store(), run, recorded(snapshot));
    if (!outcome && snapshot.lineage.run_id != run_id_ && outcome.error().kind != ErrorKind::retry) return;
    if (!outcome) return fault(outcome.error());
    using commit::Commit;
    if (*outcome == Commit::waiting || *outcome == Commit::superseded) return;
    ledger_.note_committed(snapshot);
    if (*outcome != Commit::committed) return;
    const auto viewed = sys::write_text_durable(store(), view_path(snapshot), view_text(snapshot));
    if (!viewed) fault(viewed.error());
}

void World::take_over() {
    std::vector<SmallSnapshot> snapshots;
    for (const auto& [place, staged] : memory_) {
        const auto peeked = format::peek(staged, "staged");
        const auto* save = peeked ? ledger_.save_of(peeked->record.snapshot_id) : nullptr;
        if (save == nullptr) continue;
        // An agent that did not see the seal checks first if the snapshot is already committed.
        const auto* there = committed_like(*save);
        if (there == nullptr || there->id != save->id) drain(*save, place.first, place.second);
        if (!std::ranges::count(snapshots, save->id, &SmallSnapshot::id)) snapshots.push_back(*save);
    }
    for (const auto& snapshot : snapshots) commit(snapshot);
    for (const auto& host : std::vector<std::string>{"a", "b"}) {
        begin_batch(host);
        finish_batch(host);
    }
}

void World::replace_run() {
    if (cut()) return;
    disk_->crash_before(-1);
    memory_operations_ += disk_->operations();
    store_.reset();
    packers_.clear();
    disk_->rename(run, run + ".away").value();
    run_id_ = second_run;
    make_run(*disk_, run_id_);
    disk_->settle();
    disk_ = disk_->clone();
    disk_->support_direct(true);
    ledger_.begin_anew();
    if (cut_at_ >= 0) cut_before(cut_at_);
}

}  // namespace forebay::crash
