// forebay bench restart: reads a snapshot from the staged copy, compared with memcpy of the same bytes, and from
// storage, compared with raw reads of the same files.

#include "bench/bench.hpp"
#include "bench/memory.hpp"
#include "bench/place.hpp"
#include "bench/read.hpp"
#include "bench/report.hpp"
#include "bench/spread.hpp"
#include "core/base/try.hpp"

namespace forebay::bench {

namespace {

constexpr std::chrono::minutes commit_max{10};
constexpr const char* stream_name = "particles";

struct Samples {
    std::vector<double> memcpy, staged, disk, best_raw;
    RawSamples raw{read_ways()};
    double choose_staged = 0, choose_disk = 0;
};

class RestartBench {
public:
    RestartBench(Ranks& ranks, BenchPlace& place, BenchTable& table, MemcpyLimit& limit)
        : ranks_(ranks), place_(place), table_(table), limit_(limit), rows_(table.rows_in(1)) {}

    Result<Samples> run(int repeats) {
        sum_ = table_.sum(rows_);
        FB_TRY(save());
        FB_TRY(from_staged(repeats));
        FB_TRY(from_disk(repeats));
        return samples_;
    }

private:
    struct Opened {
        Session session;
        Stream stream;
        Restart restart;
        double choose_seconds;
    };

    Result<> save() {
        FB_TRY_ASSIGN(session, place_.open(ranks_));
        FB_TRY_ASSIGN(stream, session.stream(stream_name, BenchPlace::stream_options()));
        FB_TRY_ASSIGN(particles, BenchTable::describe(stream));
        FB_TRY(table_.bind(particles, rows_));
        FB_TRY(stream.save(1));
        // The drain ends before reading is measured. Then the session ends as in a crash, and the staged copy stays.
        return stream.wait_committed(commit_max);
    }

    Result<Opened> open() {
        ranks_.rest();
        FB_TRY_ASSIGN(session, place_.open(ranks_));
        FB_TRY_ASSIGN(stream, session.stream(stream_name, BenchPlace::stream_options()));
        FB_TRY_ASSIGN(particles, BenchTable::describe(stream));
        std::optional<Restart> restart;
        FB_TRY_ASSIGN(seconds, ranks_.timed([&]() -> Result<> {
            FB_TRY_ASSIGN(newest, stream.newest());
            restart = std::move(newest);
            return {};
        }));
        if (!restart) return Error{ErrorKind::broken, "the new snapshot was not found."};
        FB_TRY(ranks_.agree(table_.bind(particles, restart->rows(particles))));
        return Opened{std::move(session), std::move(stream), std::move(*restart), seconds};
    }

    Result<double> read(Restart& restart, bool staged) {
        table_.clear();
        ranks_.rest();
        FB_TRY_ASSIGN(seconds, ranks_.timed([&] { return restart.read(); }));
        Result<> own_result;
        if (table_.sum(rows_) != sum_)
            own_result = Error{ErrorKind::broken, "the data read differ from the saved data."};
        if (restart.source().starts_with("staged") != staged)
            own_result = Error{ErrorKind::broken, "the restart came from " + restart.source() +
                                                      ", but another source was to be measured."};
        FB_TRY(ranks_.agree(own_result));
        return seconds;
    }

    Result<> from_staged(int repeats) {
        FB_TRY_ASSIGN(opened, open());
        samples_.choose_staged = opened.choose_seconds;
        limit_.place(ranks_, rows_);
        limit_.copy_in(table_);
        for (int turn = 0; turn <= repeats; ++turn) {
            FB_TRY_ASSIGN(read_seconds, read(opened.restart, true));
            FB_TRY_ASSIGN(copied, ranks_.timed([&]() -> Result<> {
                limit_.copy_out(table_);
                return {};
            }));
            if (turn == 0) continue;
            samples_.staged.push_back(read_seconds);
            samples_.memcpy.push_back(copied);
        }
        return opened.session.close();
    }

    Result<> from_disk(int repeats) {
        FB_TRY_ASSIGN(files, node_files(ranks_, place_.run(), stream_name));
        FB_TRY(forget(ranks_, files));
        FB_TRY_ASSIGN(opened, open());
        samples_.choose_disk = opened.choose_seconds;
        for (int turn = 0; turn <= repeats; ++turn) {
            FB_TRY(forget(ranks_, files));
            FB_TRY_ASSIGN(read_seconds, read(opened.restart, false));
            if (turn > 0) samples_.disk.push_back(read_seconds);
            for (std::size_t way = 0; way < samples_.raw.ways().size(); ++way) {
                FB_TRY(forget(ranks_, files));
                ranks_.rest();
                FB_TRY_ASSIGN(seconds, timed_raw_read(ranks_, files, samples_.raw.ways()[way]));
                if (turn > 0) samples_.raw.add(way, seconds);
            }
        }
        samples_.best_raw = samples_.raw.of(samples_.raw.best());
        return opened.session.close();
    }

    Ranks& ranks_;
    BenchPlace& place_;
    BenchTable& table_;
    MemcpyLimit& limit_;
    std::uint64_t rows_;
    std::uint64_t sum_ = 0;
    Samples samples_;
};

void report(Ranks& ranks, const BenchOptions& options, const Samples& samples, std::uint64_t bytes) {
    BenchReport report("restart");
    report.setting("ranks", static_cast<std::uint64_t>(ranks.size()));
    report.setting("bytes_per_rank", options.bytes_per_rank);
    report.seconds("memcpy", "memcpy out of a warm mapping", samples.memcpy, bytes);
    report.seconds("staged", "restart from the staged copy", samples.staged, bytes);
    for (std::size_t way = 0; way < samples.raw.ways().size(); ++way)
        report.seconds(samples.raw.ways()[way].key, samples.raw.ways()[way].what, samples.raw.of(way), bytes);
    report.seconds("disk", "restart from storage, cold", samples.disk, bytes);
    report.seconds("choose_staged", "choosing, staged copy there", {samples.choose_staged});
    report.seconds("choose_disk", "choosing, at the target only", {samples.choose_disk});
    const auto& best = samples.raw.ways()[samples.raw.best()];
    report.ratio(std::string(best.what) + " seconds / restart from storage",
                 spread_of(samples.best_raw).median / spread_of(samples.disk).median, 0.9,
                 ratios_of(samples.best_raw, samples.disk));
    report.other_ratio("staged_ratio", "memcpy seconds / restart from the staged copy",
                       spread_of(samples.memcpy).median / spread_of(samples.staged).median, 0.8);
    report.print(options.json);
}

}  // namespace

Result<> bench_restart(Ranks& ranks, const BenchOptions& options) {
    if (options.from > 0 || !options.to.empty()) return bench_restart_ranks(ranks, options);
    FB_TRY_ASSIGN(place, BenchPlace::make(ranks, options));
    BenchTable table(options.bytes_per_rank / BenchTable::row_bytes, static_cast<std::uint32_t>(ranks.rank()));
    FB_TRY_ASSIGN(limit, MemcpyLimit::open(ranks, place.on_node("memcpy"), table));
    FB_TRY_ASSIGN(samples, RestartBench(ranks, place, table, limit).run(options.repeats));
    const auto bytes = static_cast<std::uint64_t>(
        ranks.group().sum(static_cast<std::int64_t>(table.rows_in(1) * BenchTable::row_bytes)));
    if (ranks.rank() == 0) report(ranks, options, samples, bytes);
    return {};
}

}  // namespace forebay::bench
