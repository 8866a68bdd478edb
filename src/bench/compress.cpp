// forebay bench compress: each codec on a node file, compressed as an agent does it. Measures the size, the speed
// compared with the bare codec on the same chunks, and the agent's choice with little or much time. Runs on rank 0.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "bench/bench.hpp"
#include "bench/report.hpp"
#include "bench/spread.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/format/segments.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/drain/compress.hpp"

namespace forebay::bench {

namespace {

constexpr double speed_goal = 0.7;  // of the bare codec; checks, test decoding and writing take the rest

double seconds_since(sys::Clock::time_point start) {
    return std::chrono::duration<double>(sys::Clock::now() - start).count();
}

struct Way {
    std::string key, what;
    Compression rule;
};

std::vector<Way> ways_of(const BenchOptions& options) {
    std::vector<Way> ways;
    const auto add = [&](Codec codec, int level, Shuffle shuffle) {
        const auto name = std::string(codec == Codec::lz4 ? "lz4" : "zstd");
        const auto bits = shuffle == Shuffle::bits ? "_bits" : shuffle == Shuffle::none ? "_unshuffled" : "";
        ways.push_back({fmt::format("{}_{}{}", name, level, bits),
                        fmt::format("{} {}{}", name, level,
                                    shuffle == Shuffle::bytes  ? ""
                                    : shuffle == Shuffle::bits ? ", bits shuffled"
                                                               : ", not shuffled"),
                        {.codec = codec, .shuffle = shuffle, .level = level}});
    };
    add(Codec::lz4, 5, Shuffle::bytes);
    add(Codec::lz4, 5, Shuffle::bits);
    for (const int level : {1, 3, 5, 8}) add(Codec::zstd, level, Shuffle::bytes);
    add(Codec::zstd, 3, Shuffle::bits);
    add(Codec::zstd, 3, Shuffle::none);
    ways.push_back({"zfp_0", "zfp without loss", {.codec = Codec::zfp}});
    if (options.error > 0)
        ways.push_back(
            {"zfp", fmt::format("zfp, error {:g}", options.error), {.codec = Codec::zfp, .error = options.error}});
    return ways;
}

/// One node file in memory, and the directory for its compressed form.
struct Bench {
    std::vector<std::byte> image;
    format::NodeFile file;
    std::string directory;
    std::uint64_t bytes = 0;  // bytes of the application

    std::string path() const { return directory + "/compressed.h5"; }

