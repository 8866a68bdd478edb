#include "path/telemetry/summary_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "core/base/show_text.hpp"
#include "core/format/json_text.hpp"

namespace forebay::telemetry {

namespace {

using Tree = nlohmann::ordered_json;

// Text that JSON cannot hold is spelled out, byte by byte, as in events.
std::string text_of(const std::string& text) { return format::json::is_text(text) ? text : show_text(text); }

template <class T>
Tree known(T number) {
    if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(number)) return nullptr;
    return number > T{} ? Tree(number) : Tree(nullptr);
}

Tree tree_of(const std::vector<std::string>& texts) {
    auto tree = Tree::array();
    for (const auto& text : texts) tree.push_back(text_of(text));
    return tree;
}

Tree tree_of(const Spread& spread) {
    return {{"count", spread.count},
            {"median", spread.median},
            {"p95", spread.p95},
            {"max", spread.max},
            {"sum", spread.sum}};
}

Tree tree_of(const PartSpreads& parts) {
    return {{"copy_seconds", tree_of(parts.copy)},
            {"layout_seconds", tree_of(parts.layout)},
            {"ranks_seconds", tree_of(parts.ranks)},
            {"slot_seconds", tree_of(parts.slot)}};
}

Tree tree_of(const format::BlockedParts& parts) {
    return {{"copy_seconds", parts.copy_seconds},
            {"layout_seconds", parts.layout_seconds},
            {"ranks_seconds", parts.ranks_seconds},
            {"slot_seconds", parts.slot_seconds}};
}

Tree tree_of(const SnapshotRow& row) {
    return {{"stream", text_of(row.stream)},
            {"step", row.step},
            {"snapshot_id", row.snapshot_id},
            {"session", row.session},
            {"nodes", row.nodes},
            {"nodes_told", row.nodes_told},
            {"ranks", row.ranks},
            {"outcome", row.outcome},
            {"bytes", row.bytes},
            {"stored_bytes", row.stored_bytes},
            {"saved_unix_ns", known(row.saved_unix_ns)},
            {"drained_unix_ns", known(row.drained_unix_ns)},
            {"durable_unix_ns", known(row.durable_unix_ns)},
            {"blocked_seconds", row.blocked_seconds},
            {"blocked_parts", tree_of(row.blocked_parts)},
            {"wait_seconds", row.wait_seconds},
            {"plan_seconds", row.plan_seconds},
            {"copy_seconds", row.copy_seconds},
            {"missing_ranks", row.missing_ranks},
            {"drain_seconds", row.drain_seconds},
            {"sync_seconds", row.sync_seconds},
            {"commit_seconds", row.commit_seconds},
            {"durable_seconds", row.durable_unix_ns > 0 ? Tree(row.durable_seconds) : Tree(nullptr)},
            {"interval_seconds", known(row.interval_seconds)},
            {"slack", known(row.slack)},
            {"slowest_node", row.slowest_node.empty() ? Tree(nullptr) : Tree(text_of(row.slowest_node))},
            {"straggler_ratio", known(row.straggler_ratio)},
            {"why", tree_of(row.why)}};
}

Tree tree_of(const NodeRow& row) {
    return {{"name", text_of(row.name)},
            {"drains", row.drains},
            {"bytes", row.bytes},
            {"failures", row.failures},
            {"retries", row.retries},
            {"drain_seconds", row.drain_seconds},
            {"rate_bytes_per_second", known(row.rate)},
            {"blocked_seconds", row.blocked_seconds}};
}

Tree tree_of(const TargetRow& row) {
    return {{"name", text_of(row.name)},
            {"bytes", row.bytes},
            {"writes", row.writes},
            {"busy_seconds", row.busy_seconds},
            {"rate_bytes_per_second", known(row.rate)},
            {"last_write_seconds", row.last_write_seconds}};
}

Tree tree_of(const Slow& slow) {
    return {{"name", text_of(slow.name)}, {"ratio", slow.ratio}, {"z", slow.z}, {"samples", slow.samples}};
}

Tree tree_of(const std::string& text) { return text_of(text); }
template <class T>
requires std::is_arithmetic_v<T> Tree tree_of(T number) { return number; }

template <class T>
Tree tree_of(const std::vector<T>& rows) {
    auto tree = Tree::array();
    for (const auto& row : rows) tree.push_back(tree_of(row));
    return tree;
}

// A visitor of each_figure(): null for an unknown figure.
struct PutFigure {
    Tree& tree;

    template <class Figure>
    void operator()(const char* key, const Figure& figure) const {
        tree[key] = tree_of(figure);
    }
    template <class T>
    void operator()(const char* key, const AboveZero<T>& figure) const {
        tree[key] = known(figure.value);
    }
    template <class Inner>
    void operator()(const char* key, const KnownIf<Inner>& figure) const {
        auto& place = tree[key] = nullptr;
        if (!figure.is_known) return;
        if constexpr (std::is_arithmetic_v<Inner>) place = figure.inner;
        else figure.inner(PutFigure{place});
    }
};

}  // namespace

std::string summary_json(const Summary& summary) {
    Tree tree{{"forebay", "summary"}, {"version", 1}};
    each_figure(summary, PutFigure{tree});
    return tree.dump(2, ' ', true) + "\n";
}

}  // namespace forebay::telemetry
