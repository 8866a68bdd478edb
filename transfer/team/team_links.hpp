// Which process copies an inode of several names, and where its copy is: the table of the first process, for all.
//
// Nobody waits: who asks while another one copies is answered later. Inodes that have their copy are in memory up to a
// number, and beyond in a spill file; where that has no room, the next ask() says so.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transfer/tables/inode_map.hpp"
#include "transfer/tables/spill_texts.hpp"
#include "transfer/team/team_message.hpp"

namespace forebay::tree {

/// In an answer: the inode is asked for first, so that the asker copies it; it may take the inode of the target that it
/// named for the copy.
inline constexpr std::uint64_t link_is_first = 1, link_may_keep = 2;

class TeamLinks {
public:
    using Answers = std::vector<std::pair<std::uint64_t, TeamMessage>>;  // each with the process that it is for

    explicit TeamLinks(const TableLimits& limits = {})
        : memory_max_(limits.inodes),
          spilled_(limits.inode_bytes),
          texts_(limits.place_bytes),
          claimed_(limits.inode_bytes) {}

    /// link_ask: `id` of the source, and as `other_id` an inode that the target has under that name, or 0.
    Result<Answers> ask(std::uint64_t process, const TeamMessage& asked);
    /// link_published: the copy is at `path`, a folder, by the name `text`.
    Answers published(const TeamMessage& published);
    /// link_failed: the next one that has asked should try.
    Answers failed(const TeamMessage& failed);
    /// What it was to copy, others do.
    Answers lost(std::uint64_t process);

private:
    struct Asker {
        std::uint64_t process = 0;
        sys::EntryId existing;
    };
    struct Link {
        std::uint64_t owner = 0;
        bool is_published = false;
        std::string path, name;
        std::vector<Asker> waiting;
    };
    struct SpilledLink {
        std::uint64_t path = 0, name = 0;
    };

    TeamMessage make_first(const sys::EntryId& id, Link& link, const Asker& asker);
    void hand_on(const sys::EntryId& id, Link& link, Answers& answers);
    Result<> spill(const sys::EntryId& id, const Link& link);

    const std::size_t memory_max_;
    std::unordered_map<sys::EntryId, Link, EntryIdHash> links_;
    InodeMap<SpilledLink> spilled_;
    SpillTexts texts_;
    std::string last_path_;  // of those in texts_, and where it is
    std::uint64_t last_path_at_ = 0;
    InodeMap<sys::EntryId> claimed_;  // of the target: which of the source it stands for
    Result<> failed_;                 // what could not be spilled
};

}  // namespace forebay::tree
