// A run of N nodes is a loop over saves. Its state is a few numbers and the time when each node ends its drains. A node
// drains one snapshot after another. No drain is shorter than the target's time for the bytes of all nodes. A save is
// durable, and its slot free, when the last node has drained. A failure cuts off computing, saving and restarting, and
// the run returns to the newest snapshot that survives it.
//
// Draws over nodes take the time: 8,100 nodes x 500 saves are 4 million. One random number of 64 bits gives four draws,
// with a table of 65,536 quantiles; the last is the quantile of 1 in 131,072. If only the slowest of N counts, it is
// drawn directly: the N-th root of a uniform number is the largest of N.

#include "insight/advice/plan/simulate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "core/base/splitmix.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::advice {

namespace {

constexpr std::size_t quantiles_count = 65536;
// A run without progress is given up: 0.01 or 0.001 of the time makes no difference.
constexpr double wall_factor_max = 100, failures_max = 20'000;
constexpr double never = std::numeric_limits<double>::infinity();

class Chance {
public:
    explicit Chance(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t bits() { return splitmix(seed_, index_++); }
    double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }  // strictly between 0 and 1
    double exponential(double mean) { return mean > 0 ? -mean * std::log(uniform()) : never; }
    /// The factor of the slowest of `count`, by exp(cv x normal).
    double slowest(double count, double cv) {
        if (cv <= 0 || count < 1) return 1;
        return std::exp(cv * normal_quantile(std::clamp(std::pow(uniform(), 1 / count), 1e-12, 1 - 1e-12)));
    }

private:
    std::uint64_t seed_, index_ = 0;
};

struct SimulatedSave {
    double computed = 0;  // useful seconds of computing in it
    double sealed_at = 0, durable_at = never, partner_at = never, copied_at = never;
};

enum class Failure { process, node, target };

// The end of each node's drains.
class NodeDrains {
public:
    NodeDrains(const Model& model, const std::vector<float>& quantiles, Chance& chance) {
        const double cv = std::hypot(model.node_bytes_cv, model.drain_rate_cv);
        const double seconds = model.drain_rate > 0 ? model.node_bytes / model.drain_rate : 0;
        const bool differ = seconds > 0 && (cv > 0 || model.slow_node_share > 0);
        // Equal nodes drain alike, so one node stands for all.
        seconds_.assign(differ ? static_cast<std::size_t>(model.nodes) : 1, static_cast<float>(seconds));
        free_at_.assign(seconds_.size(), 0.0);
        if (model.slow_node_share > 0)
            for (auto& duration : seconds_)
                if (chance.uniform() < model.slow_node_share) duration /= static_cast<float>(model.slow_node_ratio);
        if (cv <= 0) return;
        factors_.reserve(quantiles.size());
        for (const float z : quantiles) factors_.push_back(std::exp(static_cast<float>(cv) * z));
    }

    struct Done {
        double at = 0, longest_seconds = 0;  // the last node; the longest drain, without the wait before it
    };
    /// All nodes drain their bytes from `at` on. No node needs less than `least` seconds.
    Done drain(double at, double least, Chance& chance) {
        Done done{.at = at};
        const auto take = [&](std::size_t node, double seconds) {
            seconds = std::max(seconds, least);
            done.longest_seconds = std::max(done.longest_seconds, seconds);
            free_at_[node] = std::max(free_at_[node], at) + seconds;
            done.at = std::max(done.at, free_at_[node]);
        };
        if (factors_.empty()) {
            for (std::size_t node = 0; node < seconds_.size(); ++node) take(node, seconds_[node]);
            return done;
        }
        for (std::size_t node = 0; node < seconds_.size();) {
            auto bits = chance.bits();
            for (int draw = 0; draw < 4 && node < seconds_.size(); ++draw, ++node, bits >>= 16)
                take(node, seconds_[node] * factors_[bits & (quantiles_count - 1)]);
        }
        return done;
    }
    void give_up(double at) { std::fill(free_at_.begin(), free_at_.end(), at); }

private:
    std::vector<float> seconds_, factors_;
    std::vector<double> free_at_;
};

class Simulation {
public:
    Simulation(const Model& model, const std::vector<float>& quantiles, std::uint64_t number)
        : model_(model),
          chance_(splitmix(0, number)),
          next_failure_(chance_.exponential(model.mtbf_seconds)),
          nodes_(model, quantiles, chance_) {}

