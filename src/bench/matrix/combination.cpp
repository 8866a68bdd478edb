// Options that cannot be combined, with reasons.

#include <fmt/format.h>

#include "bench/matrix/setting.hpp"

namespace forebay::bench {

namespace {

std::string why_not_forebay(const RowSetting& setting) {
    if (setting.layout == FileLayout::rank) return "forebay has no file a rank";
    if (setting.sync != Sync::independent) return "forebay saves in one call of all ranks, whatever their sync";
    if (setting.memory == MemoryForm::block) return "forebay saves whole variables, not a block again and again";
    if (setting.stonewall_seconds > 0) return "forebay does not stop in the middle of a save";
    if (setting.targets.size() > 1) return "forebay writes a run into one directory";
    if (setting.durable == Durable::verified)
        return "forebay verifies during the drain. To read back, use --op read:cold";
    return "";
}

}  // namespace

std::string why_not(const RowSetting& setting) {
    const bool calls = setting.via == Via::posix || setting.via == Via::mmap;
    const auto& operations = setting.operations;
    const bool reads = operations.read || operations.restart;
    if (calls && setting.sync != Sync::independent)
        return fmt::format("{} has no collective calls", word_of(setting.words, "via"));
    if (setting.staging_given && setting.via != Via::forebay)
        return fmt::format("{} stages nothing", word_of(setting.words, "via"));
    if (!setting.hints.empty() && setting.via != Via::mpiio && setting.via != Via::hdf5)
        return fmt::format("{} takes no hints of MPI-IO", word_of(setting.words, "via"));
    if (setting.via == Via::hdf5 && setting.durable == Durable::verified)
        return "HDF5 reads back its cache. Use --op read:cold to read the file";
    const bool table = setting.data.kind == DataShape::Kind::columns || setting.data.kind == DataShape::Kind::particles;
    if (setting.memory == MemoryForm::aos && !table) return "a grid has one layout in memory, not records";
    if (setting.vary.kind != Vary::Kind::none && !table) return "the shares of a grid do not vary";
    if (setting.stonewall_seconds > 0 && setting.sync != Sync::independent)
        return "one rank cannot leave a collective call";
    if (setting.stonewall_seconds > 0 && setting.via == Via::hdf5) return "HDF5 does not stop in the middle of a save";
    if (setting.stonewall_seconds > 0 && reads) return "a read needs data: use --op write";
    if (operations.kill && (setting.dumps < 2 || !operations.restart))
        return "a kill in the last dump needs an earlier dump (--dumps 2 or more), and restart in --op";
    if (operations.kill && setting.agent == AgentMode::dedicated) return "a killed job also loses its dedicated ranks";
    if (setting.memory == MemoryForm::block && setting.xfer_bytes % 8 != 0)
        return "a block must be whole words of 8 bytes";
    if (reads && !operations.write) return "a read needs data";
    if (setting.via == Via::forebay) return why_not_forebay(setting);
    return "";
}

}  // namespace forebay::bench
