// Snapshots as one HDF5 file that holds its data itself, in other people's conventions: laid out by HDF5 in memory,
// written beside it. Under its name the file is whole or absent. docs/formats/export.md.
//
// Life:      plan -> begin -> copy each part -> finish. A killed export is planned again and goes on where it was.
// Processes: each may plan the same and copy parts of its own; one of them begins, before, and one finishes, after all.
// Threads:   one at a time calls an Export; copy() starts its own.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "insight/outline/conventions.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::views {

struct ExportOptions {
    bool replace = false;                      // a file of this name
    std::uint64_t alignment_bytes = 1u << 20;  // of datasets that large; whole pages, best the target's stripe
    std::uint64_t memory_bytes = 0;            // of the copying; 0: 64 MiB, or what the alignment needs
    int threads = 0;                           // 0: one a CPU, up to 4; fewer where the memory is not enough
    std::uint64_t rate_bytes_per_second = 0;   // 0: as fast as the target takes it
    std::uint64_t journal_bytes = 0;           // copied between two entries; 0: 1 GiB
    std::string description;                   // a file to use instead of the stream's own describe.toml
    const std::atomic<bool>* stop = nullptr;   // ends a copy() with `retry`
    /// What the file system of a directory has room for; empty: not asked.
    std::function<Result<std::uint64_t>(const std::string&)> free_bytes;
    /// Bytes of this part that are written, those of earlier calls too, and all.
    std::function<void(std::uint64_t, std::uint64_t)> progress;
};

struct Exported {
    std::uint64_t file_bytes = 0;
    std::uint64_t datasets = 0;       // whose data were copied
    std::uint64_t resumed_bytes = 0;  // that an earlier call had written
    std::uint64_t bytes_read = 0;     // from node files: more than was written where segments lie across windows
    std::uint64_t bytes_written = 0;
    std::uint64_t writes = 0;
    std::vector<std::string> notes;
    std::vector<outline::Outline::Omitted> omitted;  // what the convention cannot say
};

class Export {
public:
    /// Reads manifests and heads and lays the file out in the words of `wish`, whose file name it takes from `path`;
    /// writes nothing. `refused` when `path` exists and may not be replaced, lies in a snapshot's directory or is the
    /// description, or the memory is too little. All given must outlive the Export.
    static Result<Export> plan(sys::Store& store, std::vector<catalog::Snapshot> snapshots, const outline::Wish& wish,
                               const std::string& path, const ExportOptions& options);

    Export(Export&&) noexcept;
    Export& operator=(Export&&) noexcept;
    ~Export();

    /// Makes the file under a name of its own with everything but the data, or finds the one of an earlier call.
    /// `full` when there is no room for it.
    Result<> begin();
    /// Copies one of `parts` stretches of the data, or what is left of it, and makes it durable.
    Result<> copy(std::uint32_t part = 0, std::uint32_t parts = 1);
    /// Gives the file its name, when all parts say that they are durable; else `refused`.
    Result<> finish(std::uint32_t parts = 1);

    const Exported& done() const;
    /// The name until it is finished: its end names what is written, so no two different exports share one.
    const std::string& part_path() const;

private:
    struct Plan;
    explicit Export(std::unique_ptr<Plan> plan);
    std::unique_ptr<Plan> plan_;
};

/// All of it in this process.
Result<Exported> export_file(sys::Store& store, std::vector<catalog::Snapshot> snapshots, const outline::Wish& wish,
                             const std::string& path, const ExportOptions& options);

}  // namespace forebay::views