    SimulatedRun run() {
        const double wanted = model_.steps * model_.step_seconds;
        while (computed_ < wanted && !gets_nowhere()) {
            const double useful = std::min(model_.every * model_.step_seconds, wanted - computed_);
            // Drains slow the computing down.
            if (!pass(useful * (1 + model_.agent_cost))) {
                fail(useful);
                continue;
            }
            computed_ += useful;
            if (computed_ < wanted && !save()) fail(0);
        }
        auto run = sums_;
        run.wall_seconds = now_;
        run.forward_progress = computed_ / std::max(now_, 1e-9);
        run.visible_seconds /= std::max(saves_, 1.0);
        run.drain_seconds /= std::max(drains_, 1.0);
        if (run.drain_seconds > 0) run.slack = model_.interval_seconds() / run.drain_seconds;
        return run;
    }

private:
    bool gets_nowhere() const {
        return now_ > wall_factor_max * model_.steps * model_.step_seconds || sums_.failures > failures_max;
    }

    // Advances time. False if the next failure comes first; then now is that failure.
    bool pass(double seconds) {
        if (now_ + seconds < next_failure_) return now_ += seconds, true;
        passed_ = next_failure_ - now_;
        now_ = next_failure_;
        return false;
    }

    bool save() {
        const double began = now_;
        const bool whole = model_.slots < 1 ? save_through() : save_staged();
        if (!whole) return false;
        sums_.visible_seconds += now_ - began;
        ++saves_;
        return true;
    }

    // Without staging the application waits until all is durable.
    bool save_through() {
        const double drain = target_drain();
        nodes_.give_up(now_);
        SimulatedSave snapshot{.computed = computed_};
        const double done = drain_nodes(now_, drain);
        if (!pass(done - now_)) return false;
        snapshot.sealed_at = snapshot.durable_at = snapshot.partner_at = now_;
        copy_on(snapshot);
        snapshots_.assign(1, snapshot);
        remember_copy();
        return true;
    }

    bool save_staged() {
        settle();
        if (in_flight() >= model_.slots) {
            if (!model_.supersedes) {
                if (!pass(first_free() - now_)) return false;
                settle();
            } else if (!waiting_) {
                return true;  // skipped: the only slot drains
            }
        }
        const double copy =
            model_.save_rate > 0
                ? model_.node_bytes / model_.save_rate *
                      chance_.slowest(model_.nodes, std::hypot(model_.node_bytes_cv, model_.save_rate_cv))
                : 0;
        if (!pass(copy)) return false;
        settle();
        SimulatedSave snapshot{.computed = computed_, .sealed_at = now_};
        if (model_.partner_rate > 0) snapshot.partner_at = now_ + model_.node_bytes / model_.partner_rate;
        if (model_.supersedes && in_flight() > 0) waiting_ = snapshot;
        else begin_drain(snapshot, now_);
        return true;
    }

    // Durable snapshots leave the queue. A waiting snapshot begins when the drain before it ends.
    void settle() {
        while (!draining_.empty() && draining_.front().durable_at <= now_) {
            const double freed_at = draining_.front().durable_at;
            snapshots_.push_back(draining_.front());
            draining_.pop_front();
            remember_copy();
            if (draining_.empty() && waiting_) {
                const auto next = *waiting_;
                waiting_.reset();
                begin_drain(next, freed_at);
            }
        }
        // A failure needs only the newest durable snapshot.
        while (snapshots_.size() > 2) snapshots_.pop_front();
    }

    void remember_copy() {
        if (snapshots_.back().copied_at < never) copies_.push_back(snapshots_.back());
        while (copies_.size() > 1 && copies_[1].copied_at <= now_) copies_.pop_front();
    }

    double in_flight() const { return static_cast<double>(draining_.size() + (waiting_ ? 1 : 0)); }
    double first_free() const { return draining_.front().durable_at; }

    void begin_drain(SimulatedSave snapshot, double at) {
        snapshot.durable_at = drain_nodes(at, target_drain());
        copy_on(snapshot);
        draining_.push_back(snapshot);
    }

    void copy_on(SimulatedSave& snapshot) {
        // Only every copy_every-th drain is copied.
        if (model_.copy_rate <= 0 || std::fmod(drains_ - 1, model_.copy_every) >= 1) return;
        snapshot.copied_at = snapshot.durable_at + model_.node_bytes * model_.nodes / model_.copy_rate;
    }

    // Variables of one rendezvous even out; each rendezvous waits for its slowest target.
    double target_drain() {
        if (model_.target_rate <= 0) return 0;
        const double all = model_.node_bytes * model_.nodes / model_.target_rate;
        const double slow = std::round(model_.slow_target_share * model_.targets);
        const double cv = model_.target_rate_cv * std::sqrt(model_.rendezvous / model_.variables);
        double factor = 0;
        const auto turns = static_cast<std::uint64_t>(std::ceil(model_.rendezvous));
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
            double slowest = chance_.slowest(model_.targets - slow, cv);
            if (slow >= 1) slowest = std::max(slowest, chance_.slowest(slow, cv) / model_.slow_target_ratio);
            factor += slowest / model_.rendezvous;
        }
        return all * factor;
    }

