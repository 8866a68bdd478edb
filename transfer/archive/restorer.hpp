// One restore, or check, of an archive: a thread reads it, and others restore what it has read.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "transfer/archive/reader.hpp"
#include "transfer/archive/restore.hpp"
#include "transfer/archive/target_folders.hpp"
#include "transfer/copy/copy_parts.hpp"
#include "transfer/tables/inode_map.hpp"
#include "transfer/tables/spill_array.hpp"

namespace forebay::archive {

/// Entries that are restored by one thread together; most of them share a window.
using Batch = std::vector<FoundMember>;

class Restorer {
public:
    /// No `root` where nothing is restored; then files are compared with their checksums if it `checks`.
    Restorer(tree::TargetParts& given_parts, sys::OpenFile& file, std::uint64_t file_bytes, tree::DirNodeRef root,
             bool checks, const MemberTaker& take);

    /// All but folders that were there or made: these are given what they have by finish_folders(), when nothing is
    /// made in them any more.
    Result<> run();
    Result<> finish_folders();
    /// Of a check.
    const CheckedSums& checked() const { return *checked_; }
    /// Where the bytes of a member are read, what makes a file of them, and who is told.
    sys::OpenFile& file() { return file_; }
    bool restores() const { return root_ != nullptr; }
    Result<tree::CopyEntry> entry_of(tree::TreeWorker& worker, const std::string& path) {
        return target_folders_[worker.index].entry(path);
    }

    tree::TargetParts& parts;

private:
    /// What comes when all before it is there.
    struct Later {
        std::uint64_t offset = 0;
        std::uint32_t common = 0;  // in commons_
        std::uint32_t depth = 0;
    };

    struct Folders {
        tree::SpillArray<Later> all;
        std::vector<std::uint64_t> of_depth;  // how many
    };

    /// By their hashes.
    struct Paths {
        tree::InodeMap<bool> known;   // in archives of others
        std::mutex mutex;             // guards what follows
        tree::InodeMap<bool> wanted;  // folders with an entry that fits a pattern, in them or below
        tree::InodeMap<bool> failed;  // of which the target has no entry, or an older one
    };

    void scan(tree::TreeWorker& worker);
    Result<> try_scan(tree::TreeWorker& worker);
    Result<> take(tree::TreeWorker& worker, FoundMember archived);
    void hand_over(tree::TreeWorker& worker);
    void restore_batch(tree::TreeWorker& worker, const Batch& batch);
    Result<> restore(tree::TreeWorker& worker, const FoundMember& archived);
    Result<> restore_file(tree::TreeWorker& worker, const FoundMember& archived);
    Result<> link(tree::TreeWorker& worker, const Member& member);
    Result<> note_wanted(std::string_view path);
    Result<bool> is_wanted(const std::string& folder);
    void take_failed(const std::string& path);
    Result<> forget_failed(const std::string& path);
    Result<> link_to(tree::TreeWorker& worker, const std::string& path, const std::string& first_path);
    Result<> restore_later();
    Result<> restore_some_later(tree::TreeWorker& worker, std::uint64_t& next);
    std::uint32_t number_of(const std::shared_ptr<const Records>& common);
    /// Of a table of paths.
    static sys::EntryId key_of(const std::string& path);
    Result<bool> is_known(const std::string& path);
    Result<> check_first_name(const std::string& path);
    Result<tree::SpillArray<Later>> folders_by_depth();
    Result<> open_implied();
    Result<> open_made(sys::Folder& folder) const;
    Result<> finish_folder(tree::TreeWorker& worker, const Member& member);
    Result<FoundMember> member_at(const Later& later);

    sys::OpenFile& file_;
    const std::uint64_t file_bytes_;
    ArchiveReader reader_;
    tree::DirNodeRef root_;
    std::optional<CheckedSums> checked_;  // where files are compared with their checksums
    const MemberTaker& take_;
    std::vector<TargetFolders> target_folders_;  // of each thread
    Batch batch_;
    tree::SpillArray<Later> later_;
    Folders folders_;
    std::vector<std::shared_ptr<const Records>> commons_;  // an archive has none or one, or some that were joined
    Paths paths_;
    Result<> scanned_;
};

/// What a member has beside its status.
tree::AttributeSource attributes_of(const Member& member, const tree::Preserve& preserve);
/// Says that a part of the head cannot be read, as the options want it.
Result<> settle_unread(tree::Losses& losses, const tree::Preserve& preserve, const Member& member);
Error wrong_sum(const FoundMember& archived, std::uint32_t sum);

/// A file whose bytes are read in pieces, by all threads.
void start_large_restore(Restorer& restorer, tree::TreeWorker& worker, FoundMember archived);

}  // namespace forebay::archive
