// The packers of two hosts with their spools in memory. They play drain::Packer on files that a World can copy.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "core/format/layout.hpp"
#include "core/format/node_file.hpp"
#include "core/format/packed.hpp"
#include "crash/world.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::crash {

std::vector<std::byte> image_of(const Batch& batch, const commit::BatchPart& part) {
    Schema schema;
    schema.stream = part.stream;
    format::RankPart rank;
    for (const auto& [path, content] : batch.files) {
        schema.variables.push_back(
            format::packed_variable({.path = path, .bytes = content.size()}, schema.variables.size()));
        rank.boxes.push_back({{{0}, schema.variables.back().shape}});
    }
    auto layout = format::plan_layout(schema, std::span(&rank, 1), {}).value();
    std::vector<std::byte> image(layout.file_bytes);
    format::encode(layout, image);
    const auto words = format::crc_words(layout, image);
    auto block = layout.blocks.begin();
    for (const auto& [path, content] : batch.files) {
        std::ranges::copy(bytes_of(content), image.begin() + static_cast<std::ptrdiff_t>(block->offset_bytes));
        words[block->first_segment] = crc32c(bytes_of(content));  // one checksum: the content is shorter than a segment
        ++block;
    }
    format::seal(layout,
                 {.snapshot_id = batch.id,
                  .step = part.step,
                  .time = format::batch_time(part.step),
                  .sealed_unix_ns = static_cast<std::int64_t>(batch.id % 2),  // by clocks the later batch is earlier
                  .node = 0,
                  .nodes = 1,
                  .world_ranks = 1,
                  .lineage = {.run_id = part.run_id}},
                 image);
    return image;
}

void World::put(const std::string& host, const std::string& path) {
    if (memory_operation()) spools_[host][path] = "of " + host + ": " + path;
}

void World::begin_batch(const std::string& host, std::optional<std::int64_t> step) {
    if (cut() || spools_[host].empty()) return;
    const auto& stream_of = programs_.batches;
    const Begun begun{{run, stream_of, 0, 0x1000 + ledger_.batches.size(), run_id_},
                      {0x1000 + ledger_.batches.size(), spools_[host]}};
    ledger_.batches.push_back(begun.batch);
    auto& packer = packers_[host] = begun;
    const auto written = [&]() -> Result<> {
        FB_TRY_ASSIGN(next, step ? Result<std::int64_t>(*step) : commit::next_step(store(), run, stream_of));
        packer.part.step = next;
        const auto directory = packer.part.directory(), path = directory + "/" + format::node_path(0, 1);
        FB_TRY(sys::make_directories_below(store(), run, directory));
        FB_TRY_ASSIGN(file, store().open(path + ".tmp", sys::Access::create));
        FB_TRY(file->write(0, image_of(packer.batch, packer.part)));
        FB_TRY(file->sync());
        FB_TRY(file->close());
        FB_TRY(store().rename(path + ".tmp", path));
        return store().sync_directory(directory);
    }();
    if (written) return;
    fault(written.error());
    // As the packer does. If the remainder cannot be removed either, recover sweeps it.
    static_cast<void>(catalog::discard(store(), packer.part.directory(), packer.part.step, packer.batch.id));
    packers_.erase(host);
}

void World::finish_batch(const std::string& host) {
    if (cut() || !packers_.contains(host)) return;
    auto [part, batch] = packers_.extract(host).mapped();
    if (const auto committed = commit::commit_batch(store(), part); !committed) {
        fault(committed.error());
        static_cast<void>(catalog::discard(store(), part.directory(), part.step, batch.id));
        return;
    }
    ledger_.in_batches.insert(batch.id);
    for (const auto& [path, content] : batch.files)
        if (memory_operation()) spools_[host].erase(path);
}

}  // namespace forebay::crash
