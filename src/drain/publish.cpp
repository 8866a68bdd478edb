#include "drain/publish.hpp"

#include <fmt/format.h>

#include <optional>
#include <tuple>

#include "catalog/names.hpp"
#include "catalog/views.hpp"

namespace forebay::drain {

namespace {

// How often a save tries to get its step's name while others take it: each of them is another save of that step, or
// recover, and there are never many.
constexpr int publish_attempts_max = 8;

bool is_later(const Save& a, const Save& b) {
    return std::tie(a.sealed_unix_ns, a.snapshot_id) > std::tie(b.sealed_unix_ns, b.snapshot_id);
}

// What has a name; nothing when it is free. An unreadable manifest is nobody's save, earlier than all. Existence is
// asked first: a directory that gets its name after the question would else count as one without a manifest.
Result<std::optional<Save>> standing(sys::Store& store, const std::string& directory) {
    FB_TRY_ASSIGN(exists, store.exists(directory));
    if (!exists) return std::optional<Save>{};
    const auto save = save_in(store, directory);
    if (save) return std::optional(*save);
    if (save.error().kind != ErrorKind::missing && save.error().kind != ErrorKind::corrupt) return save.error();
    return std::optional(Save{});
}

// Whoever renamed it may have lost power before the sync.
Result<> make_names_durable(sys::Store& store, const Place& place) {
    FB_TRY(store.sync_directory(place.stream_directory()));
    return store.sync_directory(place.run);
}

class Publisher {
public:
    Publisher(sys::Store& store, const Place& place, const std::string& directory, const Save& save)
        : store_(store), place_(place), final_(place.final_directory()), directory_(directory), save_(save) {}

    Result<Commit> attempt_once();
    /// Paths of what stood under names of views of a save that is replaced, and was none.
    const std::vector<std::string>& others() const { return others_; }

private:
    Result<bool> is_whole() const;
    Result<> remove_view(bool replaces);
    Result<> free_aside(const Save& earlier, const std::string& aside) const;
    Result<> move_aside(const Save& earlier, const std::string& aside) const;
    Error put_back(const std::string& aside, Error why) const;
    Result<Commit> replace(const Save& earlier) const;