    // The time when the last node has drained its bytes from `at` on, and the commit is made.
    double drain_nodes(double at, double least) {
        const auto done = nodes_.drain(at, least, chance_);
        sums_.drain_seconds += done.longest_seconds + model_.commit_seconds;
        ++drains_;
        return done.at + model_.commit_seconds;
    }

    // `under_way`: seconds of computing begun; passed_ seconds of them are done.
    void fail(double under_way) {
        const double reached = computed_ + std::min(under_way, passed_ / (1 + model_.agent_cost));
        double restart = 0;
        do {
            ++sums_.failures;
            restart = go_back(reached);
            next_failure_ = now_ + chance_.exponential(model_.mtbf_seconds);
            // A failure during the restart begins another restart.
        } while (!pass(restart) && !gets_nowhere());
        sums_.lost_work_seconds += reached - computed_;
    }

    // Returns to the newest remaining snapshot, and returns the seconds of the restart.
    double go_back(double reached) {
        const double kind_of = chance_.uniform();
        const auto kind = model_.slots >= 1 && kind_of < model_.local_restart_share ? Failure::process
                          : kind_of > 1 - model_.target_loss_share                  ? Failure::target
                                                                                    : Failure::node;
        settle();
        const double reading = model_.read_rate > 0 ? model_.node_bytes / model_.read_rate : 0;
        computed_ = std::min(newest(kind), reached);
        if (kind == Failure::process)  // agents live on and drain staged snapshots
            return model_.restart_seconds + (model_.save_rate > 0 ? model_.node_bytes / model_.save_rate : 0);
        // Staged copies are lost with their node.
        draining_.clear();
        waiting_.reset();
        nodes_.give_up(now_);
        // Only copies on the second target survive.
        if (kind == Failure::target) snapshots_.clear();
        return model_.restart_seconds + reading;
    }

    double newest(Failure kind) const {
        double reached = 0;
        if (kind == Failure::target) {
            for (const auto& copy : copies_)
                if (copy.copied_at <= now_) reached = std::max(reached, copy.computed);
            return reached;
        }
        for (const auto& snapshot : snapshots_) reached = std::max(reached, snapshot.computed);  // all durable
        for (const auto& draining : draining_)
            if (kind == Failure::process || draining.partner_at <= now_) reached = std::max(reached, draining.computed);
        if (waiting_ && (kind == Failure::process || waiting_->partner_at <= now_))
            reached = std::max(reached, waiting_->computed);
        return reached;
    }

    const Model& model_;
    Chance chance_;
    double next_failure_;
    NodeDrains nodes_;
    double now_ = 0, computed_ = 0, passed_ = 0;
    std::deque<SimulatedSave> draining_, snapshots_, copies_;
    std::optional<SimulatedSave> waiting_;
    SimulatedRun sums_;
    double saves_ = 0, drains_ = 0;
};

constexpr std::array run_members{
    &SimulatedRun::forward_progress, &SimulatedRun::wall_seconds, &SimulatedRun::visible_seconds,
    &SimulatedRun::drain_seconds,    &SimulatedRun::slack,        &SimulatedRun::lost_work_seconds,
    &SimulatedRun::failures};

}  // namespace

Simulator::Simulator() : quantiles_(quantiles_count) {
    for (std::size_t i = 0; i < quantiles_count; ++i)
        quantiles_[i] = static_cast<float>(normal_quantile((static_cast<double>(i) + 0.5) / quantiles_count));
}

SimulatedRun Simulator::run(const Model& model, std::uint64_t number) const {
    return Simulation(model, quantiles_, number).run();
}

SimulatedSpread Simulator::runs(const Model& model, int count) const {
    std::vector<SimulatedRun> all;
    all.reserve(static_cast<std::size_t>(count));
    for (int number = 0; number < count; ++number) all.push_back(run(model, static_cast<std::uint64_t>(number)));
    SimulatedSpread spread;
    for (const auto member : run_members) {
        std::vector<double> values;
        values.reserve(all.size());
        for (const auto& prediction : all) values.push_back(prediction.*member);
        spread.low.*member = telemetry::quantile_of(values, 0.1);
        spread.middle.*member = telemetry::median_of(values);
        spread.high.*member = telemetry::quantile_of(values, 0.9);
        for (const double value : values) spread.mean.*member += value / count;
    }
    return spread;
}

}  // namespace forebay::advice
