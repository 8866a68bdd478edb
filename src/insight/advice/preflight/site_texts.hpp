// Pure readers of a site's commands about its storage; any text is accepted. Formats of Lustre 2.15 and DAOS 2.4 to
// 2.6; site_texts_test.cpp and tests/corpus/site_texts have samples.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::advice {

/// A line of `lfs df`: an OST. Source: lfs-df(1), with its letters D(egraded), R(ead-only), N(o create), S(pace),
/// I(nodes), f(lash).
struct OstState {
    std::uint64_t index = 0;
    std::string name;       // "scratch-OST0007"
    double used_share = 0;  // of its space
    std::string letters;
    bool inactive = false;
};
std::vector<OstState> read_lfs_df(std::string_view text);

/// `lfs quota -q -u USER DIR`: space in KiB without -h; a limit of 0 means no limit.
struct QuotaState {
    std::uint64_t used_bytes = 0, soft_bytes = 0, hard_bytes = 0;
    std::uint64_t files = 0, soft_files = 0, hard_files = 0;
};
std::optional<QuotaState> read_lfs_quota(std::string_view text);

/// `daos pool query POOL`, or the same command of dmg.
struct PoolState {
    std::uint64_t targets = 0, disabled = 0;
    std::string state;    // "Ready", "Degraded", "TargetsExcluded"; "" for versions without it
    std::string rebuild;  // "idle", "done", "busy" or "failed"
    struct Tier {
        double total_bytes = 0, free_bytes = 0, least_free_bytes = 0, mean_free_bytes = 0;  // the last two: of a target
    };
    std::vector<Tier> tiers;
};
std::optional<PoolState> read_pool_query(std::string_view text);

/// `lctl get_param osc.*.ost_conn_uuid`: the server of each OST: "scratch-OST0007", "10.0.0.4@o2ib".
struct OstServer {
    std::string name, server;
};
std::vector<OstServer> read_ost_servers(std::string_view text);

/// Bytes of "2.6G", "997k", or "6.0 TB" without its blank. Powers of 1000 before a B and of 1024 otherwise, as in dmg
/// and lfs.
std::optional<double> read_amount(std::string_view text);

}  // namespace forebay::advice
