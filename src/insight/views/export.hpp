// Exports snapshots as one HDF5 file with its own data, in a common convention. HDF5 lays it out in memory; other code
// writes it. Under its name the file is whole or absent. docs/formats/export.md.
//
// Life:      plan -> begin -> copy each part -> finish. To continue a killed export, plan it again.
// Processes: several may plan the same export and copy different parts. One begins before all, one finishes after all.
// Threads:   one at a time calls an Export; copy() starts its own threads.

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
    bool replace = false;                      // replace an existing file
    std::uint64_t alignment_bytes = 1u << 20;  // of large datasets; whole pages, best the target's stripe
    std::uint64_t memory_bytes = 0;            // for copying; 0: 64 MiB, or more if the alignment needs it
    int threads = 0;                           // 0: one a CPU, up to 4; fewer if memory is short
    std::uint64_t rate_bytes_per_second = 0;   // 0: no limit
    std::uint64_t journal_bytes = 0;           // copied between two journal entries; 0: 1 GiB
    std::string description;                   // a file instead of the stream's own describe.toml
    const std::atomic<bool>* stop = nullptr;   // ends copy() with `retry`
    /// Returns the free bytes in a directory's file system; empty: not checked.
    std::function<Result<std::uint64_t>(const std::string&)> free_bytes;
    /// Gets the bytes of this part written so far, earlier calls included, and all bytes of the part.
    std::function<void(std::uint64_t, std::uint64_t)> progress;
};

struct Exported {
    std::uint64_t file_bytes = 0;
    std::uint64_t datasets = 0;       // with copied data
    std::uint64_t resumed_bytes = 0;  // written by an earlier call
    std::uint64_t bytes_read = 0;     // from node files; more than written if segments span windows
    std::uint64_t bytes_written = 0;
    std::uint64_t writes = 0;
    std::vector<std::string> notes;
    std::vector<outline::Outline::Omitted> omitted;  // parts that the convention cannot express
};

class Export {
public:
    /// Reads manifests and heads and lays out the file with the convention of `wish`. Takes its file name from `path`.
    /// Writes nothing. `refused` if `path` exists and may not be replaced, is in a snapshot's directory, or is the
    /// description; or if memory is too small. All arguments must outlive the Export.
    static Result<Export> plan(sys::Store& store, std::vector<catalog::Snapshot> snapshots, const outline::Wish& wish,
                               const std::string& path, const ExportOptions& options);

    Export(Export&&) noexcept;
    Export& operator=(Export&&) noexcept;
    ~Export();

    /// Makes the file under a temporary name with everything except the data, or finds the file of an earlier call.
    /// `full` if there is not enough space.
    Result<> begin();
    /// Copies the rest of one of `parts` stretches of the data, and makes it durable.
    Result<> copy(std::uint32_t part = 0, std::uint32_t parts = 1);
    /// Renames the file if all parts are durable; else `refused`.
    Result<> finish(std::uint32_t parts = 1);

    const Exported& done() const;
    /// The name before finish(). It ends in a hash of the content, so different exports never share it.
    const std::string& part_path() const;

private:
    struct Plan;
    explicit Export(std::unique_ptr<Plan> plan);
    std::unique_ptr<Plan> plan_;
};

/// Runs the whole export in this process.
Result<Exported> export_file(sys::Store& store, std::vector<catalog::Snapshot> snapshots, const outline::Wish& wish,
                             const std::string& path, const ExportOptions& options);

}  // namespace forebay::views
