// Messages between processes that share the work on a tree. All processes have one version. Every message goes to or
// comes from the coordinator, which also passes messages between workers.
//
//   worker                        coordinator
//   hello(version, host)      ->
//                             <-  order(verb, trees, options)
//   list_ask(from where)      ->                      if the order has a list of paths
//                             <-  list(paths; none: the end)
//   ready, or refused(why)    ->
//   ask                       ->                      the worker is idle
//                             <-  steal_request(for)  to a worker that may have much
//   work_item, work_item, steal_reply(number) ->
//                             <-  work_item(from)     to the idle worker
//   done(sender, item)        ->
//                             <-  done                to the sender; back if the receiver was lost
//   log_entry, unkept, listed, summed, counts, link_ask, ..., beat  ->
//                             <-  end
//   failed(why), bye          ->
//
// Threads: any.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/sys/tree.hpp"
#include "forebay/result.hpp"

namespace forebay::tree {

enum class TeamKind : std::uint16_t {
    hello = 1,
    order,
    ready,
    refused,
    ask,
    steal_request,
    work_item,
    steal_reply,
    done,
    back,
    log_entry,
    unkept,
    listed,
    summed,
    counts,
    beat,
    link_ask,
    link_answer,
    link_published,
    link_failed,
    name_pair,
    deferred,
    failed,
    end,
    bye,
    list_ask,
    list,
};
inline constexpr TeamKind last_team_kind = TeamKind::list;

/// Each kind uses some of the fields; the rest is empty.
struct TeamMessage {
    TeamKind kind = TeamKind::beat;
    std::uint64_t process = 0;  // receiver; on arrival the sender
    std::uint64_t number = 0;   // number of a work item, counted by its sender
    std::uint64_t flags = 0;
    sys::EntryId id, other_id;
    std::string path, text;
    std::vector<std::uint64_t> numbers;
    std::vector<std::string> texts;
    bool operator==(const TeamMessage&) const = default;
};

/// The longest messages: a batch of names, or the paths of some hundred entries, up to 2.5 MB each.
inline constexpr std::uint64_t team_message_bytes_max = 1u << 30;

std::vector<std::byte> encode(const TeamMessage& message);
/// Returns `corrupt` for invalid bytes.
Result<TeamMessage> decode_team_message(std::span<const std::byte> bytes);

/// Appends a message to a stream of bytes: a mark, its length, its checksum.
void append_frame(std::vector<std::byte>& stream, const TeamMessage& message);

/// Reads messages from a stream that comes in pieces of any size.
class TeamStream {
public:
    void add(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    /// Returns true and sets `message`, or false until the next message is complete. Other bytes may come before the
    /// first message, such as the greeting of a login. Returns `corrupt` for invalid bytes, `unsupported` for another
    /// version.
    Result<bool> next(TeamMessage& message);
    /// The text before the first message, for the user.
    const std::string& words() const { return words_; }

private:
    std::vector<std::byte> bytes_;
    std::size_t at_ = 0;
    bool has_begun_ = false;
    std::string words_;
};

}  // namespace forebay::tree
