// An export has four steps. plan() gathers the snapshots and lays out the file in memory. begin() writes everything
// except the data under the name FILE.part-IDENTITY. copy() copies one stretch of the data, in this process or in one
// of several. finish() renames the file after every stretch is durable.
//
// IDENTITY is a hash of everything that decides the file's bytes. So the same command finds the file of a killed call
// and continues from its journal, and a different export never meets it. A journal entry is written only after a sync
// of the bytes it covers.

#include "insight/views/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/path.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/move/export_place.hpp"
#include "core/move/journal.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "insight/outline/description.hpp"
#include "insight/views/dataset_writer.hpp"
#include "insight/views/limits.hpp"
#include "insight/views/stored_file.hpp"
#include "path/catalog/output.hpp"

namespace forebay::views {

namespace {

/// Increase it if the layout of equal outlines changes in a way that the head does not show.
constexpr const char* layout_version = "forebay export layout 1";

constexpr const char* nothing_written = "nothing was written";

/// Differs if anything differs that decides the file's bytes.
std::uint64_t identity_of(const StoredFile& stored, std::span<const outline::Contents> contents) {
    auto text = fmt::format("{}\nfile {}\n", layout_version, stored.file_bytes);
    for (const auto& [offset, bytes] : stored.head.all())
        text += fmt::format("head {} {} {:08x}\n", offset, bytes.size(), crc32c(bytes));
    for (const auto& target : stored.targets)
        text += fmt::format("target {} {} {}\n", target.offset_bytes, target.bytes, target.path);
    for (const auto& snapshot : contents) {
        text += fmt::format("snapshot {:016x}\n", snapshot.manifest.snapshot_id);
        for (const auto& line : snapshot.manifest.nodes) text += fmt::format("node {:08x}\n", line.record_crc32c);
    }
    return siphash(SipKey{}, std::as_bytes(std::span(text)));
}

Result<CopyOptions> share_memory(const ExportOptions& options) {
    const auto alignment = options.alignment_bytes;
    if (alignment == 0 || alignment % limits::page_bytes != 0)
        return Error{
            ErrorKind::refused,
            fmt::format("an alignment of {} bytes: it must be a multiple of {}", alignment, limits::page_bytes), "",
            "use the target's stripe, or 1 MiB"};
    CopyOptions copy{.threads = options.threads,
                     .window_bytes = 0,
                     .read_bytes = export_read_bytes,
                     .rate_bytes_per_second = options.rate_bytes_per_second,
                     .stop = options.stop};
    if (copy.threads == 0)
        copy.threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, export_threads);
    const auto memory = options.memory_bytes != 0
                            ? options.memory_bytes
                            : std::max(export_memory_bytes, 2 * (export_thread_bytes + alignment));
    const auto least = export_thread_bytes + std::min(alignment, export_window_bytes_min);
    if (memory < least)
        return Error{ErrorKind::refused,
                     fmt::format("{} of memory are not enough for an export, which needs {} at least",
                                 show_bytes(memory), show_bytes(least)),
                     "", fmt::format("--memory {}M", (least >> 20) + 1)};
    // Fewer threads rather than windows below the least.
    copy.threads = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(copy.threads), memory / least));
    const auto room = memory / static_cast<std::uint64_t>(copy.threads) - export_thread_bytes;
    copy.window_bytes = room / alignment * alignment;
    // A window smaller than the alignment must divide it, so that writes still end at its multiples.
    if (copy.window_bytes == 0)
        for (copy.window_bytes = alignment; copy.window_bytes > room && copy.window_bytes % 2 == 0;)
            copy.window_bytes /= 2;
    if (copy.window_bytes > room) copy.window_bytes = round_down(room, limits::page_bytes);
    return copy;
}

}  // namespace

struct Export::Plan {
    sys::Store& store;
    const std::vector<catalog::Snapshot> snapshots;
    const std::string path;
    const ExportOptions options;
    CopyOptions copy;
    std::vector<outline::Contents> contents;
    StoredFile stored;
    std::uint64_t identity = 0;
    std::string part_path;
    Exported done;

    /// Adds to an error during writing: the data that remain, and the next step.
    Error failure(const Error& error) const {
        const auto directory = directory_of(path);
        std::string next = "repeat the same command, which continues there";
        if (error.kind == ErrorKind::corrupt)
            next =
                fmt::format("forebay verify {}@{}. When it is whole, repeat the same command, or choose another step",
                            directory_of(snapshots.front().directory), snapshots.front().step);
        if (error.kind == ErrorKind::full)
            next = fmt::format("free some room in {}, then repeat the same command", directory);
        return with_context(
            error, fmt::format("{} was not exported: {}", path, error.what),
            fmt::format("the snapshots and any earlier file of this name. Copied data stay in {}", part_path), next);
    }

    Result<> check_absent(const std::string& stays) const {
        return move::check_target(store, path, options.replace, stays);
    }
    Result<> check_outside() const;

