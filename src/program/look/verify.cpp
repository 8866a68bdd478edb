// forebay verify: reads everything back and compares each segment with its checksum.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "path/catalog/history.hpp"
#include "program/look/files.hpp"
#include "program/place.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct VerifyArguments {
    std::string place;
    bool json = false;
};

// More lines do not help a person. --json has all.
constexpr std::size_t damage_lines_max = 20;
// Tries for the last snapshot if it is removed while it is read. After that the run keeps none long enough.
constexpr int turns_max = 4;
constexpr const char* of_another_run = "of another run";

Json json_of_damage(const catalog::Damage& damage) {
    auto object = Json::object();
    object.set("file", damage.file);
    if (!damage.variable.empty()) object.set("variable", damage.variable).set("rank", damage.rank);
    return object.set("first_byte", damage.first_byte).set("last_byte", damage.last_byte).set("text", damage.text);
}

/// One snapshot to read. `state` is a word of `forebay ls`, or "" for a snapshot that a restart may use.
struct VerifyItem {
    catalog::Version version;
    std::string state = {};

    std::string name() const {
        const auto& snapshot = version.snapshot;
        return fmt::format("{}@{}{}{}", snapshot.stream, snapshot.step, state.empty() ? "" : ", ", state);
    }
    Json json() const {
        auto object = json_of(version.snapshot);
        if (!state.empty()) object.set("state", state == of_another_run ? "foreign" : state);
        return object;
    }
};

// With other errors the snapshot is damaged, or of a newer version.
bool cannot_be_read(ErrorKind kind) { return kind != ErrorKind::corrupt && kind != ErrorKind::unsupported; }

// Prints during the work, because a run may take hours. JSON comes at the end.
class VerifyReport {
public:
    explicit VerifyReport(bool json) : json_(json) {}

    void add(const VerifyItem& item, const Result<catalog::Verified>& outcome) {
        auto object = item.json();
        if (!outcome) {
            const auto kind = outcome.error().kind;
            worst_ = std::max(worst_, kind == ErrorKind::refused ? Exit::trouble : exit_of(kind));
            array_.push(object.set("whole", false).set("error", json_of(outcome.error())));
            print(lines("{}  {}: {}\n", item.name(), cannot_be_read(kind) ? "CANNOT BE READ" : "cannot be checked",
                        Message{outcome.error().line()}));
            return;
        }
        auto damage = Json::array();
        for (const auto& part : outcome->damage) damage.push(json_of_damage(part));
        object.set("whole", outcome->damage.empty()).set("bytes", outcome->bytes).set("segments", outcome->segments);
        if (outcome->healed > 0) object.set("healed", outcome->healed);
        if (!outcome->marks.empty()) object.set("marks", json_of(outcome->marks));
        array_.push(object.set("damage", damage));
        if (outcome->damage.empty())
            print(lines("{}  whole: {} in {}\n", item.name(), show_bytes(outcome->bytes),
                        show_count(outcome->segments, "segment")));
        for (const auto& mark : outcome->marks) print(lines("  marked: {}\n", Message{format::words_of(mark)}));
        if (outcome->healed > 0)
            print(lines("  {} {} wrong only in this host's cache, and {} dropped there. Storage has the saved data.\n",
                        outcome->healed, outcome->healed == 1 ? "stretch was" : "stretches were",
                        outcome->healed == 1 ? "is" : "are"));
        if (outcome->damage.empty()) return;
        worst_ = std::max(worst_, Exit::found);
        print(lines("{}  DAMAGED in {}:\n", item.name(), show_count(outcome->damage.size(), "place")));
        for (std::size_t i = 0; i < std::min(outcome->damage.size(), damage_lines_max); ++i)
            print(lines("  {}\n", Message{outcome->damage[i].text}));
        if (outcome->damage.size() > damage_lines_max)
            print(lines("  ... and {} more: --json lists all.\n", outcome->damage.size() - damage_lines_max));
    }

    void add_removed(const VerifyItem& item) {
        array_.push(item.json().set("removed", true));
        print(lines("{}  was removed during the check\n", item.name()));
    }

    Exit finish() const {
        if (json_) array_.print();
        return worst_;
    }

private:
    void print(const Shown& text) const {
        if (!json_) say(text);
    }

    bool json_;
    Json array_ = Json::array();
    Exit worst_ = Exit::good;
};

