// Options that cannot be combined, with reasons.

#include <fmt/format.h>

#include "bench/matrix/setting.hpp"

namespace forebay::bench {

namespace {

std::string why_not_forebay(const RowSetting& setting) {
    if (setting.layout == FileLayout::rank) return "forebay has no file a rank";
    if (setting.sync != Sync::independent) return "forebay saves in one call of all ranks, however they sync";
    if (setting.memory == MemoryForm::block) return "forebay saves whole variables, not a block again and again";
    if (setting.stonewall_seconds > 0) return "forebay does not stop in the middle of a save";
    if (setting.targets.size() > 1) return "forebay writes a run into one directory";
    if (setting.durable == Durable::verified)
        return "forebay verifies what it drains; read it back with --op read:cold";
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
        return "HDF5 reads back what it has cached; --op read:cold looks at the file";
    const bool table = setting.data.kind == DataShape::Kind::columns || setting.data.kind == DataShape::Kind::particles;
    if (setting.memory == MemoryForm::aos && !table) return "grids lie in memory as they are, not in records";
    if (setting.vary.kind != Vary::Kind::none && !table) return "the shares of a grid do not vary";
    if (setting.stonewall_seconds > 0 && setting.sync != Sync::independent)
        return "a collective call cannot be left by one rank";
    if (setting.stonewall_seconds > 0 && setting.via == Via::hdf5) return "HDF5 does not stop in the middle of a save";
    if (setting.stonewall_seconds > 0 && reads) return "what was not written cannot be read: use --op write";
    if (operations.kill && (setting.dumps < 2 || !operations.restart))
        return "a kill in the last dump needs --dumps 2 or more to go back to, and restart in --op";
    if (operations.kill && setting.agent == AgentMode::dedicated) return "a killed job takes its dedicated ranks along";
    if (setting.memory == MemoryForm::block && setting.xfer_bytes % 8 != 0)
        return "a block is of whole words of 8 bytes";
    if (reads && !operations.write) return "what was not written cannot be read";
    if (setting.via == Via::forebay) return why_not_forebay(setting);
    return "";
}

}  // namespace forebay::bench
