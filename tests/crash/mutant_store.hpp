// A store with one mistake in the order of durability, or in what it answers: what our programs would be if they made
// it.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/passing_store.hpp"

namespace forebay::crash {

enum class Mistake {
    sync_left_out,            // of a file
    sync_of_ends_left_out,    // of a descriptor that writes anything but the front of a file, and is not direct
    directory_sync_left_out,  // of a directory
    rename_before_sync,       // a file has its final name before its bytes are durable
    manifest_before_data,     // the bytes are made durable when the snapshot has its final name
    arrival_before_sync,      // a region's arrival is told before its bytes are durable
    arrival_before_data,      // and even before its last block is written
    record_before_data,       // the file has its record and its final name before its last block is written
    always_there,             // a file is said to exist, as if nobody had asked
    rename_replaces,          // a directory that has the name goes
};

class MutantStore final : public test::PassingStore {
public:
    /// The mistake is made with files whose path contains `where`, or with directories whose path ends with it.
    MutantStore(sys::Store& store, Mistake mistake, std::string where, std::string run_directory)
        : PassingStore(store), mistake_(mistake), where_(std::move(where)), run_(std::move(run_directory)) {}

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> sync_directory(const std::string& path) override;
    Result<bool> exists(const std::string& path) override;

private:
    class MutantFile;
    struct Late {  // what is done too late
        std::unique_ptr<sys::File> file;
        std::uint64_t offset = 0;
        std::vector<std::byte> bytes;
    };

    Result<> make_good(const std::string& path);

    Mistake mistake_;
    std::string where_, run_;
    std::map<std::string, Late> late_;  // by the path that was opened
};

}  // namespace forebay::crash
