// A store that makes one mistake in the order of durability or in its answers, as a faulty program of ours would.

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
    sync_of_ends_left_out,    // of a descriptor that never writes the front of a file, and is not direct
    directory_sync_left_out,  // of a directory
    rename_before_sync,       // a file gets its final name before its bytes are durable
    manifest_before_data,     // the bytes become durable after the snapshot has its final name
    arrival_before_sync,      // the arrival of a region is recorded before its bytes are durable
    arrival_before_data,      // it is even recorded before its last block is written
    record_before_data,       // a file has its record and final name before its last block is written
    always_there,             // exists() always returns true
    rename_replaces,          // a rename removes a directory of that name
};

class MutantStore final : public test::PassingStore {
public:
    /// Makes the mistake on files whose path contains `where`, or on directories whose path ends with it.
    MutantStore(sys::Store& store, Mistake mistake, std::string where, std::string run_directory)
        : PassingStore(store), mistake_(mistake), where_(std::move(where)), run_(std::move(run_directory)) {}

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override;
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> sync_directory(const std::string& path) override;
    Result<bool> exists(const std::string& path) override;

private:
    class MutantFile;
    struct Late {  // work that is done too late
        std::unique_ptr<sys::File> file;
        std::uint64_t offset = 0;
        std::vector<std::byte> bytes;
    };

    Result<> make_good(const std::string& path);

    Mistake mistake_;
    std::string where_, run_;
    std::map<std::string, Late> late_;  // by the opened path
};

}  // namespace forebay::crash
