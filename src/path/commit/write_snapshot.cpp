#include "path/commit/write_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/node_file.hpp"
#include "core/format/packed.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/run.hpp"
#include "path/commit/commit.hpp"

namespace forebay::commit {

namespace {

// The bytes in memory at once: enough for the speed of a spinning disk, and whole segments, so each segment lies within
// one window.
constexpr std::uint64_t window_bytes = 8 * limits::segment_bytes;

class NodeFileWriter {
public:
    NodeFileWriter(const format::Layout& layout, Blocks& blocks, const Progress& progress)
        : layout_(layout), blocks_(blocks), progress_(progress), head_(layout.data_offset_bytes) {
        std::uint64_t largest = 0;
        for (const auto& block : layout.blocks) {
            largest = std::max(largest, block.size_bytes);
            bytes_all_ += block.size_bytes;
        }
        window_.resize(std::min(largest, window_bytes));
        format::encode(layout_, head_);
    }

    /// Data first. The head with its seal comes last, so a half-written file has no seal.
    Result<> write(sys::File& out, const format::Record& record) {
        std::vector<std::size_t> order(layout_.blocks.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        blocks_.sort(order);
        for (const auto block : order) FB_TRY(copy(block, out));
        format::seal(layout_, record, head_);
        FB_TRY(out.write(0, head_));
        FB_TRY(out.truncate(layout_.file_bytes));
        FB_TRY(out.sync());
        return out.close();
    }

private:
    Result<> copy(std::size_t index, sys::File& out) {
        const auto& block = layout_.blocks[index];
        if (block.size_bytes == 0) return blocks_.read(index, 0, {});
        const auto words = format::crc_words(layout_, head_);
        auto word = block.first_segment;
        for (std::uint64_t at = 0; at < block.size_bytes; at += window_.size()) {
            const auto now = std::span(window_).first(std::min<std::uint64_t>(window_.size(), block.size_bytes - at));
            FB_TRY(blocks_.read(index, at, now));
            for (std::uint64_t begin = 0; begin < now.size(); begin += limits::segment_bytes)
                words[word++] =
                    crc32c(now.subspan(begin, std::min<std::uint64_t>(limits::segment_bytes, now.size() - begin)));
            FB_TRY(out.write(block.offset_bytes + at, now));
            bytes_done_ += now.size();
            if (progress_) progress_(bytes_done_, bytes_all_);
        }
        return {};
    }

    const format::Layout& layout_;
    Blocks& blocks_;
    const Progress& progress_;
    std::vector<std::byte> head_, window_;
    std::uint64_t bytes_done_ = 0, bytes_all_ = 0;
};

/// Writes the node file of `record` into its part and commits it with `commit`. After an error `part` gives the
/// directory to discard: `commit` may have changed its step.
Result<> write_and_commit(sys::Store& store, BatchPart& part, const format::Record& record, NodeFileWriter& writer,
                          const std::function<Result<>()>& commit) {
    const auto written = [&]() -> Result<> {
        const auto directory = part.directory();
        const auto path = directory + "/" + format::node_path(0, 1);
        FB_TRY(sys::make_directories_below(store, part.run, directory));
        FB_TRY_ASSIGN(out, store.open(path + ".tmp", sys::Access::create));
        FB_TRY(writer.write(*out, record));
        // The rename comes after the sync of the file: a reader that sees the name finds all bytes.
        FB_TRY(store.rename(path + ".tmp", path));
        FB_TRY(store.sync_directory(directory));
        return commit();
    }();
    // Report the first error. If the part cannot be removed either, recover removes it.
    if (!written) static_cast<void>(catalog::discard(store, part.directory(), part.step, part.snapshot_id));
    return written;
}

// The save of the step that is committed in `directory`. Nothing if its manifest is unreadable: such a save counts as
// earlier than all others.
Result<std::optional<format::Save>> committed_save(sys::Store& store, const std::string& directory) {
    const auto head = catalog::load_manifest_head(store, directory);
    if (head) return std::optional(head->which_save());
    const auto kind = head.error().kind;
    if (kind == ErrorKind::missing || kind == ErrorKind::corrupt) return std::optional<format::Save>{};
    return head.error();
}

// A random id above that of the save of the same line and number that is replaced. The ids decide between such saves
// (format::is_later). The random part is small beside 2^64, so a step can be replaced millions of times.
std::uint64_t id_above(std::uint64_t replaced) {
    constexpr std::uint64_t random_ids = std::uint64_t{1} << 40;
    const auto ids_above = std::numeric_limits<std::uint64_t>::max() - replaced;
    if (ids_above == 0) return sys::random_u64();
    return replaced + 1 + sys::random_u64() % std::min(random_ids, ids_above);
}

format::Record record_of(const BatchPart& part, double time, const format::Layout& layout, format::Lineage lineage) {
    return {.snapshot_id = part.snapshot_id,
            .step = part.step,
            .time = time,
            .sealed_unix_ns = sys::unix_ns(),
            .node = 0,
            .nodes = 1,
            .world_ranks = static_cast<std::uint32_t>(layout.ranks.size()),
            .lineage = std::move(lineage)};
}

}  // namespace

Result<std::string> write_snapshot(sys::Store& store, const Destination& to, const format::Layout& layout,
                                   Blocks& blocks, const Progress& progress) {
    if (to.step < 0 || to.step > limits::step_max)
        return Error{
            ErrorKind::refused,
            fmt::format("step {} is refused: steps are 0 to {}. Nothing was written", to.step, limits::step_max), "",
            "choose another step"};
    FB_TRY(catalog::make_identity(store, to.run));
    FB_TRY_ASSIGN(lineage, to.lineage ? Result<format::Lineage>(*to.lineage)
                                      : catalog::lineage_to_join(store, to.run, to.stream));
    BatchPart part{to.run, to.stream, to.step, sys::random_u64(), lineage.run_id};
    const auto directory = to.run + "/" + to.stream + "/" + catalog::step_name(to.step);
    FB_TRY_ASSIGN(replaced,
                  to.replaces ? committed_save(store, directory) : Result<std::optional<format::Save>>(std::nullopt));
    if (replaced && replaced->line != lineage.line()) replaced = {};
    // A joined lineage has no number of its own. The number of a given lineage is that of its source, and stays.
    if (replaced && !to.lineage) lineage.save = std::max(lineage.save, replaced->number);
    if (replaced && replaced->number == lineage.save && part.snapshot_id <= replaced->snapshot_id)
        part.snapshot_id = id_above(replaced->snapshot_id);
    auto record = record_of(part, to.time, layout, std::move(lineage));
    // Clocks order the saves of session 0. The clock may have been set back.
    if (replaced && replaced->line.session == 0)
        record.sealed_unix_ns = std::max(record.sealed_unix_ns, replaced->sealed_unix_ns);
    NodeFileWriter writer(layout, blocks, progress);
    const auto refusal = [&](const char* how) {
        return Error{ErrorKind::refused,
                     fmt::format("another process saved step {} of {}/{} meanwhile{}; its save stays", to.step, to.run,
                                 to.stream, how),
                     "", "choose another step"};
    };
    FB_TRY(write_and_commit(store, part, record, writer, [&]() -> Result<> {
        // Checked after the write: another program may have committed the step meanwhile.
        FB_TRY_ASSIGN(taken, to.replaces ? Result<bool>(false) : store.exists(directory));
        if (taken) return refusal("");
        FB_TRY_ASSIGN(outcome, commit_if_complete(store, key_of(to.run, to.stream, record), part.run_id));
        if (outcome == Commit::committed || outcome == Commit::already) return {};
        return refusal(", and later");
    }));
    return directory;
}

Result<> write_batch(sys::Store& store, BatchPart& batch, const format::Layout& layout, Blocks& blocks) {
    const auto record = record_of(batch, format::batch_time(batch.step), layout, {.run_id = batch.run_id});
    const Progress nobody;
    NodeFileWriter writer(layout, blocks, nobody);
    return write_and_commit(store, batch, record, writer, [&] { return commit_batch(store, batch); });
}

}  // namespace forebay::commit
