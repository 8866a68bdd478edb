// bench/status: the status writers of a job of many nodes, in one process: each is the agent's own, on a thread of its
// own, at the pace of so many nodes, and writes a file of its own. They share one page: what a status says is not
// measured, but files, bytes and memory are.
//
//   status_bench RUN STAGING NODES SECONDS     prints one line of JSON

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "path/agent/status_writer.hpp"
#include "path/catalog/run.hpp"
#include "core/sys/clock.hpp"

using namespace forebay;

namespace {

/// Counts opens and bytes, of each second since it was made.
class CountingStore final : public sys::Store {
public:
    explicit CountingStore(std::size_t seconds) : opens(seconds) {}

    Result<std::unique_ptr<sys::File>> open(const std::string& path, sys::Access access) override {
        const auto second = std::chrono::duration_cast<std::chrono::seconds>(sys::Clock::now() - begin).count();
        ++opens[std::min(static_cast<std::size_t>(second), opens.size() - 1)];
        return store.open(path, access);
    }
    Result<> make_directories(const std::string& path) override { return store.make_directories(path); }
    Result<> make_directory(const std::string& path) override { return store.make_directory(path); }
    Result<> rename(const std::string& from, const std::string& to) override { return store.rename(from, to); }
    Result<> remove(const std::string& path) override { return store.remove(path); }
    Result<> remove_tree(const std::string& path) override { return store.remove_tree(path); }
    Result<> sync_directory(const std::string& path) override { return store.sync_directory(path); }
    Result<std::vector<sys::Entry>> list(const std::string& path) override { return store.list(path); }
    Result<bool> exists(const std::string& path) override {
        ++looks;
        return store.exists(path);
    }

    const sys::Clock::time_point begin = sys::Clock::now();
    std::vector<std::atomic<std::uint64_t>> opens;
    std::atomic<std::uint64_t> looks{0};
    sys::Store& store = sys::posix_store();
};

std::uint64_t resident_bytes() {
    std::uint64_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * 4096;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int measure(const std::string& run, const std::string& directory, std::uint32_t nodes, int seconds) {
    const auto id = catalog::make_identity(sys::posix_store(), run).value();
    const node::SessionFile session{.run = run, .run_id = id, .host = "here", .process = 1, .agent = {}};
    auto staging = node::Staging::create(node::LockedDirectory::lock(directory, run).value(), session, {}).value();
    staging.add_stream("restart", {.slots = 2}).value();
    staging.control().session = 1;
    staging.control().nodes = nodes;
    const auto store = std::make_shared<CountingStore>(static_cast<std::size_t>(seconds) + 1);
    std::atomic<std::uint64_t> untold{0};
    const auto tell = [&](const agent::Event&) { ++untold; };
    const auto before = resident_bytes();
    const auto cpu_before = cpu_seconds();
    std::vector<std::unique_ptr<agent::StatusWriter>> writers;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        agent::StatusOf of{
            .file = {.run = run, .run_id = id, .host = fmt::format("nid{:05}", node), .virtual_node = "0"},
            .agent = "process"};
        writers.push_back(std::make_unique<agent::StatusWriter>(store, staging, std::move(of), tell));
    }
    std::this_thread::sleep_for(std::chrono::seconds(seconds) - (sys::Clock::now() - store->begin));
    const auto resident = resident_bytes();
    const auto cpu = cpu_seconds() - cpu_before;
    std::uint64_t files = 0, most = 0;
    for (int second = 0; second < seconds; ++second) {
        files += store->opens[static_cast<std::size_t>(second)];
        most = std::max<std::uint64_t>(most, store->opens[static_cast<std::size_t>(second)]);
    }
    const auto looks = store->looks.load();
    const auto ending = sys::Clock::now();
    for (auto& writer : writers) writer->end("ended");
    const double end_seconds = std::chrono::duration<double>(sys::Clock::now() - ending).count();
    writers.clear();
    fmt::print(R"({{"nodes": {}, "seconds": {}, "files": {}, "most_in_a_second": {}, "looks": {}, "not_written": {}, )"
               R"("memory_bytes": {}, "cpu_seconds": {}, "end_seconds": {}, "period_seconds": {}}})"
               "\n",
               nodes, seconds, files, most, looks, untold.load(), (resident - before) / nodes, cpu, end_seconds,
               std::chrono::duration<double>(agent::StatusPace().period(nodes)).count());
    return untold == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) return std::fputs("usage: status_bench RUN STAGING NODES SECONDS\n", stderr), 2;
    try {
        return measure(arguments[1], arguments[2], static_cast<std::uint32_t>(std::atoi(arguments[3])),
                       std::atoi(arguments[4]));
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}
