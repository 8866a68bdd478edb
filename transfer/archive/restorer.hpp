// One restore or check of an archive: one thread reads it, the rest restore the entries.

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

/// Entries restored together by one thread. Most share a window.
using Batch = std::vector<FoundMember>;

class Restorer {
public:
    /// `root` is null if nothing is restored. Then `checks` compares files with their checksums.
    Restorer(tree::TargetParts& given_parts, sys::OpenFile& file, std::uint64_t file_bytes, tree::DirNodeRef root,
             bool checks, const MemberTaker& take);

    /// Restores all except the attributes of directories. finish_folders() sets these when nothing more is made in
    /// them.
    Result<> run();
    Result<> finish_folders();
    /// Only for a check.
    const CheckedSums& checked() const { return *checked_; }
    /// For large restores: the archive's file, the target entry of a path, and the parts of the restore.
    sys::OpenFile& file() { return file_; }
    bool restores() const { return root_ != nullptr; }
    Result<tree::CopyEntry> entry_of(tree::TreeWorker& worker, const std::string& path) {
        return target_folders_[worker.index].entry(path);
    }

    tree::TargetParts& parts;

private:
    /// An entry that is restored after all others.
    struct Later {
        std::uint64_t offset = 0;
        std::uint32_t common = 0;  // index in commons_
        std::uint32_t depth = 0;
    };

    struct Folders {
        tree::SpillArray<Later> all;
        std::vector<std::uint64_t> of_depth;  // number of directories by depth
    };

    /// Tables by the hash of a path.
    struct Paths {
        tree::InodeMap<bool> known;   // only in archives of other programs
        std::mutex mutex;             // guards the members below
        tree::InodeMap<bool> wanted;  // directories with a matching entry in them or below
        tree::InodeMap<bool> failed;  // entries that are missing or old at the target
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
    /// Key in a table of paths.
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
    std::optional<CheckedSums> checked_;  // only in a check
    const MemberTaker& take_;
    std::vector<TargetFolders> target_folders_;  // one for each thread
    Batch batch_;
    tree::SpillArray<Later> later_;
    Folders folders_;
    std::vector<std::shared_ptr<const Records>> commons_;  // none or one; several in joined archives
    Paths paths_;
    Result<> scanned_;
};

/// The extended attributes of a member.
tree::AttributeSource attributes_of(const Member& member, const tree::Preserve& preserve);
/// Reports unread parts of a head, by the policy of the options.
Result<> settle_unread(tree::Losses& losses, const tree::Preserve& preserve, const Member& member);
Error wrong_sum(const FoundMember& archived, std::uint32_t sum);

/// Restores a file in pieces on all threads.
void start_large_restore(Restorer& restorer, tree::TreeWorker& worker, FoundMember archived);

}  // namespace forebay::archive