    sys::Store& store_;
    const Place& place_;
    const std::string final_;
    const std::string& directory_;
    const Save save_;
    std::vector<std::string> others_;
};

Result<bool> Publisher::is_whole() const {
    const auto manifest = catalog::load_manifest(store_, final_);
    const auto checked = manifest ? catalog::check_whole(store_, final_, *manifest) : Result<>(manifest.error());
    if (checked) return true;
    if (checked.error().kind == ErrorKind::retry) return checked.error();
    return false;
}

// A view of what stood here before would show the new snapshot's bytes under the old one's layout. Whoever was killed
// over it may have removed it without a sync: when something is replaced, its absence too is made durable first. A
// series shows nothing of a step that is new.
Result<> Publisher::remove_view(bool replaces) {
    const auto which = replaces ? catalog::ViewsOf::step_and_series : catalog::ViewsOf::step;
    FB_TRY_ASSIGN(found, catalog::remove_views(store_, place_.stream_directory(), place_.step, which));
    if (replaces) others_ = std::move(found.others);
    return !found.views.empty() || replaces ? store_.sync_directory(place_.stream_directory()) : Result<>{};
}

// A replacement that was killed left this very save aside, and then it was drained and committed again from memory.
Result<> Publisher::free_aside(const Save& earlier, const std::string& aside) const {
    FB_TRY_ASSIGN(exists, store_.exists(aside));
    if (!exists) return {};
    FB_TRY_ASSIGN(committed, find_committed(store_, place_, earlier.snapshot_id));
    FB_TRY_ASSIGN(whole, committed ? is_whole() : Result<bool>(false));
    if (whole) return catalog::discard(store_, aside, place_.step, earlier.snapshot_id);
    return Error{ErrorKind::refused, fmt::format("{} is in the way of committing another save of step {}.\n"
                                                 "  Next: forebay recover {}",
                                                 aside, place_.step, place_.run)};
}

// Between our look and our rename another agent may have put a later save there: it is not ours to replace unseen.
Result<> Publisher::move_aside(const Save& earlier, const std::string& aside) const {
    FB_TRY(store_.rename(final_, aside));
    const auto moved = standing(store_, aside);
    if (!moved) return put_back(aside, moved.error());
    if (*moved && (*moved)->snapshot_id == earlier.snapshot_id) return {};
    return put_back(aside, {ErrorKind::refused,
                            fmt::format("another save of step {} is committed in {} now", place_.step, final_)});
}

// Always an error: `why`. If the place is taken by now, what was moved is treated as any save that comes late.
Error Publisher::put_back(const std::string& aside, Error why) const {
    if (store_.rename(aside, final_)) return why;
    const auto moved = save_in(store_, aside);
    if (!moved && moved.error().kind == ErrorKind::missing) return why;  // by recover, or by who replaced it
    const auto settled = moved ? publish(store_, place_, aside, *moved) : Result<Commit>(moved.error());
    if (!settled)
        why.text += fmt::format(
            "\n  Safe: the committed save of step {} that was to be replaced, in {}.\n"
            "  Next: forebay recover {}",
            place_.step, aside, place_.run);
    return why;
}

Result<Commit> Publisher::attempt_once() {
    FB_TRY_ASSIGN(here, standing(store_, final_));
    if (here && here->snapshot_id == save_.snapshot_id) {
        FB_TRY(make_names_durable(store_, place_));
        return Commit::already;
    }
    FB_TRY_ASSIGN(late, here && is_later(*here, save_) ? is_whole() : Result<bool>(false));
    if (late) {
        FB_TRY(make_names_durable(store_, place_));
        FB_TRY(catalog::discard(store_, directory_, place_.step, save_.snapshot_id));
        return Commit::superseded;
    }
    FB_TRY(remove_view(here.has_value()));
    if (here) return replace(*here);
    FB_TRY(store_.rename(directory_, final_));
    FB_TRY(make_names_durable(store_, place_));
    return Commit::committed;
}

Result<Commit> Publisher::replace(const Save& earlier) const {
    const auto aside = place_.stream_directory() + "/" +
                       catalog::leftover_name({place_.step, earlier.snapshot_id, catalog::Leftover::Kind::old});
    FB_TRY(free_aside(earlier, aside));
    FB_TRY(move_aside(earlier, aside));
    if (const auto renamed = store_.rename(directory_, final_); !renamed) return put_back(aside, renamed.error());
    FB_TRY(make_names_durable(store_, place_));
    if (const auto removed = catalog::discard(store_, aside, place_.step, earlier.snapshot_id); !removed)
        return Error{removed.error().kind,
                     fmt::format("step {} is committed in {}, but the save that it replaces could not be removed: {}\n"
                                 "  Next: forebay recover {}",
                                 place_.step, final_, removed.error().text, place_.run)};
    return Commit::committed;
}

}  // namespace

Result<Save> save_in(sys::Store& store, const std::string& directory) {
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, directory));
    return Save{manifest.snapshot_id, manifest.sealed_unix_ns};
}

Result<bool> find_committed(sys::Store& store, const Place& place, std::uint64_t snapshot_id) {
    FB_TRY_ASSIGN(here, standing(store, place.final_directory()));
    if (!here || here->snapshot_id != snapshot_id) return false;
    FB_TRY(make_names_durable(store, place));
    return true;
}

Result<Commit> publish(sys::Store& store, const Place& place, const std::string& directory, const Save& save,
                       std::vector<std::string>* others) {
    Publisher publisher(store, place, directory, save);
    for (int attempt = 1;; ++attempt) {
        auto outcome = publisher.attempt_once();
        if (others != nullptr) *others = publisher.others();
        if (outcome) return outcome;
        // Gone or taken: others were faster. What they made of it is seen by looking again.
        const auto kind = outcome.error().kind;
        const bool overtaken = kind == ErrorKind::missing || kind == ErrorKind::refused;
        if (!overtaken || attempt == publish_attempts_max) return outcome;
    }
}

}  // namespace forebay::drain
