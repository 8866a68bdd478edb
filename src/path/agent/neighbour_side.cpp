#include "path/agent/neighbour_side.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/attempt.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/wait_until.hpp"
#include "path/catalog/run.hpp"

namespace forebay::agent {

namespace {

// The time that an agent helps after its own work, while clients are connected. After a close it is less than the
// session's wait for its agent (15 s); if nobody waits, it covers the longest drain.
constexpr std::chrono::seconds helps_closed_max{8}, helps_died_max{600};
// The time in which all agents of a job begin, and the pause between two looks for a helper until then.
constexpr std::chrono::seconds helpers_begin_max{5};
constexpr std::chrono::milliseconds helper_look_pause{50};

/// The rate of this node's way divided by the rate through the first neighbour that answers. 0 if none answers, or if
/// the own way fails.
double probed_ratio(sys::Store& store, const node::SessionFile& session, std::uint32_t number,
                    const std::string& path) {
    for (std::uint32_t i = 0; i < session.neighbours.helpers; ++i) {
        const auto helper = (session.neighbours.first + i) % session.neighbours.helpers;
        const auto way = way_through(store, session, number, helper);
        const auto through = way ? probe(*way->store, path, {}) : way.error();
        if (!through) continue;
        const auto own = probe(store, path, {});
        return own && *own > 0 ? *through / *own : 0;
    }
    return 0;
}

}  // namespace

NeighbourSide::NeighbourSide(std::shared_ptr<sys::Store> store, const node::SessionFile& session,
                             const node::Staging& staging, const NodeFileOfRun& own_files, Tell tell)
    : store_(std::move(store)),
      session_(session),
      staging_(staging),
      number_(staging.control().session.load()),
      probe_path_(fmt::format("{}/{}/probe", session.run, catalog::own_directory)),
      tell_(std::move(tell)) {
    // Addresses lie in the run lock of the session; a session without a number has none.
    if (session.neighbours.helpers == 0 || number_ == 0) return;
    if (session.neighbours.number) begin_help(own_files.virtual_node);
    else begin_detour(own_files);
}

void NeighbourSide::begin_help(const std::string& virtual_node) {
    auto helper = attempt([&] { return Helper::start(*store_, session_, number_, virtual_node, tell_); });
    if (helper) helper_ = std::move(*helper);
    else tell_({.what = What::helps_not, .detail = helper.error().line()});
}

// The helpers of a job may begin a moment after this agent. The agent does not wait for a helper that began and does
// not answer.
void NeighbourSide::begin_detour(const NodeFileOfRun& own_files) {
    const auto begun_by = sys::Clock::now() + helpers_begin_max;
    const auto open = [this, begun_by](std::uint32_t helper) {
        std::optional<Result<NeighbourWay>> way;
        sys::wait_until(begun_by, {helper_look_pause}, [&] {
            way.emplace(way_through(*store_, session_, number_, helper));
            return way->has_value() || way->error().kind != ErrorKind::missing;
        });
        return std::move(*way);
    };
    const auto& with = session_.neighbours;
    detour_ = std::make_unique<Detour>(*store_, DetourOptions{with.helpers, with.first, open}, tell_);
    // An excluded node always writes through a neighbour, so its own speed does not matter.
    if (!with.avoid_slow || with.excluded) return;
    slow_ = std::make_shared<SlowNode>(
        [store = store_, own_files, number = number_] { return drains_of_others(*store, own_files, number); });
}

void NeighbourSide::begin_probes() {
    // Everything is copied: a hanging thread outlives this object.
    prober_.emplace([slow = slow_, store = store_, session = session_, number = number_, path = probe_path_] {
        if (!slow->is_due(sys::Clock::now())) return;
        const auto ratio = attempt(
            [&]() -> Result<double> { return probed_ratio(*store, session, number, sys::temporary_beside(path)); });
        slow->probed(ratio ? *ratio : 0, sys::Clock::now());
    });
}

void NeighbourSide::hear(const Event& event) {
    if (!detour_) return;
    const auto& page = staging_.control();
    if (slow_) {
        slow_->hear(event, page.nodes.load(), {"", page.counts.bytes_drained.load(), page.counts.drain_seconds.load()});
        if (!prober_ && !slow_->why().empty()) begin_probes();
    }
    steer(event);
}

// Chooses the way when a drain begins that overtakes no other drain, and when a drain begins again.
void NeighbourSide::steer(const Event& event) {
    const bool is_begun = event.what == What::begun, is_retried = event.what == What::retried;
    // `draining` counts this drain at `begun`, and no longer at `drained`.
    const bool overtakes = staging_.control().draining.load() > (is_begun ? 1u : 0u);
    if (event.what == What::drained && !overtakes) detour_->rest();
    if (is_retried || event.what == What::failed) detour_->set_aside();
    if (!is_retried && (!is_begun || overtakes)) return;
    if (slow_)
        if (const auto again = slow_->take_event()) tell_(*again);
    detour_->choose(session_.neighbours.excluded ? "this node is excluded" : slow_ ? slow_->why() : "");
}

void NeighbourSide::stay(const std::atomic<bool>& stop) const {
    if (!helper_) return;
    const auto& page = staging_.control();
    // A closing application waits for its agents, so this stay is short.
    if (page.ending.load() != 0) return helper_->stay([&] { return stop.load(); }, helps_closed_max);
    helper_->stay([&] { return stop.load() || page.ending.load() != 0 || staging_.application_lives(); },
                  helps_died_max);
}

}  // namespace forebay::agent
