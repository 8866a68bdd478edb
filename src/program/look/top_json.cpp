#include "program/look/top_json.hpp"

namespace forebay::cli {

const char* const top_json_keys =
    "  An object: run, session, state (running, draining: the application has ended and agents work; lingering; "
    "ended:\n  with everything committed; left with work; silent: no agent reported for three periods; unknown),\n  "
    "nodes (of the session), nodes_told, newest_status_unix_ns, job_ends_unix_ns (0: unknown), durable (stream, "
    "step,\n  unix_ns), newest (stream, step: the newest committed steps of the run, of earlier sessions too),\n  "
    "saved_bytes_per_second, drained_bytes_per_second, backlog_bytes, failures, slack (median, worst),\n  sessions "
    "(source of the figures of snapshots), blocked_parts (copy_seconds, layout_seconds, ranks_seconds,\n  "
    "slot_seconds: of all saves), hidden_ratio, visible_ratio, slowdown (percent, low_percent, high_percent, steps),\n "
    " blocked_seconds (of the last saves), streams (name, newest_durable_step, deadlines_missed, not_analysed, "
    "slots:\n  step, bytes, drained_bytes, and states with the number of nodes in each), nodes_shown (name, state, "
    "step,\n  slot_state, progress, bytes_per_second, drain_bytes_per_second, ratio: to the median of nodes, "
    "backlog_bytes,\n  failures, unix_ns), slow_nodes and slow_targets (name, ratio, z, samples), errors and why "
    "(unix_ns, node, text),\n  problems.\n";

namespace {

Json json_of_sentences(const std::vector<TopSentence>& sentences) {
    auto array = Json::array();
    for (const auto& sentence : sentences)
        array.push(
            Json::object().set("unix_ns", sentence.unix_ns).set("node", sentence.node).set("text", sentence.text));
    return array;
}

Json json_of_slow(const std::vector<telemetry::Slow>& slow) {
    auto array = Json::array();
    for (const auto& entry : slow)
        array.push(Json::object()
                       .set("name", entry.name)
                       .set("ratio", entry.ratio)
                       .set("z", entry.z)
                       .set("samples", entry.samples));
    return array;
}

Json json_of_streams(const std::vector<TopStream>& streams) {
    auto array = Json::array();
    for (const auto& stream : streams) {
        auto steps = Json::array();
        for (const auto& slots : stream.slots) {
            auto states = Json::object();
            for (const auto& [state, nodes] : slots.states) states.set(state, nodes);
            auto step = Json::object();
            step.set("step", slots.step).set("bytes", slots.bytes).set("drained_bytes", slots.drained_bytes);
            steps.push(step.set("states", states));
        }
        auto object = Json::object();
        object.set("name", stream.name);
        describe::each_stream_count([&](const describe::Count& count, auto, auto get) {
            if (count.in_top) object.set(count.name, get(stream.counts));
        });
        array.push(object.set("slots", steps));
    }
    return array;
}

Json json_of_nodes(const std::vector<TopNode>& nodes) {
    auto array = Json::array();
    for (const auto& node : nodes) {
        auto object = Json::object();
        object.set("name", node.name).set("state", node.state).set("step", node.step);
        object.set("slot_state", node.slot_state).set("progress", node.progress);
        object.set("bytes_per_second", node.rate).set("drain_bytes_per_second", node.drain_rate);
        object.set("ratio", node.ratio).set("backlog_bytes", node.backlog_bytes).set("failures", node.failures);
        array.push(object.set("unix_ns", node.unix_ns));
    }
    return array;
}

}  // namespace

Json json_of(const TopView& view) {
    const auto& summary = view.summary;
    auto blocked = Json::array();
    for (const double seconds : view.blocked_seconds) blocked.push(seconds);
    auto problems = Json::array();
    for (const auto& problem : summary.problems) problems.push(problem);
    auto durable = Json::object();
    durable.set("stream", view.summary.newest_durable_stream)
        .set("step", view.summary.newest_durable_step)
        .set("unix_ns", view.summary.newest_durable_unix_ns);
    auto slowdown = Json::object();
    slowdown.set("percent", view.slowdown_percent).set("low_percent", summary.slowdown_low_percent);
    slowdown.set("high_percent", summary.slowdown_high_percent).set("steps", summary.slowdown_steps);
    auto object = Json::object();
    object.set("run", view.run).set("session", view.session).set("state", name_of(view.state));
    object.set("nodes", view.nodes).set("nodes_told", view.nodes_told);
    object.set("newest_status_unix_ns", view.newest_status_unix_ns).set("job_ends_unix_ns", view.job_ends_unix_ns);
    object.set("durable", durable);
    auto newest = Json::array();
    for (const auto& snapshot : view.newest)
        newest.push(Json::object().set("stream", snapshot.stream).set("step", snapshot.step));
    object.set("newest", newest);
    object.set("saved_bytes_per_second", view.rate_in).set("drained_bytes_per_second", view.rate_out);
    object.set("backlog_bytes", view.backlog_bytes).set("failures", view.failures);
    object.set("slack", Json::object().set("median", summary.slack_median).set("worst", summary.slack_worst));
    auto parts = Json::object();
    parts.set("copy_seconds", summary.parts.copy.sum).set("layout_seconds", summary.parts.layout.sum);
    parts.set("ranks_seconds", summary.parts.ranks.sum).set("slot_seconds", summary.parts.slot.sum);
    auto sessions = Json::array();
    for (const auto session : summary.sessions) sessions.push(session);
    object.set("sessions", sessions).set("blocked_parts", parts);
    object.set("hidden_ratio", summary.hidden_ratio).set("visible_ratio", summary.visible_ratio);
    object.set("slowdown", slowdown).set("blocked_seconds", blocked);
    object.set("streams", json_of_streams(view.streams)).set("nodes_shown", json_of_nodes(view.nodes_shown));
    object.set("slow_nodes", json_of_slow(summary.slow_nodes)).set("slow_targets", json_of_slow(summary.slow_targets));
    object.set("errors", json_of_sentences(view.errors)).set("why", json_of_sentences(view.why));
    return object.set("problems", problems);
}

}  // namespace forebay::cli
