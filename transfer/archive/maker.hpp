// Forms the entries of an archive in the order that other programs need. The first name of an inode comes before its
// further names. A directory comes after its entries, because GNU tar sets a directory's times at the first entry
// outside it. Symbolic links out of their directory come between two entries of it, because GNU tar makes them last.
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
    /// `output` is null in a dry run.
    Maker(SourceParts& given_parts, NewArchive* given_output)
        : parts(given_parts), output(given_output), packets_(given_parts.options.threads) {}

    /// Adds an entry with the kind and inode number of the listing; not for directories.
    void add(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::Folder& folder, sys::EntryKind kind,
             std::uint64_t listed_number);
    /// The packet of `worker` has entries of `dir_node`: the directory's own entry must come after it.
    void hold(tree::TreeWorker& worker, const tree::DirNodeRef& dir_node);
    /// Counts one piece of work of `dir_node` as done. The last makes the directory's entry.
    void count_done(tree::TreeWorker& worker, const tree::DirNodeRef& dir_node);
    /// Writes the packets of all threads. Call it when the threads have ended.
    void write_rest();

    /// A member with attributes, without a path in the archive and without its map of stored bytes.
    Result<Member> describe(sys::OpenEntry& entry, const sys::EntryStatus& status) const;
    /// stored(): the inode has its place in the archive, so later entries may link to it. give_up(): it has none.
    void stored(tree::TreeWorker& worker, const sys::EntryStatus& status, const tree::EntryPlace& first);
    void give_up(tree::TreeWorker& worker, const sys::EntryId& id);

    /// The root. Its head may come several times, and comes last.
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
    /// Returns `later` if the file is too large for a packet.
    Result<tree::CopyStep> put_file(tree::TreeWorker& worker, const tree::EntryPlace& place, sys::OpenFile& file,
                                    sys::EntryStatus before);
    Result<bool> form_file(Packet& packet, const Member& member, sys::OpenFile& file, Head& head);
    void put_head(Packet& packet, const Member& member);
    void put_link(tree::TreeWorker& worker, const Packet::Link& link);
    void finish(tree::TreeWorker& worker, const tree::DirNodeRef& dir_node);
    /// Writes a full packet and does the work that waited for it. With `all` also writes a packet with room.
    void settle(tree::TreeWorker& worker, bool all);
    void write_out(Packet& packet);

    Member root_;
    std::vector<Packet> packets_;
    std::mutex mutex_;  // guards the members below
    std::unordered_map<const tree::DirNode*, std::vector<std::string>>
        deferred_;  // links behind their directory's entry
};

/// Copies a file too large for a packet in pieces on all threads. It counts once in `pending` of its directory node.
void start_large_member(Maker& maker, tree::TreeWorker& worker, const tree::EntryPlace& place,
                        std::unique_ptr<sys::OpenFile> file, const sys::EntryStatus& status);

}  // namespace forebay::archive
