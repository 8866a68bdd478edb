// The knobs for `forebay tune` on this system: abilities of target, node and job.

#include <fmt/format.h>

#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "bench/tune_trial.hpp"
#include "core/base/limits.hpp"
#include "core/base/page_buffer.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/codec/codec.hpp"
#include "core/describe/storage_targets.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/terminal/advice_file.hpp"

namespace forebay::bench {

namespace {

constexpr std::uint64_t mib = 1u << 20;
constexpr std::uint64_t stripes_max = 144;
constexpr std::uint64_t advice_bytes_max = 4u << 20;
constexpr std::chrono::seconds lfs_max{20};

// Powers of two up to `most`, as words.
std::vector<std::string> doublings(std::uint64_t first, std::uint64_t most, std::uint64_t factor = 2) {
    std::vector<std::string> words;
    for (auto number = first; number <= most; number *= factor) words.push_back(fmt::to_string(number));
    return words;
}

// Numbers as words, without duplicates, by size.
std::vector<std::string> with(std::vector<std::string> words, const std::string& more) {
    words.push_back(more);
    std::ranges::sort(words, {}, [](const std::string& word) { return std::pair(word.size(), word); });
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
}

std::string mpi_name() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string all(text, static_cast<std::size_t>(length));
    return all.substr(0, all.find_first_of(",\n"));
}

// Numbers and names, or a file: preflight.json, or exclude.targets with a name in each line.
Result<std::vector<std::uint64_t>> excluded(const std::string& given) {
    std::string names = given;
    const auto there = sys::posix_store().exists(given);
    if (given == "-" || (!given.empty() && there && *there)) {
        FB_TRY_ASSIGN(text, cli::input_text("--exclude", given, advice_bytes_max, "--exclude 14,27"));
        names = text;
        if (names.starts_with('{')) {
            FB_TRY_ASSIGN(advice, format::decode_advice(names, cli::input_name(given)));
            names = fmt::format("{}", fmt::join(advice.excluded_targets, ","));
        }
    }
    FB_TRY_ASSIGN(targets, describe::parse_storage_targets(names, "--exclude"));
    return std::vector<std::uint64_t>(targets.begin(), targets.end());
}

// `lfs osts` prints a line for each: "3: scratch-OST0003_UUID ACTIVE".
std::vector<std::uint64_t> active_targets(const std::string& text) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
        const auto line = std::string_view(text).substr(at, text.find('\n', at) - at);
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
        if (error == std::errc{} && line.ends_with(" ACTIVE")) numbers.push_back(number);
    }
    return numbers;
}

// Tests the abilities of the target with a file that is removed again.
Result<TargetFacts> look_at_target(const BenchPlace& place, const TuneOptions& options) {
    TargetFacts facts;
    auto& store = sys::posix_store();
    const auto path = place.at_target("probe");
    {
        FB_TRY_ASSIGN(file, store.open(path, sys::Access::create_direct));
        PageBuffer memory;
        const auto page = memory.take(limits::page_bytes);
        std::ranges::fill(page, std::byte{1});
        FB_TRY(file->write(0, page));
        FB_TRY(file->sync());
        facts.direct = file->direct();
        const auto map = file->stripes();
        facts.stripes = !map.empty();
        facts.site_stripes = fmt::to_string(map.last().targets.size());
        facts.site_stripe_bytes = fmt::to_string(map.last().stripe_bytes);
        FB_TRY(file->close());
    }
    FB_TRY(store.remove(path));
    FB_TRY_ASSIGN(without, excluded(options.exclude));
    if (!facts.stripes) return facts;
    const auto text = sys::output_of({options.lfs, "osts", place.run()}, lfs_max);
    if (!text) {
        facts.note = fmt::format("stripes are unchanged: {}", text.error().what);
        facts.stripes = false;
        return facts;
    }
    const auto all = active_targets(*text);
    for (const auto number : all) {
        if (std::ranges::find(without, number) != without.end()) continue;
        facts.targets += fmt::format("{}{}", facts.targets.empty() ? "" : ",", number);
        ++facts.count;
    }
    if (facts.count == all.size()) facts.targets.clear();
    return facts;
}

}  // namespace

std::vector<std::string> stripe_command(const std::string& lfs, const TargetFacts& facts, const std::string& count,
                                        const std::string& bytes, const std::string& directory) {
    // The site's layout may have several stretches, which two numbers cannot express.
    if (count == facts.site_stripes && bytes == facts.site_stripe_bytes) return {lfs, "setstripe", "-d", directory};
    std::vector<std::string> command{lfs, "setstripe", "-c", count, "-S", bytes};
    // A list of as many targets as stripes puts each file on all of them. With fewer stripes all files would lie on the
    // same targets.
    if (!facts.targets.empty() && count == fmt::to_string(facts.count))
        command.insert(command.end(), {"-o", facts.targets});
    command.push_back(directory);
    return command;
}

