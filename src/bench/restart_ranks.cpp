// forebay bench restart --from M --to N,...: the cost of a restart on another number of ranks, compared with the same
// number.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "bench/bench.hpp"
#include "bench/place.hpp"
#include "bench/read.hpp"
#include "bench/report.hpp"
#include "bench/spread.hpp"
#include "bench/table.hpp"
#include "core/base/try.hpp"

namespace forebay::bench {

namespace {

constexpr std::chrono::minutes commit_max{10};
constexpr const char* stream_name = "particles";

struct To {
    int ranks = 0;
    std::vector<double> seconds = {};
};

Result<std::vector<To>> parse_ranks(const BenchOptions& options, int world) {
    std::vector<To> all{{options.from}};
    for (std::string_view rest = options.to; !rest.empty();) {
        const auto word = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        int number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc() || end != word.data() + word.size() || number < 1)
            return Error{ErrorKind::refused, fmt::format("--to {}: give numbers of ranks, as in 3,8.", options.to)};
        if (number != options.from) all.push_back({number});
    }
    for (const auto& to : all)
        if (to.ranks < 1 || to.ranks > world)
            return Error{ErrorKind::refused,
                         fmt::format("{} ranks are needed, but mpiexec has started {}", to.ranks, world), "",
                         "give --from, and mpiexec -n with the largest number of ranks"};
    return all;
}

Result<> save(Ranks& ranks, const BenchPlace& place, const BenchOptions& options) {
    BenchTable table(options.bytes_per_rank / BenchTable::row_bytes, static_cast<std::uint32_t>(ranks.rank()));
    FB_TRY_ASSIGN(session, place.open(ranks));
    FB_TRY_ASSIGN(stream, session.stream(stream_name, BenchPlace::stream_options()));
    FB_TRY_ASSIGN(particles, BenchTable::describe(stream));
    FB_TRY(table.bind(particles, table.rows_in(1)));
    FB_TRY(stream.save(1));
    FB_TRY(stream.wait_committed(commit_max));
    return session.close();
}

Result<double> read(Ranks& ranks, const BenchPlace& place) {
    FB_TRY_ASSIGN(session, place.open(ranks));
    FB_TRY_ASSIGN(stream, session.stream(stream_name, BenchPlace::stream_options()));
    FB_TRY_ASSIGN(particles, BenchTable::describe(stream));
    FB_TRY_ASSIGN(newest, stream.newest());
    if (!newest) return Error{ErrorKind::broken, "the new snapshot was not found."};
    const auto rows = newest->rows(particles);
    BenchTable table(rows, static_cast<std::uint32_t>(ranks.rank()));
    FB_TRY(table.bind(particles, rows));
    FB_TRY_ASSIGN(files, node_files(ranks, place.run(), stream_name));
    FB_TRY(forget(ranks, files));
    FB_TRY_ASSIGN(seconds, ranks.timed([&] { return newest->read(); }));
    FB_TRY(session.close());
    return seconds;
}

void report(const BenchOptions& options, const std::vector<To>& all) {
    BenchReport report("restart");
    report.setting("from", static_cast<std::uint64_t>(options.from));
    report.setting("bytes_per_rank", options.bytes_per_rank);
    const auto bytes = options.bytes_per_rank * static_cast<std::uint64_t>(options.from);
    const To* slowest = &all.front();
    for (const auto& to : all) {
        report.seconds(fmt::format("from_{}_to_{}", options.from, to.ranks),
                       fmt::format("{} ranks' snapshot on {} ranks, cold", options.from, to.ranks), to.seconds, bytes);
        const bool first = slowest == &all.front();
        if (&to != &all.front() && (first || spread_of(to.seconds).median > spread_of(slowest->seconds).median))
            slowest = &to;
    }
    report.ratio(
        fmt::format("seconds {} -> {} / seconds {} -> {}", options.from, options.from, options.from, slowest->ranks),
        spread_of(all.front().seconds).median / spread_of(slowest->seconds).median, 0.8,
        ratios_of(all.front().seconds, slowest->seconds));
    report.print(options.json);
}

}  // namespace

Result<> bench_restart_ranks(Ranks& ranks, const BenchOptions& wanted) {
    auto options = wanted;
    if (options.from == 0) options.from = ranks.size();
    FB_TRY_ASSIGN(all, parse_ranks(options, ranks.size()));
    FB_TRY_ASSIGN(place, BenchPlace::make(ranks, options));
    // Ranks without a part sleep until the other ranks have finished.
    const auto on_first = [&](int count, const auto& work) -> Result<> {
        const auto part = ranks.first(count);
        const Result<> own_result = part ? work(*part) : Result<>();
        ranks.rest();
        return ranks.agree(own_result);
    };
    FB_TRY(on_first(options.from, [&](Ranks& part) { return save(part, place, options); }));
    for (int turn = 0; turn <= options.repeats; ++turn) {
        for (auto& to : all) {
            FB_TRY(on_first(to.ranks, [&](Ranks& part) -> Result<> {
                FB_TRY_ASSIGN(seconds, read(part, place));
                if (turn > 0) to.seconds.push_back(seconds);
                return {};
            }));
        }
    }
    if (ranks.rank() == 0) report(options, all);
    return {};
}

}  // namespace forebay::bench
