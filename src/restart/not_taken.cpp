#include "restart/not_taken.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::restart {

namespace {

// A screen of text; `forebay ls` lists all.
constexpr std::size_t listed_max = 8, advice_max = 3;

// Without its full stop, so that another clause may follow.
std::string clause(const std::string& what) { return what.ends_with('.') ? what.substr(0, what.size() - 1) : what; }

}  // namespace

Error none_usable(const StreamPlace& place, const std::vector<NotTaken>& all, const std::string& among) {
    std::string list;
    std::vector<std::string> advice;
    bool damaged = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& [step, why] = all[i];
        damaged = damaged || why.kind == ErrorKind::corrupt;
        if (i < listed_max) list += fmt::format("{}step {}: {}", i == 0 ? "" : "; ", step, clause(why.what));
        if (!why.next.empty() && advice.size() < advice_max && std::ranges::find(advice, why.next) == advice.end())
            advice.push_back(why.next);
    }
    if (all.size() > listed_max) list += fmt::format("; and {} more", all.size() - listed_max);
    if (damaged) advice.push_back(fmt::format("forebay verify {}/{}", place.run, place.stream));
    advice.emplace_back(begin_anew);
    return {damaged ? ErrorKind::corrupt : ErrorKind::refused,
            fmt::format("stream '{}' of {} has {} snapshot{}{}, and none can be used: {}", place.stream, place.run,
                        all.size(), all.size() == 1 ? "" : "s", among, list),
            "all of them; nothing is removed", fmt::format("{}", fmt::join(advice, "; or "))};
}

Error cannot_be_read_now(const StreamPlace& place, std::int64_t step, const Error& why) {
    const auto kind = why.kind == ErrorKind::missing ? ErrorKind::retry : why.kind;
    const auto repair = !why.next.empty() ? why.next
                        : kind == ErrorKind::unsupported
                            ? std::string("the version that saved it, or a newer one")
                            : std::string("repair the mount or the permissions, then start again");
    return {
        kind,
        fmt::format("step {} of stream '{}' of {} is there, and cannot be read now: {}", step, place.stream, place.run,
                    clause(why.what)),
        "all snapshots; nothing is removed",
        fmt::format("{}; or {}{}", repair,
                    step > 0 ? fmt::format("FOREBAY_RESTART={} goes back on purpose, ", step - 1) : "", begin_anew)};
}

}  // namespace forebay::restart