Result<> TuneTrials::look() {
    const auto size = static_cast<std::uint64_t>(ranks_.size()),
               machine = static_cast<std::uint64_t>(ranks_.node().size());
    kind_ = {.cluster = telemetry::cluster_name(),
             .file_system = {},
             .targets = 0,
             .mpi = mpi_name(),
             .nodes = std::max<std::uint64_t>(1, size / machine),
             .ranks_per_node = machine,
             .bytes_per_rank = options_.bytes_per_rank,
             .interval_seconds = options_.interval_seconds,
             .durable = options_.durable};
    node_bytes_ = options_.bytes_per_rank * machine;
    const auto staging = places_[0].on_node("");
    // A setting without room for its slot would fail each time.
    FB_TRY(ranks_.agree([&]() -> Result<> {
        FB_TRY_ASSIGN(room, sys::free_bytes(staging));
        if (room > node_bytes_ + node_bytes_ / 16 + reference_.bytes().size()) return {};
        return Error{ErrorKind::full,
                     fmt::format("a slot of {} does not fit: {} has {} free", show_bytes(node_bytes_), staging,
                                 show_bytes(room)),
                     "", "use a smaller --bytes-per-rank, or another --staging"};
    }()));
    FB_TRY(ranks_.agree([&]() -> Result<> {
        if (ranks_.rank() != 0) return {};
        FB_TRY_ASSIGN(file_system, sys::file_system_kind(places_[0].run()));
        kind_.file_system = file_system;
        FB_TRY_ASSIGN(facts, look_at_target(places_[0], options_));
        facts_ = facts;
        return {};
    }()));
    const auto from_first = [&](auto number) {
        return static_cast<std::uint64_t>(ranks_.max(static_cast<double>(number)));
    };
    kind_.file_system = ranks_.broadcast(kind_.file_system);
    facts_.targets = ranks_.broadcast(facts_.targets);
    facts_.note = ranks_.broadcast(facts_.note);
    facts_.site_stripes = ranks_.broadcast(facts_.site_stripes);
    facts_.site_stripe_bytes = ranks_.broadcast(facts_.site_stripe_bytes);
    facts_.direct = from_first(facts_.direct) != 0;
    facts_.stripes = from_first(facts_.stripes) != 0;
    kind_.targets = facts_.count = from_first(facts_.count);
    facts_.huge_pages = from_first(sys::page_bytes_of(staging) > limits::page_bytes) != 0;
    return {};
}

void TuneTrials::find_knobs() {
    std::vector<std::string> files{"own"};
    for (const auto& nodes : doublings(2, std::min<std::uint64_t>(kind_.nodes, 64), 4))
        files.push_back("combined:" + nodes);
    if (kind_.ranks_per_node * kind_.nodes > 1) files.emplace_back("shared");
    const auto add = [&](const std::string& name, std::vector<std::string> values, const std::string& by_default,
                         bool ordered = true) {
        const auto at = std::ranges::find(values, by_default);
        if (values.size() < 2 || at == values.end()) return;
        const auto index = static_cast<std::size_t>(at - values.begin());
        knobs_.push_back({name, std::move(values), index, ordered});
    };
    add("stream.file", std::move(files), "own", false);
    add("agent.block_bytes", doublings(mib, std::clamp(node_bytes_, 64 * mib, 256 * mib), 4), "16777216");
    add("agent.in_flight", doublings(1, 16), "4");
    if (facts_.direct) add("agent.direct", {"true", "false"}, "true", false);
    const auto cpus = static_cast<std::uint64_t>(ranks_.min(sys::cpus_allowed()));
    auto threads = doublings(1, std::min<std::uint64_t>(cpus, 16));
    if (cpus > 1) threads.insert(threads.begin(), "auto");
    add("copy_threads", std::move(threads), "auto");
    auto parts = doublings(1, std::min<std::uint64_t>(kind_.ranks_per_node, 8));
    add("virtual_nodes", std::move(parts), "1");
    if (facts_.huge_pages) add("huge_pages", {"true", "false"}, "true", false);
    if (options_.compressible > 1 && codec::has_blosc())
        add("stream.compression.codec", {"none", "lz4", "zstd", "auto"}, "none", false);
    if (facts_.stripes) {
        const auto most = std::min(facts_.count, stripes_max);
        auto counts = doublings(1, most, 4);
        counts.push_back(fmt::to_string(most));
        add("stripe_count", with(std::move(counts), facts_.site_stripes), facts_.site_stripes);
        add("stripe_bytes", with(doublings(mib, 64 * mib, 4), facts_.site_stripe_bytes), facts_.site_stripe_bytes);
    }
    if (options_.runs.size() > 1) add("run", options_.runs, options_.runs.front(), false);
}

}  // namespace forebay::bench
