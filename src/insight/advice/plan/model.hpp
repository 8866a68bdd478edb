// The arithmetic of a plan: what saves, drains and failures cost a run, in closed forms. Pure functions; any thread.
//
// Seconds, bytes and bytes a second everywhere. Rates are of one node, but where "target" stands in the name. A cv is
// standard deviation / mean; times vary as exp(cv x normal), whose median is the time that the rate gives.

#pragma once

#include <span>
#include <vector>

namespace forebay::advice {

/// What a plan follows from. inputs.hpp says where each number comes from.
struct Model {
    double nodes = 1;
    double node_bytes = 0, node_bytes_cv = 0;
    double save_rate = 0, save_rate_cv = 0;      // into the slot, beside the wait for one
    double drain_rate = 0, drain_rate_cv = 0;    // what a node can do alone; 0: it is no limit
    double target_rate = 0, target_rate_cv = 0;  // of all targets that are not slow; the cv of one; 0: no limit
    double targets = 1;
    double variables = 1, rendezvous = 1;  // of a save that is written to the target: barriers among its variables
    double slow_node_share = 0, slow_node_ratio = 1;
    double slow_target_share = 0, slow_target_ratio = 1;
    double read_rate = 0;  // at a restart; 0: reading takes no time
    double commit_seconds = 0;
    double step_seconds = 1, every = 1, steps = 1;
    double slots = 1;         // 0: nothing is staged, and a save lasts until it is durable
    bool supersedes = false;  // where no slot is free: a waiting snapshot is replaced, else the save is skipped
    double agent_cost = 0;    // steps take 1 + this as long
    double mtbf_seconds = 0;  // of all nodes together; 0: nothing fails
    double restart_seconds = 0;
    double local_restart_share = 0;  // of failures: a process; the staged copy is there
    double target_loss_share = 0;    // of failures: the file system; the others cost a node
    double partner_rate = 0;         // at which a node copies to another one; 0: it does not
    double copy_rate = 0;            // of all nodes to a second file system; 0: they do not
    double copy_every = 1;           // saves

    double interval_seconds() const { return every * step_seconds * (1 + agent_cost); }
};

/// z of which the share `p` of a normal distribution lies below; p between 0 and 1. Acklam's rational approximation,
/// good to 1.2e-9.
double normal_quantile(double p);

/// How much longer than the median the slowest of `count` takes: g(N, s) = exp(s (z(1 - 1/N) + 0.577 / sqrt(2 ln N))),
/// the mean of the largest of N normal values by extreme value theory (Gumbel). 8,100 nodes with cv 0.1: 1.46. 1 of
/// one, or without a spread.
double slowest_of(double count, double cv);

/// Files of equal size, each on `stripes` of `targets` that are drawn at random: bytes of the fullest / mean. Files on
/// one are balls in bins; the mean of the largest of `targets` Poisson values, by their distribution. 20,000 files on
/// 156: 1.24.
double random_placement(double files, double targets, double stripes = 1);
/// The same where they are dealt in turn: ceil(F / T) T / F.
double even_placement(double files, double targets);

/// Young (1974): sqrt(2 C M), the computing between two saves that cost C where failures come M apart.
double young_interval(double cost, double mtbf);
/// Daly (2006), of higher order: sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C where C < 2M, else M.
double daly_interval(double cost, double mtbf);
/// Daly's share of time that is progress, of computing `interval`, then a save, with restarts of `restart`:
/// tau / (M e^(R/M) (e^((tau+C)/M) - 1)); without failures tau / (tau + C).
double daly_efficiency(double interval, double cost, double restart, double mtbf);

struct Prediction {
    /// From the call to the seal, without waiting for a slot: (V / b_l) g(N, sqrt(s_V^2 + s_l^2)); 0 without slots.
    double save_seconds = 0;
    /// From the seal until all nodes have drained: the longest of what nodes need, (V / b_d) g(N, sqrt(s_V^2 + s_d^2))
    /// and for slow ones / r, of qN instead of N; and of what the target needs, target_seconds().
    double drain_seconds = 0;
    /// What a save costs the application. Drains of a node follow one another, so that a second slot hides the copy and
    /// evens out drains that differ, but lets no more through: with one slot t_l + max(0, t_d - I), with more
    /// max(t_l, t_d - I - t_d t_d / M), where I is the computing between saves: after each failure the second slot is
    /// empty, and takes a drain before saves wait. t_l where snapshots are superseded, t_d without slots.
    double visible_seconds = 0;
    double hidden_ratio = 0;       // 1 - v / (t_l + t_d)
    double slack = 0;              // I / t_d
    double overhead_ratio = 0;     // v / I
    double restart_seconds = 0;    // the mean of failures: R_0 + V / b_r, or from the staged copy
    double lost_work_seconds = 0;  // of a failure, the mean: half a period, and a drain where the staged copy is lost
    double forward_progress = 0;   // useful computing / time
    double young_seconds = 0, daly_seconds = 0;  // C is what a save costs that waits for nothing
};
Prediction predict(const Model& model);

/// What the target needs for a save of all nodes: (V N / B) x the slowest target, which is one of T with the spread
/// s sqrt(rendezvous / variables), as variables of one rendezvous even out; or one of qT slow ones / r, where files are
/// striped over all. VPIC, 8 variables with a rendezvous each on 144 targets with cv 0.1: 1.30; with one: 1.10.
double target_seconds(const Model& model);

/// Kinds of failures and what protects from them, cheapest first: level 0 from the mildest.
struct ProtectionLevel {
    double cost = 0;  // seconds that the application sees
    double rate = 0;  // failures a second that it survives and no lower level does
};
/// Benoit et al. (2017), nested periods of several levels: level l every sqrt(2 C_l / lambda_l), all together an
/// overhead of about the sum of sqrt(2 lambda_l C_l). A level is dropped where that lowers the sum: the next one then
/// takes its failures. The last one stays.
struct BestLevels {
    std::vector<double> periods;  // seconds; 0: dropped
    double overhead = 0;
};
BestLevels best_levels(std::span<const ProtectionLevel> levels);

}  // namespace forebay::advice