    Result<drain::Compressed> compress(drain::CompressionMemory& memory, int in_flight,
                                       std::optional<double> seconds) const {
        const drain::NodeDrain drain{.store = &sys::posix_store(),
                                     .run = directory,
                                     .write = {.in_flight = in_flight},
                                     .direct = false,
                                     .seconds_left = seconds};
        return drain::write_compressed(drain, memory, file, image, path(), path());
    }
};

/// Compresses the same chunks only by the codec, from memory to memory.
Result<double> codec_alone(const Bench& bench, const Way& way, bool decode) {
    const node::CompressionRules rules{way.rule, {}};
    const auto table = format::cut_into_chunks(bench.file, drain::choose_filters(bench.file, rules));
    const drain::Ladder ladder(way.rule);
    std::vector<std::byte> plain, stored(limits::segment_bytes), back(limits::segment_bytes);
    double seconds = 0;
    for (const auto& chunk : table.chunks) {
        const auto& how = table.variables[chunk.variable];
        if (how.filter == 0) continue;
        const codec::Filter filter{how.filter, how.values};
        const auto given = std::span(bench.image).subspan(chunk.plain_offset, chunk.plain_bytes);
        plain.assign(given.begin(), given.end());
        plain.resize(how.chunk_bytes);
        auto start = sys::Clock::now();
        FB_TRY_ASSIGN(size, codec::encode(filter, ladder[0].level, plain, std::span(stored).first(plain.size() - 1)));
        if (!decode) seconds += seconds_since(start);
        if (!decode || size == 0) continue;
        start = sys::Clock::now();
        FB_TRY(codec::decode(filter, std::span(stored).first(size), std::span(back).first(plain.size())));
        seconds += seconds_since(start);
    }
    return seconds;
}

/// Reads and checks the whole compressed file.
Result<double> read_back(const Bench& bench) {
    FB_TRY_ASSIGN(reader, catalog::NodeReader::open(sys::posix_store(), bench.path()));
    FB_TRY_ASSIGN(head, reader.head());
    const catalog::BlockReader blocks(std::move(reader).take_file(), std::move(head), bench.path());
    catalog::BlockReader::Scratch scratch;
    std::vector<std::byte> bytes(limits::verify_window_bytes);
    const auto start = sys::Clock::now();
    const auto segments = format::segments_by_offset(blocks.head());
    for (std::size_t i = 0; i < segments.size();) {
        auto last = i;
        const auto end = [&](std::size_t s) { return segments[s].offset + segments[s].bytes; };
        while (last + 1 < segments.size() && end(last + 1) - segments[i].offset <= bytes.size()) ++last;
        const auto window = std::span(bytes).first(end(last) - segments[i].offset);
        FB_TRY(blocks.read(std::span(segments).subspan(i, last + 1 - i), window, scratch));
        i = last + 1;
    }
    return seconds_since(start);
}

Result<double> measure_way(const Bench& bench, const Way& way, int repeats, BenchReport& report,
                           std::vector<double>& speeds) {
    std::vector<double> packed_s, alone_s, read_s, decode_s;
    double ratio = 0;
    for (int turn = 0; turn <= repeats; ++turn) {
        FB_TRY_ASSIGN(alone, codec_alone(bench, way, false));
        drain::CompressionMemory memory{.rules = {way.rule, {}}};
        const auto start = sys::Clock::now();
        FB_TRY_ASSIGN(compressed, bench.compress(memory, 1, std::nullopt));
        const auto took = seconds_since(start);
        FB_TRY_ASSIGN(read, read_back(bench));
        FB_TRY_ASSIGN(decode, codec_alone(bench, way, true));
        ratio = static_cast<double>(bench.bytes) / static_cast<double>(compressed.stored_bytes);
        if (turn == 0) continue;
        packed_s.push_back(took);
        alone_s.push_back(alone);
        read_s.push_back(read);
        decode_s.push_back(decode);
    }
    report.numbers(way.key + "_ratio", way.what + ": bytes given / bytes stored", "x", {ratio});
    report.seconds(way.key + "_alone", "  the codec alone", alone_s, bench.bytes);
    report.seconds(way.key + "_compress", "  compressing", packed_s, bench.bytes);
    report.seconds(way.key + "_decode_alone", "  decoding alone", decode_s, bench.bytes);
    report.seconds(way.key + "_read", "  reading back, checked", read_s, bench.bytes);
    speeds = ratios_of(alone_s, packed_s);
    return spread_of(speeds).median;
}

/// Measures an agent with a deadline that has drained this stream before.
Result<> measure_deadline(const Bench& bench, const std::string& key, double seconds, int repeats,
                          BenchReport& report) {
    std::vector<double> took;
    double ratio = 0;
    std::string efforts;
    drain::CompressionMemory memory{.rules = {{.codec = Codec::automatic}, {}}};
    for (int turn = 0; turn <= repeats; ++turn) {
        const auto start = sys::Clock::now();
        FB_TRY_ASSIGN(compressed, bench.compress(memory, 1, turn == 0 ? std::nullopt : std::optional(seconds)));
        if (turn == 0) continue;
        took.push_back(seconds_since(start));
        ratio = static_cast<double>(bench.bytes) / static_cast<double>(compressed.stored_bytes);
        efforts.clear();
        for (std::size_t i = 0; i < std::min<std::size_t>(compressed.efforts.size(), 3); ++i)
            efforts += fmt::format("{}{} {:.0f} %", i == 0 ? "" : ", ", compressed.efforts[i].first,
                                   100.0 * static_cast<double>(compressed.efforts[i].second) /
                                       static_cast<double>(compressed.plain_bytes));
    }
    report.seconds(key, fmt::format("auto with {}: {}", show_seconds(seconds), efforts), took, bench.bytes);
    report.numbers(key + "_share", "  of the time it had", "%", [&] {
        auto shares = took;
        for (auto& share : shares) share *= 100 / seconds;
        return shares;
    }());
    report.numbers(key + "_ratio", "  bytes given / bytes stored", "x", {ratio});
    return {};
}

Result<Bench> load(const BenchOptions& options, const std::string& directory) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(reader, catalog::NodeReader::open(store, options.file));
    Bench bench;
    FB_TRY_ASSIGN(head, reader.head());
    bench.file = std::move(head);
    if (bench.file.storage == format::Storage::compressed)
        return Error{ErrorKind::refused, fmt::format("{} is compressed already", options.file), "",
                     "give an uncompressed node file: save once without compression"};
    bench.image.resize(bench.file.file_bytes);
    FB_TRY(reader.file().read(0, bench.image));
    bench.directory = directory;
    for (const auto& extent : bench.file.extents) bench.bytes += extent.used_bytes;
    return bench;
}

Result<> measure(const BenchOptions& options, const std::string& directory) {
    FB_TRY_ASSIGN(bench, load(options, directory));
    BenchReport report("compress");
    report.setting("file", std::filesystem::path(options.file).filename().string());
    report.setting("bytes", bench.bytes);
    std::vector<double> speeds, shown;
    double median = 0;
    for (const auto& way : ways_of(options)) {
        FB_TRY_ASSIGN(speed, measure_way(bench, way, options.repeats, report, speeds));
        if (way.key != "zstd_3") continue;
        median = speed;
        shown = speeds;
    }
    drain::CompressionMemory memory{.rules = {{.codec = Codec::lz4, .level = 5}, {}}};
    const auto start = sys::Clock::now();
    FB_TRY(bench.compress(memory, 1, std::nullopt));
    const auto fast = seconds_since(start);
    FB_TRY(measure_deadline(bench, "tight", fast * 1.3, options.repeats, report));
    FB_TRY(measure_deadline(bench, "middle", fast * 4, options.repeats, report));
    FB_TRY(measure_deadline(bench, "loose", fast * 40, options.repeats, report));
    report.ratio("compressing by zstd 3, with every check, against zstd 3 alone on the same chunks, one thread each",
                 median, speed_goal, shown);
    report.print(options.json);
    return {};
}

}  // namespace

Result<> bench_compress(Ranks& ranks, const BenchOptions& options) {
    Result<> own_result;
    if (ranks.rank() == 0) {
        const auto directory = fmt::format("{}/forebay-bench-compress-{}",
                                           options.staging.empty() ? "/dev/shm" : options.staging, sys::random_u64());
        own_result = sys::posix_store().make_directories(directory);
        if (own_result) own_result = measure(options, directory);
        const auto removed = sys::posix_store().remove_tree(directory);
        if (own_result && !removed) own_result = removed;
    }
    ranks.rest();
    return ranks.agree(own_result);
}

}  // namespace forebay::bench
