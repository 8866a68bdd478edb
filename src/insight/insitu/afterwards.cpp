#include "insight/insitu/afterwards.hpp"

#include "core/base/try.hpp"
#include "path/catalog/block_reader.hpp"

namespace forebay::insitu {

Result<Afterwards> analyse_snapshot(sys::Store& store, const catalog::Snapshot& snapshot,
                                    const format::Manifest& manifest, std::span<const Analysis> analyses,
                                    const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    const Moment moment{manifest.step, manifest.time};
    auto work = Work::plan(analyses, manifest.schema, moment);
    std::uint64_t done = 0, all = 0;
    for (const auto& line : manifest.nodes) all += line.data_bytes;
    for (const auto& line : manifest.nodes) {
        FB_TRY_ASSIGN(node, catalog::BlockReader::open(store, snapshot.directory, line));
        FB_TRY(work.see(node));
        done += line.data_bytes;
        if (progress) progress(done, all);
    }
    Afterwards afterwards;
    afterwards.source = {snapshot.stream,      moment,
                         manifest.snapshot_id, static_cast<std::uint32_t>(manifest.nodes.size()),
                         manifest.lineage,     manifest.sealed_unix_ns};
    afterwards.results = work.make();
    afterwards.problems = work.problems();
    return afterwards;
}

}  // namespace forebay::insitu
