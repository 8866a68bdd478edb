// What processes that share the work on a tree say to each other, as bytes. All of them are of one version, and
// all messages go to or come from the first process; what one member has for another goes through it.
//
//   member                       first process
//   hello(version, host)     ->
//                            <-  order(what is to be done, and with which trees)
//   list_ask(from where)     ->                      where the order has a list of paths
//                            <-  list(paths; none: the end)
//   ready, or refused(why)   ->
//   ask                      ->                      it has nothing to do
//                            <-  want(for whom)      to one that may have much
//   gift, gift, gave(number) ->
//                            <-  gift(from whom)     to the one that has asked
//   done(whose gift)         ->
//                            <-  done                to the giver; back where the one that had it was lost
//   remark, unkept, listed, summed, counts, link_ask, ..., beat  ->
//                            <-  end
//   failed(why), bye         ->
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

/// Every kind uses some of the fields; the others are empty.
struct TeamMessage {
    TeamKind kind = TeamKind::beat;
    std::uint64_t process = 0;  // whom it is for, and when it arrives, whom it is from
    std::uint64_t number = 0;   // of a gift, among those of its giver
    std::uint64_t flags = 0;
    sys::EntryId id, other_id;
    std::string path, text;
    std::vector<std::uint64_t> numbers;
    std::vector<std::string> texts;
    bool operator==(const TeamMessage&) const = default;
};

/// Names of a part of a folder, or paths of some hundred entries, are the longest: of each up to 2.5 MB.
inline constexpr std::uint64_t team_message_bytes_max = 1u << 30;

std::vector<std::byte> encode(const TeamMessage& message);
/// `corrupt` for bytes that are no message.
Result<TeamMessage> decode_team_message(std::span<const std::byte> bytes);

/// A message in a stream of bytes: a mark, its length, its checksum.
void append_frame(std::vector<std::byte>& stream, const TeamMessage& message);

/// Takes messages from a stream as it comes, in any pieces.
class TeamStream {
public:
    void add(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    /// The next message, nothing where it has not come whole. Before the first one other bytes may stand, which logins
    /// print; `corrupt` where bytes are no message, `unsupported` where they are those of another version.
    Result<bool> next(TeamMessage& message);
    /// What stood before the first message: for people.
    const std::string& words() const { return words_; }

private:
    std::vector<std::byte> bytes_;
    std::size_t at_ = 0;
    bool has_begun_ = false;
    std::string words_;
};

}  // namespace forebay::tree
