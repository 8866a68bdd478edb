#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "catalog/names.hpp"
#include "drain/commit.hpp"
#include "drain/gather.hpp"

namespace forebay::drain {

namespace {

using catalog::Leftover;
using Outcome = Recovered::Outcome;

class Recovery {
public:
    Recovery(sys::Store& store, const std::string& run, const std::string& stream, bool remove_incomplete)
        : store_(store), run_(run), stream_(stream), remove_incomplete_(remove_incomplete) {}

    /// Nothing when somebody else has finished it since it was listed.
    Result<std::optional<Recovered>> finish(const Leftover& leftover) {
        auto done = leftover.kind == Leftover::Kind::part  ? part(leftover)
                    : leftover.kind == Leftover::Kind::old ? old(leftover)
                                                           : gone(leftover);
        if (done) return std::optional(*done);
        FB_TRY_ASSIGN(exists, store_.exists(leftover.directory));
        if (!exists) return std::optional<Recovered>{};
        return std::optional(Recovered{leftover, Outcome::incomplete, done.error().text});
    }

private:
    Result<Recovered> part(const Leftover& leftover);
    Result<Recovered> old(const Leftover& leftover);
    Result<Recovered> gone(const Leftover& leftover);
    Result<Recovered> incomplete(const Leftover& leftover, const std::string& why);

    std::string final_of(const Leftover& leftover) const {
        return run_ + "/" + stream_ + "/" + catalog::step_name(leftover.step);
    }
    // The manifest of the committed snapshot of that step, if it is whole.
    Result<format::Manifest> whole(const Leftover& leftover) const {
        FB_TRY_ASSIGN(manifest, catalog::load_manifest(store_, final_of(leftover)));
        FB_TRY(catalog::check_whole(store_, final_of(leftover), manifest));
        return manifest;
    }
    Result<> remove(const std::string& directory) {
        FB_TRY(store_.remove_tree(directory));
        return store_.sync_directory(run_ + "/" + stream_);
    }

    sys::Store& store_;
    std::string run_, stream_;
    bool remove_incomplete_;
};

Result<Recovered> Recovery::incomplete(const Leftover& leftover, const std::string& why) {
    if (!remove_incomplete_)
        return Recovered{leftover, Outcome::incomplete,
                         fmt::format("step {}: {}; left in {}.", leftover.step, why, leftover.directory)};
    FB_TRY(remove(leftover.directory));
    return Recovered{leftover, Outcome::removed, fmt::format("step {}: {}; removed.", leftover.step, why)};
}

Result<Recovered> Recovery::part(const Leftover& leftover) {
    const auto standing = whole(leftover);
    if (!standing && standing.error().kind == ErrorKind::retry) return standing.error();
    if (standing && standing->snapshot_id == leftover.snapshot_id) {
        FB_TRY(remove(leftover.directory));
        return Recovered{leftover, Outcome::removed,
                         fmt::format("step {} is committed; a second copy of it was removed.", leftover.step)};
    }
    const auto arrived = look_at_part(store_, leftover.directory);
    if (!arrived && arrived.error().kind == ErrorKind::retry) return arrived.error();
    if (!arrived) return incomplete(leftover, arrived.error().text);
    if (!arrived->nodes) return incomplete(leftover, "no node file has arrived");
    const auto nodes = *arrived->nodes;
    FB_TRY_ASSIGN(absent, absent_node(store_, leftover.directory, nodes));
    if (absent)
        return incomplete(leftover, fmt::format("{} of {} node files have arrived, that of node {} has not",
                                                arrived->files, nodes, *absent));
    if (standing) {
        FB_TRY_ASSIGN(manifest, gather(store_, leftover.directory, {leftover.snapshot_id, leftover.step, nodes}));
        if (manifest.sealed_unix_ns <= standing->sealed_unix_ns) {
            FB_TRY(remove(leftover.directory));
            return Recovered{leftover, Outcome::removed,
                             fmt::format("step {}: a later save of it is committed; the earlier one, which never was, "
                                         "was removed.",
                                         leftover.step)};
        }
    }
    FB_TRY_ASSIGN(outcome, commit_if_complete(store_, run_, stream_, leftover.step, leftover.snapshot_id, nodes));
    if (outcome == Commit::waiting) return incomplete(leftover, "its node files are being moved by somebody else");
    return Recovered{
        leftover, Outcome::committed,
        fmt::format("step {} was complete and is now committed in {}.", leftover.step, final_of(leftover))};
}

Result<Recovered> Recovery::old(const Leftover& leftover) {
    const auto final_directory = final_of(leftover);
    FB_TRY_ASSIGN(replaced, store_.exists(final_directory));
    if (!replaced) {
        FB_TRY(store_.rename(leftover.directory, final_directory));
        FB_TRY(store_.sync_directory(run_ + "/" + stream_));
        return Recovered{leftover, Outcome::restored,
                         fmt::format("step {} was being replaced when its replacement was cut; it is back in {}.",
                                     leftover.step, final_directory)};
    }
    const auto standing = whole(leftover);
    if (!standing && standing.error().kind == ErrorKind::retry) return standing.error();
    if (!standing)
        return Recovered{
            leftover, Outcome::incomplete,
            fmt::format("step {}: what replaced it is damaged ({})\n  Safe: the earlier save, in {}.\n"
                        "  Next: forebay verify {}/{}@{}, then remove one of both.",
                        leftover.step, standing.error().text, leftover.directory, run_, stream_, leftover.step)};
    FB_TRY(remove(leftover.directory));
    return Recovered{leftover, Outcome::removed,
                     fmt::format("step {}: the save that was replaced was removed.", leftover.step)};
}

Result<Recovered> Recovery::gone(const Leftover& leftover) {
    FB_TRY(remove(leftover.directory));
    return Recovered{leftover, Outcome::removed, fmt::format("step {}: its removal was finished.", leftover.step)};
}

}  // namespace

Result<std::vector<Recovered>> recover(sys::Store& store, const std::string& run, bool remove_incomplete) {
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    std::vector<Recovered> all;
    for (const auto& stream : streams) {
        FB_TRY_ASSIGN(leftovers, catalog::leftovers(store, run, stream));
        // Parts first: a complete one takes the place that an old save would otherwise get back.
        std::ranges::stable_sort(leftovers, {}, [](const Leftover& leftover) { return leftover.kind; });
        Recovery recovery(store, run, stream, remove_incomplete);
        for (const auto& leftover : leftovers) {
            FB_TRY_ASSIGN(done, recovery.finish(leftover));
            if (done) all.push_back(*done);
        }
    }
    return all;
}

}  // namespace forebay::drain
