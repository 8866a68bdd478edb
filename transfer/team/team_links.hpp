// Which process copies an inode of several names, and where the copy is. The coordinator keeps this table for all.
//
// No process waits: a question during a copy is answered later. Copied inodes stay in memory up to a limit, then go to
// a spill file. If that file has no room, the next ask() fails.

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

/// Flags of an answer. `link_is_first`: the asker must copy the inode. `link_may_keep`: it may use the target inode of
/// its question for the copy.
inline constexpr std::uint64_t link_is_first = 1, link_may_keep = 2;

class TeamLinks {
public:
    using Answers = std::vector<std::pair<std::uint64_t, TeamMessage>>;  // each with its receiver

    explicit TeamLinks(const TableLimits& limits = {})
        : memory_max_(limits.inodes),
          spilled_(limits.inode_bytes),
          texts_(limits.place_bytes),
          claimed_(limits.inode_bytes) {}

    /// For link_ask: `id` is the source inode, `other_id` the target inode under that name, or 0.
    Result<Answers> ask(std::uint64_t process, const TeamMessage& asked);
    /// For link_published: the copy is in the directory `path` under the name `text`.
    Answers published(const TeamMessage& published);
    /// For link_failed: the next process that asked should try.
    Answers failed(const TeamMessage& failed);
    /// The next process that asked copies each inode that the lost process had begun.
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
    std::string last_path_;  // the last path in texts_
    std::uint64_t last_path_at_ = 0;
    InodeMap<sys::EntryId> claimed_;  // source inode of a target inode
    Result<> failed_;                 // error of a spill
};

}  // namespace forebay::tree
