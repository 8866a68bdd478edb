// What a mover has to say of single entries: none is passed over in silence. Any thread may add one.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::tree {

enum class EntryEvent : std::uint8_t {
    vanished,           // it was listed, and was gone when it was to be read
    changed,            // the source changed each time that it was copied: what it is now is not at the target
    failed,             // an error; it is not at the target, or not removed
    not_kept,           // the target cannot hold it, or a part of it
    saved_in_manifest,  // the same, and the manifest has it
    skipped,            // by wish or for its safety: another file system, a loop of mounts
    released,           // an archive alone has its bytes (HSM), and they were not to be recalled
    as_files,           // a run of Forebay, taken like any files: in any order, with what is not committed
    flags_not_copied,   // it is immutable or append-only, and its copy is not
    adjusted,           // its bytes were equal, and its attributes are now
    differs,            // of a comparison
    missing_in_target,  // of a comparison
    extra_in_target,    // of a comparison
    would_copy,         // of a dry run
    would_adjust,       // of a dry run: its attributes alone
    would_remove,       // of a dry run
    // What was done as it should, for a report alone: see Remarks::records().
    removed,
    replaced,
    copied,
    linked,
    count,
};

/// "vanished", "not kept", ...
const char* name_of(EntryEvent kind);

/// What `why` begins with where an owner cannot be given: of as many entries as somebody else has.
inline constexpr std::string_view owner_not_kept = "the target cannot keep owner ";

/// What `why` begins with where it is the target that could not be read or changed.
inline constexpr std::string_view at_target = "at the target";

/// That of an error of which the target alone was asked for something.
Error of_target(const Error& error);

/// Of a reason: a server failed each time that it was asked, or is not asked any more.
bool is_given_up(std::string_view why);

/// Of an entry that was not read: `vanished`, `changed` or `failed`.
bool is_error(EntryEvent kind);

/// Of what was done: it counts among no remarks, and has no words.
constexpr bool is_record(EntryEvent kind) { return kind >= EntryEvent::removed; }
/// Of what was done: something is no more.
constexpr bool is_loss(EntryEvent kind) { return kind == EntryEvent::removed || kind == EntryEvent::replaced; }
/// How much of what was done a report is to have.
enum class Recorded : std::uint8_t { nothing, losses, all };  // losses: what is no more: removed, replaced

struct LogEntry {
    EntryEvent kind = EntryEvent::failed;
    std::string path;  // below the tree's root
    std::string why;
};

/// Why the same befell several entries, with the first of them; `why` has "*" for their names.
struct Cause {
    EntryEvent kind = EntryEvent::failed;
    std::string why;
    std::uint64_t count = 0;
    std::vector<std::string> paths;
};
/// What all remarks of one cause have alike; empty of those of which each counts for itself, as of comparisons.
std::string cause_of(const LogEntry& log_entry);

class EntryLog {
public:
    using Taker = std::function<Result<>(const LogEntry&)>;

    /// `take` gets each remark, one at a time: a file that may become long. None where it is empty. After an error of
    /// it nothing is removed any more: what goes is to be told.
    explicit EntryLog(Taker take = {}, Recorded recorded = Recorded::nothing)
        : take_(std::move(take)), recorded_(recorded) {}

    Recorded recorded() const { return recorded_; }
    /// Whether a record of this kind is wished: to be asked before its path is put together.
    bool records(EntryEvent kind) const {
        return recorded_ == Recorded::all || (recorded_ == Recorded::losses && is_loss(kind));
    }
    void add(EntryEvent kind, std::string path, std::string why);
    /// Of an entry that could not be moved: one that is gone has `vanished`.
    void add_error(std::string path, const Error& error);

    std::uint64_t count_of(EntryEvent kind) const;
    /// Of how many entries the target cannot keep the owner.
    std::uint64_t owners() const;
    /// How many entries were not read.
    std::uint64_t errors() const;
    /// Of these, at how many it was the target.
    std::uint64_t errors_at_target() const;
    /// Of these, how many since a server was given up.
    std::uint64_t given_up() const;
    /// Whether there are any, so that nothing may be removed because of its absence.
    bool has_errors() const;
    /// Whether there is none of another kind.
    bool are_all(std::initializer_list<EntryEvent> kinds) const;
    /// The first of all, for people; owners that are not kept have half of them at most, runs a few.
    std::vector<LogEntry> first() const;
    /// Of the first causes, each with all its entries.
    std::vector<Cause> causes() const;
    /// What became of the taker.
    Result<> taken() const;

private:
    void count_cause(const LogEntry& log_entry);

    Taker take_;
    const Recorded recorded_;
    mutable std::mutex mutex_;
    std::array<std::uint64_t, static_cast<std::size_t>(EntryEvent::count)> counts_{};
    std::uint64_t owners_ = 0, given_up_ = 0, at_target_ = 0;
    std::vector<LogEntry> first_;
    std::vector<Cause> causes_;
    Result<> taken_;
};

}  // namespace forebay::tree
