// Collects events of single entries: nothing is skipped silently. Threads: any.

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
    vanished,           // listed, but gone when it was read
    changed,            // changed during each try; the target has no current copy
    failed,             // an error; not copied, or not removed
    not_kept,           // the target cannot store it or a part of it
    saved_in_manifest,  // the same, and the manifest has it
    skipped,            // by request or for safety: another file system, a loop of mounts
    released,           // its bytes are only in an archive (HSM), and recall was not requested
    as_files,           // a run of Forebay, copied as plain files: in any order, with uncommitted files
    flags_not_copied,   // immutable or append-only, and its copy is not
    adjusted,           // bytes were equal; attributes are equal now
    differs,            // of a comparison
    missing_in_target,  // of a comparison
    extra_in_target,    // of a comparison
    would_copy,         // of a dry run
    would_adjust,       // of a dry run: only its attributes
    would_remove,       // of a dry run
    // Normal actions, only for a report: see EntryLog::records().
    removed,
    replaced,
    copied,
    linked,
    count,
};

/// "vanished", "not_kept", ...
const char* name_of(EntryEvent kind);

/// Begin of `why` if the owner cannot be set. It applies to every entry of another user.
inline constexpr std::string_view owner_not_kept = "the target cannot keep owner ";

/// Begin of `why` if the target could not be read or changed.
inline constexpr std::string_view at_target = "at the target";

/// The error with `at_target`, for a call that only the target got.
Error of_target(const Error& error);

/// True for the error of a server that failed at each try, or is no longer asked.
bool is_given_up(std::string_view why);

/// True if the entry was not copied: `vanished`, `changed` or `failed`.
bool is_error(EntryEvent kind);

/// True for a normal action. It is not counted and has no `why`.
constexpr bool is_record(EntryEvent kind) { return kind >= EntryEvent::removed; }
/// True for an action that destroyed something.
constexpr bool is_loss(EntryEvent kind) { return kind == EntryEvent::removed || kind == EntryEvent::replaced; }
/// Actions to put into a report.
enum class Recorded : std::uint8_t { nothing, losses, all };  // losses: removed and replaced entries

struct LogEntry {
    EntryEvent kind = EntryEvent::failed;
    std::string path;  // below the root
    std::string why;
};

/// A reason shared by several entries, with the first of them. `why` has "*" for their names.
struct Cause {
    EntryEvent kind = EntryEvent::failed;
    std::string why;
    std::uint64_t count = 0;
    std::vector<std::string> paths;
};
/// The shared reason of an entry. Empty for events that count one by one, such as results of a comparison.
std::string cause_of(const LogEntry& log_entry);

class EntryLog {
public:
    using Taker = std::function<Result<>(const LogEntry&)>;

    /// `take` gets each event, one at a time, such as a line for a long file. It may be empty. After an error of `take`
    /// nothing is removed any more: each removal must be reported.
    explicit EntryLog(Taker take = {}, Recorded recorded = Recorded::nothing)
        : take_(std::move(take)), recorded_(recorded) {}

    Recorded recorded() const { return recorded_; }
    /// True if this kind of action is recorded. Ask before you build the path.
    bool records(EntryEvent kind) const {
        return recorded_ == Recorded::all || (recorded_ == Recorded::losses && is_loss(kind));
    }
    void add(EntryEvent kind, std::string path, std::string why);
    /// For an entry that failed: `vanished` if the error is `missing`, else `failed`.
    void add_error(std::string path, const Error& error);

    std::uint64_t count_of(EntryEvent kind) const;
    /// Number of entries with an owner that the target cannot set.
    std::uint64_t owners() const;
    /// Number of failed entries.
    std::uint64_t errors() const;
    /// Failed entries with an error at the target.
    std::uint64_t errors_at_target() const;
    /// Failed entries since a server was given up.
    std::uint64_t given_up() const;
    /// True if there are errors. Then an entry missing in the source must not be removed.
    bool has_errors() const;
    /// True if there are no other events.
    bool are_all(std::initializer_list<EntryEvent> kinds) const;
    /// The first events, for the user. At most half of them are owners that could not be set, a few are runs.
    std::vector<LogEntry> first() const;
    /// The first causes, each with the count of all its entries.
    std::vector<Cause> causes() const;
    /// The error of `take`, if any.
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