    Result<> gather();
    Result<> check_room(std::uint64_t durable) const;
    std::uint64_t bytes_between(std::uint64_t begin, std::uint64_t end) const;
    std::pair<std::uint64_t, std::uint64_t> stretch(std::uint32_t part, std::uint32_t parts) const;
};

Result<> Export::Plan::check_outside() const {
    const auto description = outline::description_path(directory_of(snapshots.front().directory), options.description);
    return catalog::check_output(store, path, {&description, 1});
}

Result<> Export::Plan::gather() {
    const auto stream = directory_of(snapshots.front().directory);
    FB_TRY_ASSIGN(description, outline::load_description(store, stream, options.description));
    for (const auto& snapshot : snapshots) {
        auto gathered = outline::gather_to_copy(store, snapshot);
        if (!gathered)
            return with_context(gathered.error(), fmt::format("{} was not exported: {}", path, gathered.error().what),
                                "nothing was written", fmt::format("forebay verify {}@{}", stream, snapshot.step));
        FB_TRY(outline::describe(*gathered, description));
        contents.push_back(std::move(*gathered));
    }
    return {};
}

Result<> Export::Plan::check_room(std::uint64_t durable) const {
    if (!options.free_bytes) return {};
    const auto directory = directory_of(path);
    FB_TRY_ASSIGN(free, options.free_bytes(directory));
    const auto needed = stored.file_bytes - std::min(durable, stored.file_bytes);
    if (free >= needed) return {};
    return Error{ErrorKind::full,
                 fmt::format("{} has {} free, but {} needs {} more. Nothing was written", directory, show_bytes(free),
                             path, show_bytes(needed)),
                 "", "free some room there, or choose another place for the file"};
}

std::uint64_t Export::Plan::bytes_between(std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t bytes = 0;
    for (const auto& target : stored.targets) {
        const auto first = std::max(begin, target.offset_bytes);
        const auto last = std::min(end, target.offset_bytes + target.bytes);
        if (first < last) bytes += last - first;
    }
    return bytes;
}

/// Stretches meet at multiples of the alignment, so that no two parts write to the same stripe.
std::pair<std::uint64_t, std::uint64_t> Export::Plan::stretch(std::uint32_t part, std::uint32_t parts) const {
    const auto alignment = options.alignment_bytes;
    const auto all = (stored.file_bytes + alignment - 1) / alignment;
    const auto at = [&](std::uint64_t index) {
        return std::min(stored.file_bytes, all / parts * index * alignment + all % parts * index / parts * alignment);
    };
    return {at(part), at(std::uint64_t{part} + 1)};
}

Export::Export(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) {}
Export::Export(Export&&) noexcept = default;
Export& Export::operator=(Export&&) noexcept = default;
Export::~Export() = default;

const Exported& Export::done() const { return plan_->done; }
const std::string& Export::part_path() const { return plan_->part_path; }

Result<Export> Export::plan(sys::Store& store, std::vector<catalog::Snapshot> snapshots, const outline::Wish& wish,
                            const std::string& path, const ExportOptions& options) {
    if (snapshots.empty()) return Error{ErrorKind::missing, "there is no committed snapshot to export."};
    FB_TRY_ASSIGN(copy, share_memory(options));
    std::ranges::sort(snapshots, {}, &catalog::Snapshot::step);
    auto plan = std::make_unique<Plan>(Plan{.store = store,
                                            .snapshots = std::move(snapshots),
                                            .path = path,
                                            .options = options,
                                            .copy = copy,
                                            .contents = {},
                                            .stored = {},
                                            .part_path = {},
                                            .done = {}});
    FB_TRY(plan->check_outside());
    FB_TRY(plan->check_absent(nothing_written));
    FB_TRY(plan->gather());
    auto named = wish;
    named.file_name = std::filesystem::path(path).filename().string();
    FB_TRY_ASSIGN(outline, outline::outline_of(plan->contents, named));
    FB_TRY_ASSIGN(stored, lay_out(outline, plan->contents, options.alignment_bytes));
    plan->stored = std::move(stored);
    plan->identity = identity_of(plan->stored, plan->contents);
    plan->part_path = fmt::format("{}.part-{:016x}", path, plan->identity);
    plan->done.file_bytes = plan->stored.file_bytes;
    plan->done.datasets = plan->stored.targets.size();
    plan->done.omitted = std::move(outline.omitted);
    return Export(std::move(plan));
}

