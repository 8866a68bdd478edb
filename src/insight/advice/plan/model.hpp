// The arithmetic of a plan: the costs of saves, drains and failures in closed forms. Pure functions; any thread.
//
// All units are seconds, bytes and bytes a second. Rates are per node, except names with "target". A cv is standard
// deviation / mean. Times vary as exp(cv x normal); the median is the time given by the rate.

#pragma once

#include <span>
#include <vector>

namespace forebay::advice {

/// The parameters of a plan. inputs.hpp gives the source of each number.
struct Model {
    double nodes = 1;
    double node_bytes = 0, node_bytes_cv = 0;
    double save_rate = 0, save_rate_cv = 0;      // into the slot, without the wait for a slot
    double drain_rate = 0, drain_rate_cv = 0;    // of a node alone; 0: no limit
    double target_rate = 0, target_rate_cv = 0;  // all targets that are not slow; the cv of one target; 0: no limit
    double targets = 1;
    double variables = 1, rendezvous = 1;  // of a save written to the target: barriers among its variables
    double slow_node_share = 0, slow_node_ratio = 1;
    double slow_target_share = 0, slow_target_ratio = 1;
    double read_rate = 0;  // at a restart; 0: reading takes no time
    double commit_seconds = 0;
    double step_seconds = 1, every = 1, steps = 1;
    double slots = 1;         // 0: nothing is staged, and a save lasts until it is durable
    bool supersedes = false;  // without a free slot: replace a waiting snapshot, else skip the save
    double agent_cost = 0;    // steps take (1 + this) times as long
    double mtbf_seconds = 0;  // of all nodes together; 0: no failures
    double restart_seconds = 0;
    double local_restart_share = 0;  // of failures: a process fails and the staged copy stays
    double target_loss_share = 0;    // of failures: the file system is lost; the rest lose a node
    double partner_rate = 0;         // of a node's copy to another node; 0: no such copy
    double copy_rate = 0;            // of all nodes to a second file system; 0: no such copy
    double copy_every = 1;           // saves between two such copies

    double interval_seconds() const { return every * step_seconds * (1 + agent_cost); }
};

/// The value z with the share `p` of a normal distribution below it; p between 0 and 1. Acklam's rational
/// approximation, accurate to 1.2e-9.
double normal_quantile(double p);

/// The time of the slowest of `count`, as a multiple of the median: g(N, s) = exp(s (z(1 - 1/N) + 0.577 / sqrt(2 ln
/// N))), the mean of the largest of N normal values by extreme value theory (Gumbel). 8,100 nodes with cv 0.1: 1.46.
/// For one node, or without spread: 1.
double slowest_of(double count, double cv);

/// Files of equal size, each on `stripes` of `targets` drawn at random: bytes of the fullest target / mean. Files on
/// one target each are balls in bins: the mean of the largest of `targets` Poisson values, from their distribution.
/// 20,000 files on 156 targets: 1.24.
double random_placement(double files, double targets, double stripes = 1);
/// The same for targets dealt in turn: ceil(F / T) T / F.
double even_placement(double files, double targets);

/// Young (1974): sqrt(2 C M), the computing between two saves of cost C, if failures come M apart.
double young_interval(double cost, double mtbf);
/// Daly (2006), of higher order: sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C if C < 2M, else M.
double daly_interval(double cost, double mtbf);
/// Daly's share of time for progress, with `interval` of computing, then a save, and restarts of `restart`: tau / (M
/// e^(R/M) (e^((tau+C)/M) - 1)); without failures tau / (tau + C).
double daly_efficiency(double interval, double cost, double restart, double mtbf);

struct Prediction {
    /// From the call to the seal, without the wait for a slot: (V / b_l) g(N, sqrt(s_V^2 + s_l^2)); 0 without slots.
    double save_seconds = 0;
    /// From the seal until all nodes have drained, the longer of two times. The nodes need (V / b_d) g(N, sqrt(s_V^2 +
    /// s_d^2)), and slow nodes the same / r with qN for N. The target needs target_seconds().
    double drain_seconds = 0;
    /// The cost of a save to the application. A node drains one snapshot after another. So a second slot hides the copy
    /// and evens out drains of different length, but does not raise the rate. One slot: t_l + max(0, t_d - I). More:
    /// max(t_l, t_d - I - t_d t_d / M), because after a failure the second slot is empty and absorbs a drain. Here I is
    /// the computing between saves. If snapshots are superseded: t_l; without slots: t_d.
    double visible_seconds = 0;
    double hidden_ratio = 0;       // 1 - v / (t_l + t_d)
    double slack = 0;              // I / t_d
    double overhead_ratio = 0;     // v / I
    double restart_seconds = 0;    // mean over failures: R_0 + V / b_r, or from the staged copy
    double lost_work_seconds = 0;  // mean of a failure: half a period, plus a drain if the staged copy is lost
    double forward_progress = 0;   // useful computing / time
    double young_seconds = 0, daly_seconds = 0;  // with C, the cost of a save that does not wait
};
Prediction predict(const Model& model);

/// The target's time for a save of all nodes: (V N / B) x the slowest of T targets with the spread s sqrt(rendezvous /
/// variables), because variables of one rendezvous even out; or of qT slow targets / r, if files are striped over all.
/// VPIC, 8 variables with a rendezvous each on 144 targets with cv 0.1: 1.30; with one rendezvous: 1.10.
double target_seconds(const Model& model);

/// A kind of failure with its protection, cheapest first; level 0 covers the mildest failures.
struct ProtectionLevel {
    double cost = 0;  // seconds of the application
    double rate = 0;  // failures a second survived by this level and no lower level
};
/// Benoit et al. (2017), nested periods of several levels: level l every sqrt(2 C_l / lambda_l), with a total overhead
/// of about the sum of sqrt(2 lambda_l C_l). A level is dropped if that lowers the sum; the next level then takes its
/// failures. The last level stays.
struct BestLevels {
    std::vector<double> periods;  // seconds; 0: dropped
    double overhead = 0;
};
BestLevels best_levels(std::span<const ProtectionLevel> levels);

}  // namespace forebay::advice
