#include "insight/advice/preflight/survey.hpp"

#include <fmt/format.h>

#include "core/base/units.hpp"

namespace forebay::advice {

namespace {

void hear_probe(const Talk::Reply& reply, const Survey& survey, SlowTest& walk, Unprobed& unprobed) {
    const auto subject = reply.tag;
    if (reply.late) return walk.late(subject);
    const auto give_up = [&](std::string why) {
        unprobed.emplace(subject, std::move(why));
        walk.lost(subject);
    };
    if (!reply.answer) {
        if (survey.node_is_subject) give_up(reply.why);
        else walk.again(subject);
        return;
    }
    if (reply.answer->hangs) return give_up(fmt::format("hangs: no result after {}", show_seconds(reply.seconds)));
    if (!reply.answer->failed.empty()) return give_up(reply.answer->failed);
    walk.took(subject, reply.answer->numbers);
}

}  // namespace

Unprobed survey(Talk& talk, SlowTest& walk, const Survey& survey) {
    Unprobed unprobed;
    std::optional<std::size_t> held;  // its server is free, but all nodes are busy
    std::uint64_t probes = 0;
    while (!walk.done() && !talk.over()) {
        while (talk.working() < survey.at_once) {
            // Kept until a node is free: next() has already taken its server.
            if (!held) held = walk.next();
            if (!held) break;
            const auto node = survey.node_for(*held);
            if (!node) break;
            // 64 MiB in this time is a seventh of 225 MB/s: slow, whatever is probed beside it.
            const auto late_after = survey.node_is_subject ? std::nullopt : std::optional(survey.at_most / 5);
            talk.ask(*node, survey.question(*held), survey.at_most, *held, late_after);
            held.reset();
        }
        if (talk.out() == 0) {
            if (!held) break;
            // No node is left to probe it.
            unprobed.emplace(*held, "no node can probe it");
            walk.lost(*held);
            held.reset();
            continue;
        }
        const auto reply = talk.next();
        if (!reply) break;
        hear_probe(*reply, survey, walk, unprobed);
        if (survey.progress && !reply->late) survey.progress(++probes);
    }
    return unprobed;
}

}  // namespace forebay::advice
