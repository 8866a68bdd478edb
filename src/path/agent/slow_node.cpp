#include "path/agent/slow_node.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/try.hpp"
#include "core/format/status_line.hpp"
#include "path/catalog/run.hpp"
#include "path/telemetry/chronicle.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::agent {

namespace {

constexpr double slow_ratio = 0.5;
constexpr int last_until_look = 2;
constexpr std::uint32_t nodes_judged_min = 4;
constexpr std::size_t others_max = 16, others_min = 3;

}  // namespace

std::vector<NodeDrained> drains_of_others(sys::Store& store, const NodeFileOfRun& own, std::uint32_t session) {
    std::vector<NodeDrained> drains;
    const auto directory = own.run + "/" + catalog::own_directory;
    const auto entries = store.list(directory);
    if (!entries) return drains;
    std::vector<std::string> paths;
    for (const auto& entry : *entries) {
        const auto path = directory + "/" + entry.name;
        if (entry.name.starts_with("status-") && path != own.path()) paths.push_back(path);
    }
    const auto count = std::min(paths.size(), others_max);
    for (std::size_t i = 0; i < count; ++i) {
        const auto& path = paths[i * paths.size() / count];
        const auto text = sys::read_text(store, path, format::status_bytes);
        const auto line = text ? format::decode_status(*text, path) : text.error();
        // Status lines of earlier sessions stay in the run.
        if (line && line->session == session)
            drains.push_back({telemetry::node_name(*line), line->counts.bytes_drained, line->counts.drain_seconds});
    }
    return drains;
}

void SlowNode::hear(const Event& event, std::uint32_t nodes, const NodeDrained& own) {
    if (event.what != What::committed && event.what != What::found_committed) return;
    const std::lock_guard lock(alone_);
    last_in_a_row_ = event.what == What::committed && nodes >= nodes_judged_min ? last_in_a_row_ + 1 : 0;
    if (last_in_a_row_ >= last_until_look && !plan_) judge(own);
}

void SlowNode::judge(const NodeDrained& own) {
    const auto rate_since = [](const NodeDrained& now, const NodeDrained& before) {
        const auto seconds = now.seconds - before.seconds;
        return now.bytes > before.bytes && seconds > 0 ? static_cast<double>(now.bytes - before.bytes) / seconds : 0;
    };
    std::vector<double> rates;
    const bool looked_before = !before_.empty();
    for (const auto& other : read_()) {
        auto& before = before_[other.name];
        // A node that drained nothing since the last look says nothing now.
        const auto rate = rate_since(other, before);
        if (rate <= 0) continue;
        if (!looked_before || before.seconds > 0) rates.push_back(rate);
        before = other;
    }
    const auto own_rate = rate_since(own, own_before_);
    own_before_ = own;
    if (rates.size() < others_min || own_rate <= 0) return;
    const auto ratio = own_rate / telemetry::median_of(rates);
    if (ratio >= slow_ratio) return;
    why_ = fmt::format("this node drains at {:.2f} of the usual rate", ratio);
    plan_.emplace(sys::Clock::now(), probe_after_);
}

std::string SlowNode::why() const {
    const std::lock_guard lock(alone_);
    return why_;
}

bool SlowNode::is_due(sys::Clock::time_point now) const {
    const std::lock_guard lock(alone_);
    return plan_ && plan_->is_due(now);
}

// Drains through a neighbour say nothing about its own way: it is judged anew from the next look on.
void SlowNode::probed(double ratio, sys::Clock::time_point now) {
    const std::lock_guard lock(alone_);
    if (!plan_ || !plan_->probed(ratio, now)) return;
    plan_.reset();
    why_.clear();
    last_in_a_row_ = 0;
    to_tell_ = Event{.what = What::writes_again,
                     .detail = fmt::format("its own path has {:.2f} of the rate through a neighbour", ratio)};
}

std::optional<Event> SlowNode::take_event() {
    const std::lock_guard lock(alone_);
    return std::exchange(to_tell_, std::nullopt);
}

}  // namespace forebay::agent
