// Forms the entries of an archive. Its order is what other programs need: the first name of an inode before the others,
// and a folder behind all that is in it, since GNU tar sets the times of a folder when it comes to an entry outside of
// it. Symbolic links that lead out of their folder come between two entries of it, since GNU tar makes these last.
//
// Threads: any; each has its own packet.

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "transfer/archive/member.hpp"
#include "transfer/archive/new_archive.hpp"
#include "transfer/archive/packet.hpp"
#include "transfer/archive/source_parts.hpp"

namespace forebay::archive {

class Maker {
public:
    /// No `output` in a dry run.
    Maker(SourceParts& given_parts, NewArchive* given_output)
        : parts(given_parts), output(given_output), packets_(given_parts.options.threads) {}

    /// An entry of a listing, which said that it is of this kind and inode; no folder.
    void add(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::Folder& folder, sys::EntryKind kind,
             std::uint64_t listed_number);
    /// What is in the packet of `worker` is of `dir_node` too, which gets its own entry behind it.
    void hold(tree::TreeWorker& worker, const tree::DirNodeRef& dir_node);
    /// Takes one from what `dir_node` waits for; the last makes its entry.
    void count_done(tree::TreeWorker& worker, const tree::DirNodeRef& dir_node);
    /// Writes what all threads still have; when they have ended.
    void write_rest();

    /// Bytes, holes and attributes of a file or folder; all but the path of the archive.
    Result<Member> describe(sys::OpenEntry& entry, const sys::EntryStatus& status) const;
    /// The inode has its place in the archive, behind which others may name it; or it has none.
    void stored(tree::TreeWorker& worker, const sys::EntryStatus& status, const tree::EntryPlace& first);
    void give_up(tree::TreeWorker& worker, const sys::EntryId& id);

    /// The root, whose head may come more than once, and comes last.
    void begin(sys::Folder& root, const sys::EntryStatus& status);
    Result<> end();

    SourceParts& parts;
    NewArchive* const output;
    Head root_head;

private:
    Result<tree::CopyStep> try_add(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::Folder& folder,
                                   sys::EntryKind kind, std::uint64_t listed_number);
    Result<bool> leaves(const tree::EntryPlace& place, sys::Folder& folder);
    Result<tree::CopyStep> put(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::Folder& folder,
                               const sys::EntryStatus& status, std::unique_ptr<sys::OpenFile> file);
    Result<> put_other(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::Folder& folder,
                       const sys::EntryStatus& status);
    bool deferred(const tree::EntryPlace& place);
    std::vector<std::string> take_deferred(const tree::DirNode& dir_node);
    /// `later`: it is too large for a packet.
    Result<tree::CopyStep> put_file(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::OpenFile& file,
                                    sys::EntryStatus before);
    Result<bool> form_file(Packet& packet, const Member& member, sys::OpenFile& file, Head& head);
    void put_head(Packet& packet, const Member& member);
    void put_link(tree::TreeWorker& worker, const Packet::Link& link);
    void finish(tree::TreeWorker& worker, const tree::DirNodeRef& dir_node);
    /// Writes a packet that is full, and does what waited for that; with `all` also one that is not.
    void settle(tree::TreeWorker& worker, bool all);
    void write_out(Packet& packet);

    Member root_;
    std::vector<Packet> packets_;
    std::mutex mutex_;                                                             // guards what follows
    std::unordered_map<const tree::DirNode*, std::vector<std::string>> deferred_;  // links behind their folder's entry
};

/// A file that is too large for a packet, copied in pieces by all threads; it counts once in the branch's `pending`,
/// and gives that back.
void start_large_member(Maker& maker, tree::TreeWorker& worker, const tree::EntryPlace& place,
                        std::unique_ptr<sys::OpenFile> file, const sys::EntryStatus& status);

}  // namespace forebay::archive
