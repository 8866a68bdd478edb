// Makes the timings of a run for the scripts beside: make_timings RUN KIND [NODES]
//
// KIND "plain": 4 writers at once on each node, node 1 slow. "hostile": names with markup, line feeds and escapes of
// terminals, and clocks that jump back in the middle of saves. It prints one line of JSON for each node:
// {"node": N, "batches": N, "kinds": {TEXT: N}, "kib_written": N}.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "support/made_chronicle.hpp"

using namespace forebay;
using format::TimingKind;

namespace {

constexpr std::size_t writers = 4;

// The writes of a batch were one after the other. Now four run at once, each at a quarter of the rate.
void write_at_once(format::TimingBatch& batch) {
    std::size_t number = 0;
    for (auto& timing : batch.timings) {
        if (timing.kind != static_cast<std::uint16_t>(TimingKind::write)) continue;
        const auto lane = number++ % writers;
        timing.start_unix_ns -= std::uint64_t{timing.duration_us} * 1000 * lane;
        timing.start_unix_ns = std::max(timing.start_unix_ns, static_cast<std::uint64_t>(batch.drain_unix_ns));
        timing.duration_us = std::max(timing.duration_us, 1u) * writers;
    }
}

void make_hostile(format::TimingBatch& batch, std::size_t number) {
    constexpr std::int64_t jump_ns = 130'300'000'000;
    batch.host = "<b>nid\x1b[31m\n" + batch.host;
    batch.stream = "re<script>\"'\xff\n\x1b]0;x\a";
    batch.outcome = "failed\n<img>";
    batch.why = {"late\x1b[2J </script>", "and\nagain"};
    for (auto& target : batch.targets) target.name = "OST\n<i>";
    if (number % 3 != 1) return;
    batch.saved_unix_ns -= jump_ns;
    batch.sealed_unix_ns -= jump_ns;
    std::size_t count = 0;
    for (auto& timing : batch.timings)
        if (++count % 2 == 0) timing.start_unix_ns -= jump_ns;
    batch.timings[0].start_unix_ns = 0;
    batch.timings[1].start_unix_ns = ~std::uint64_t{0};
    batch.timings[2].duration_us = ~std::uint32_t{0};
    batch.timings[3].kind = 999;
    batch.timings[4].target = 77;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string kind = count > 2 ? arguments[2] : "";
    if (count < 3 || count > 4 || (kind != "plain" && kind != "hostile"))
        return std::fputs("usage: make_timings RUN plain|hostile [NODES]\n", stderr), 2;
    test::MadeRun run{.nodes = count > 3 ? static_cast<std::uint32_t>(std::atoi(arguments[3])) : 4,
                      .snapshots = 5,
                      .targets = 6,
                      .slow_node = 1};
    run.node_bytes = 128u << 20;
    run.write_bytes = 4u << 20;
    auto chronicle = test::made_chronicle(run);
    std::size_t number = 0;
    for (auto& batch : chronicle.batches) {
        write_at_once(batch);
        if (kind == "hostile") make_hostile(batch, number++);
    }
    // Only written timings count, because encode() merges the rest.
    std::map<std::string, std::map<std::string, std::uint64_t>> kinds;
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sums;
    std::uint64_t file = 0;
    for (auto& batch : chronicle.batches) {
        const auto bytes = format::encode(batch);
        const auto read = format::decode_timings(bytes);
        const auto& kept = read.batches.at(0);
        auto& [batches, kib] = sums[batch.host];
        ++batches;
        for (const auto& timing : kept.timings) {
            ++kinds[batch.host][format::name_of(static_cast<TimingKind>(timing.kind))];
            if (timing.kind == static_cast<std::uint16_t>(TimingKind::write)) kib += timing.kib;
        }
    }
    for (auto& [host, counts] : kinds) {
        std::printf("{\"node\": %llu, \"batches\": %llu, \"kib_written\": %llu, \"kinds\": {",
                    static_cast<unsigned long long>(file++), static_cast<unsigned long long>(sums[host].first),
                    static_cast<unsigned long long>(sums[host].second));
        const char* comma = "";
        for (const auto& [name, times] : counts) {
            std::printf("%s\"%s\": %llu", comma, name.c_str(), static_cast<unsigned long long>(times));
            comma = ", ";
        }
        std::puts("}}");
    }
    if (kind == "hostile") {  // a name of a file is no text of the batch
        std::map<std::string, std::string> names;
        for (const auto& batch : chronicle.batches) names.try_emplace(batch.host, std::to_string(names.size()));
        std::filesystem::create_directories(std::string(arguments[1]) + "/forebay");
        for (const auto& batch : chronicle.batches) {
            const auto bytes = format::encode(batch);
            std::ofstream(std::string(arguments[1]) + "/forebay/timings-host" + names[batch.host] + "-0.bin",
                          std::ios::binary | std::ios::app)
                .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        }
    } else {
        test::write_chronicle(chronicle, arguments[1]);
    }
    return 0;
}
