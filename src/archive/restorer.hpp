// One restore, or check, of an archive: a thread reads it, and others restore what it has read.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "archive/reader.hpp"
#include "archive/restore.hpp"
#include "archive/target_folders.hpp"

namespace forebay::archive {

/// Entries that are restored by one thread together; most of them share a window.
using Batch = std::vector<FoundMember>;

class Restorer {
public:
    /// No `root` where nothing is restored; then files are compared with their checksums if it `checks`.
    Restorer(tree::CopyContext& given_context, sys::OpenFile& file, std::uint64_t file_bytes, tree::BranchRef root,
             bool checks, const MemberTaker& take);

    /// All but folders that were there or made: these are given what they have by finish_folders(), when nothing is
    /// made in them any more.
    Result<> run();
    Result<> finish_folders();
    /// Where the bytes of a member are read, what makes a file of them, and who is told.
    sys::OpenFile& file() { return file_; }
    bool restores() const { return root_ != nullptr; }
    Result<tree::CopyEntry> entry_of(tree::TreeWorker& worker, const std::string& path) {
        return target_folders_[worker.index].entry(path);
    }

    tree::CopyContext& context;

private:
    /// What comes when all before it is there.
    struct Later {
        std::uint64_t offset = 0;
        std::shared_ptr<const Records> common;
        std::size_t depth = 0;
    };

    struct FurtherName {
        std::string path;
        std::uint64_t offset = 0;  // of its head
    };

    void scan(tree::TreeWorker& worker);
    Result<> try_scan(tree::TreeWorker& worker);
    Result<> take(tree::TreeWorker& worker, FoundMember found);
    void hand_over(tree::TreeWorker& worker);
    void restore_batch(tree::TreeWorker& worker, const Batch& batch);
    Result<> restore(tree::TreeWorker& worker, const FoundMember& found);
    Result<> restore_file(tree::TreeWorker& worker, const FoundMember& found);
    Result<> link(tree::TreeWorker& worker, const Member& member, std::uint64_t offset);
    Result<> restore_later();
    Result<> restore_left_out();
    Result<> open_implied();
    Result<> finish_folder(tree::TreeWorker& worker, const Member& member);
    Result<Member> member_at(const Later& later);

    sys::OpenFile& file_;
    const std::uint64_t file_bytes_;
    ArchiveReader reader_;
    tree::BranchRef root_;
    const bool checks_;
    const MemberTaker& take_;
    std::vector<TargetFolders> target_folders_;  // of each thread
    Batch batch_;
    std::vector<Later> later_, folders_;
    /// Further names of inodes whose first name patterns leave out, by that.
    std::map<std::string, std::vector<FurtherName>> left_out_;
    std::unordered_set<std::uint64_t> known_;  // hashes of paths, in archives of others
    Result<> scanned_;
};

/// What a member has beside its status.
tree::AttributeSource attributes_of(const Member& member, const tree::Preserve& preserve);
/// Says that a part of the head cannot be read, as the options want it.
Result<> settle_unread(tree::CopyContext& context, const Member& member);
Error wrong_sum(const FoundMember& found, std::uint32_t sum);

/// A file whose bytes are read in pieces, by all threads.
void start_large_restore(Restorer& restorer, tree::TreeWorker& worker, FoundMember found);

}  // namespace forebay::archive