Result<> Export::begin() {
    auto& plan = *plan_;
    FB_TRY(plan.check_absent(nothing_written));
    FB_TRY_ASSIGN(notes, move::discard_stale(plan.store, plan.path, plan.part_path, plan.stored.file_bytes,
                                             plan.options.replace));
    plan.done.notes.insert(plan.done.notes.end(), notes.begin(), notes.end());
    const auto journal = move::journal_path(plan.part_path, 0, 1);
    auto state = move::load_journal(plan.store, journal, plan.identity);
    if (!state && state.error().kind == ErrorKind::corrupt) {
        plan.done.notes.push_back(fmt::format("{}: this export begins anew", state.error().line()));
        FB_TRY(plan.store.remove(journal));
        FB_TRY(plan.store.sync_directory(directory_of(plan.path)));
        state = move::Journal{plan.identity, 0};
    }
    if (!state) return plan.failure(state.error());
    FB_TRY(plan.check_room(state->durable));
    const auto write = [&]() -> Result<> {
        FB_TRY_ASSIGN(file, plan.store.open(plan.part_path, sys::Access::update));
        // The size is set once, before any write. So no write extends the file: shared file systems would have to agree
        // on the size each time.
        FB_TRY_ASSIGN(size, file->size());
        if (size != plan.stored.file_bytes) FB_TRY(file->truncate(plan.stored.file_bytes));
        for (const auto& [offset, bytes] : plan.stored.head.all()) FB_TRY(file->write(offset, bytes));
        // This process syncs the bytes it wrote: syncs by copying processes, maybe on other hosts, need not cover them.
        FB_TRY(file->sync());
        return file->close();
    };
    const auto written = write();
    return written ? written : plan.failure(written.error());
}

Result<> Export::copy(std::uint32_t part, std::uint32_t parts) {
    auto& plan = *plan_;
    const auto [begin, end] = plan.stretch(part, parts);
    const auto journal = move::journal_path(plan.part_path, part, parts);
    const auto copy_rest = [&, begin = begin, end = end]() -> Result<> {
        FB_TRY_ASSIGN(state, move::load_journal(plan.store, journal, plan.identity));
        const auto all = plan.bytes_between(begin, end);
        const auto first = std::clamp(state.durable, begin, end);
        const auto before = plan.bytes_between(begin, first);
        FB_TRY_ASSIGN(file, plan.store.open(plan.part_path, sys::Access::update));
        auto entered_at = sys::Clock::now();
        std::uint64_t entered = 0;
        const auto reached = [&](std::uint64_t offset, std::uint64_t bytes) -> Result<> {
            if (plan.options.progress) plan.options.progress(before + bytes, all);
            const auto step = plan.options.journal_bytes != 0 ? plan.options.journal_bytes : export_journal_bytes;
            if (bytes - entered < step && sys::Clock::now() - entered_at < export_journal_pause) return {};
            entered = bytes;
            entered_at = sys::Clock::now();
            // The sync comes first: the journal must not list bytes that a crash could lose.
            FB_TRY(file->sync());
            return move::store_journal(plan.store, journal, {plan.identity, offset});
        };
        OpenNodes nodes(plan.store, plan.snapshots, plan.contents);
        DatasetWriter writer(*file, plan.stored.targets, nodes, plan.copy);
        FB_TRY_ASSIGN(copied, writer.run(first, end, reached));
        FB_TRY(file->sync());
        FB_TRY(file->close());
        FB_TRY(move::store_journal(plan.store, journal, {plan.identity, end}));
        plan.done.resumed_bytes += before;
        plan.done.bytes_read += copied.bytes_read;
        plan.done.bytes_written += copied.bytes_written;
        plan.done.writes += copied.writes;
        return {};
    };
    // Opening a missing file would create an empty file.
    FB_TRY(move::check_part(plan.store, plan.path, plan.part_path, plan.stored.file_bytes));
    const auto copied = copy_rest();
    return copied ? copied : plan.failure(copied.error());
}

Result<> Export::finish(std::uint32_t parts) {
    auto& plan = *plan_;
    const auto name_it = [&]() -> Result<> {
        for (std::uint32_t part = 0; part < parts; ++part) {
            FB_TRY_ASSIGN(
                state, move::load_journal(plan.store, move::journal_path(plan.part_path, part, parts), plan.identity));
            if (state.durable < plan.stretch(part, parts).second)
                return Error{ErrorKind::refused, fmt::format("part {} of {} is not copied yet", part, parts)};
        }
        return move::put_in_place(plan.store, plan.part_path, plan.path);
    };
    FB_TRY(plan.check_absent(fmt::format("the copied data stay in {}", plan.part_path)));
    FB_TRY(move::check_part(plan.store, plan.path, plan.part_path, plan.stored.file_bytes));
    if (const auto named = name_it(); !named) return plan.failure(named.error());
    // The file is whole and has its name. The next export to this name removes any leftovers.
    for (std::uint32_t part = 0; part < parts; ++part)
        if (const auto removed = plan.store.remove(move::journal_path(plan.part_path, part, parts)); !removed)
            plan.done.notes.push_back("a useless journal stays: " + removed.error().line());
    return {};
}

Result<Exported> export_file(sys::Store& store, std::vector<catalog::Snapshot> snapshots, const outline::Wish& wish,
                             const std::string& path, const ExportOptions& options) {
    FB_TRY_ASSIGN(plan, Export::plan(store, std::move(snapshots), wish, path, options));
    FB_TRY(plan.begin());
    FB_TRY(plan.copy());
    FB_TRY(plan.finish());
    return plan.done();
}

}  // namespace forebay::views