Result<std::vector<VerifyItem>> chosen(sys::Store& store, const Place& place) {
    if (place.names_snapshot()) {
        FB_TRY_ASSIGN(snapshot, one_snapshot(store, place));
        return std::vector{VerifyItem{.version = {.snapshot = snapshot}}};
    }
    std::vector<VerifyItem> all;
    const auto add = [&](std::vector<catalog::Version>& versions, const char* state) {
        for (auto& version : versions) all.push_back({std::move(version), state});
    };
    for (const auto& stream : place.streams) {
        FB_TRY_ASSIGN(history, catalog::history(store, place.run, stream));
        add(history.living, "");
        add(history.abandoned, "abandoned");
        add(history.foreign, of_another_run);
    }
    if (all.empty())
        return Error{ErrorKind::missing, fmt::format("{} has no committed snapshot to verify", place.run), "",
                     fmt::format("forebay ls {}", place.run)};
    return all;
}

// True if it was removed since it was listed. Its report then says only that.
Result<bool> check_one(sys::Store& store, const VerifyItem& item, bool json, VerifyReport& report) {
    const auto& [snapshot, head, set_aside, readable] = item.version;
    const auto outcome = [&]() -> Result<catalog::Verified> {
        // A copy of another directory's save is misplaced, although all its bytes are right.
        if (!readable && readable.error().kind == ErrorKind::corrupt) return readable.error();
        Progress progress(fmt::format("{}@{}", snapshot.stream, snapshot.step), json);
        return catalog::verify(store, snapshot,
                               [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    }();
    const bool misses = outcome ? !outcome->damage.empty() : outcome.error().kind == ErrorKind::missing;
    if (misses) {
        FB_TRY_ASSIGN(removed, catalog::is_removed(store, snapshot.directory, outcome ? outcome->snapshot_id : 0));
        if (removed) {
            report.add_removed(item);
            return true;
        }
    }
    report.add(item, outcome);
    return false;
}

Result<Exit> check(const VerifyArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(kind, kind_of_file(store, options.place));
    if (kind) return verify_file(store, *kind, {.path = options.place, .json = options.json});
    FB_TRY_ASSIGN(place, find_place(store, options.place));
    VerifyReport report(options.json);
    for (int turn = 0;; ++turn) {
        FB_TRY_ASSIGN(items, chosen(store, place));
        bool any_removed = false;
        for (const auto& item : items) {
            FB_TRY_ASSIGN(removed, check_one(store, item, options.json, report));
            any_removed |= removed;
        }
        // Another snapshot is the last now.
        if (!place.last || !any_removed || turn == turns_max) return report.finish();
    }
}

}  // namespace

void add_verify(CommandLine& line) {
    const auto options = std::make_shared<VerifyArguments>();
    auto verb = line.verb("verify", "Read snapshots completely, and compare every byte with the data that were saved");
    verb.argument(
        "RUN", options->place,
        "RUN or RUN/STREAM for all snapshots, RUN@STEP for one. STEP may be \"last\". Or a GenericIO or HDF5 file");
    verb.json(options->json,
              "  An array with an object for each snapshot: stream, step, directory, whole, bytes, segments, damage: "
              "an array of\n  file, variable and rank (absent for a whole file), first_byte, last_byte, text; or "
              "error: kind, what, safe,\n  next, text; marks (as in ls) if there are any; state: abandoned or foreign "
              "(as in ls), if a restart ignores\n  the snapshot; healed (stretches that were wrong only in this host's "
              "cache) if it is not 0; removed: true,\n  instead of all that, for a snapshot that retention removed "
              "during the check.\n  For a GenericIO file: file, format, whole, bytes, blocks, damage: file, variable, "
              "rank, block, first_byte,\n  last_byte, text. For an HDF5 file: file, format, said, steps, bytes, whole, "
              "bytes_read, problems (texts),\n  missing_filters.\n");
    verb.examples(
        "  forebay verify /scratch/me/run7@last\n  forebay verify /scratch/me/run7/restart@120 --json\n  forebay "
        "verify m000.full.mpicosmo.499\nExit code 1 if something is damaged, 3 to 6 if something cannot be read now or "
        "cannot be checked. 6: HDF5 lacks a\nfilter.\n");
    verb.action([options] { return check(*options); });
}

}  // namespace forebay::cli
