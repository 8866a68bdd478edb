#include "path/restart/not_taken.hpp"

#include <fmt/format.h>

#include <set>

#include "path/catalog/catalog.hpp"

namespace forebay::restart {

namespace {

// A screen of text; `forebay ls` lists all.
constexpr std::size_t listed_max = 8, advice_max = 3;

// Without its full stop, so that another clause may follow.
std::string clause(const std::string& what) { return what.ends_with('.') ? what.substr(0, what.size() - 1) : what; }

std::string repair_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::missing: return "bring the file back, or mount the disk that has it, then start again";
        case ErrorKind::refused: return "repair the permissions, then start again";
        case ErrorKind::full: return "give the job more memory or more open files (ulimit -n), then start again";
        case ErrorKind::unsupported: return "use the version that saved it, or a newer version";
        default: return "repair the storage or its mount, then start again";
    }
}

// If the advice of two snapshots differs only in the step, it is given once, for the first.
std::string without_step(std::string advice, std::int64_t step) {
    for (const char before : {'@', '='}) {
        const auto named = fmt::format("{}{}", before, step);
        for (std::size_t at = 0; (at = advice.find(named, at)) != advice.npos;) advice.erase(at + 1, named.size() - 1);
    }
    return advice;
}

}  // namespace

Error none_usable(const StreamPlace& place, const std::vector<NotTaken>& all, const std::string& among) {
    std::string list;
    std::vector<std::string> advice;
    std::set<std::string> kinds;
    std::size_t damaged = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& [step, why] = all[i];
        damaged += why.kind == ErrorKind::corrupt ? 1 : 0;
        if (i < listed_max) list += fmt::format("{}step {}: {}", i == 0 ? "" : "; ", step, clause(why.what));
        const bool is_new = !why.next.empty() && kinds.insert(without_step(why.next, step)).second;
        if (is_new && advice.size() < advice_max) advice.push_back(why.next);
    }
    if (all.size() > listed_max) list += fmt::format("; and {} more", all.size() - listed_max);
    if (damaged > 0) advice.push_back(fmt::format("forebay verify {}/{} lists the damage", place.run, place.stream));
    advice.emplace_back(begin_anew);
    const auto* const safe = damaged == 0            ? "all of them. Nothing is removed"
                             : damaged == all.size() ? "nothing is removed"
                                                     : "the snapshots that are not damaged. Nothing is removed";
    return {damaged > 0 ? ErrorKind::corrupt : ErrorKind::refused,
            fmt::format("stream '{}' of {} has {} snapshot{}{}, and none can be used: {}", place.stream, place.run,
                        all.size(), all.size() == 1 ? "" : "s", among, list),
            safe, fmt::format("{}", fmt::join(advice, "; or "))};
}

Error cannot_be_read_now(const StreamPlace& place, std::int64_t step, const Error& why,
                         const std::optional<std::int64_t>& before) {
    const auto kind = why.kind == ErrorKind::missing ? ErrorKind::retry : why.kind;
    const bool keeps_all = kind != ErrorKind::retry;
    const bool is_manifest =
        why.kind == ErrorKind::missing && why.what.find(catalog::manifest_name) != std::string::npos;
    const auto repair =
        is_manifest ? fmt::format("forebay recover {} makes the manifest again if all node files are there", place.run)
        : why.next.empty() ? std::string(repair_of(why.kind))
                           : why.next;
    const auto back = before ? fmt::format("FOREBAY_RESTART={0} goes back to step {0} on purpose, ", *before) : "";
    return {kind,
            fmt::format("step {} of stream '{}' of {} exists, but cannot be read now: {}", step, place.stream,
                        place.run, clause(why.what)),
            keeps_all ? "all snapshots. Nothing is removed"
            : before  ? "the other snapshots. Nothing is removed"
                      : "nothing is removed",
            fmt::format("{}. Or {}{}", repair, back, begin_anew)};
}

Error not_committed_now(const StreamPlace& place, std::int64_t step, Error why,
                        const std::optional<std::int64_t>& before) {
    why.next = "repair the target while these nodes keep their memory, then start again on them";
    auto error = cannot_be_read_now(place, step, why, before);
    error.safe = fmt::format("all snapshots, and step {} in memory while these nodes run. Nothing is removed", step);
    return error;
}

}  // namespace forebay::restart
