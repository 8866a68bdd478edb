#include "path/agent/direct_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "core/base/limits.hpp"
#include "core/base/page_buffer.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"

namespace forebay::agent {

namespace {

// The first write shows how many bytes fit into the time.
constexpr std::uint64_t first_bytes = 1u << 20, each_bytes_max = 8u << 20;
constexpr double each_seconds = 0.5;
// Samples are short and favour the cache: they gave up to 3.5 on a local disk that took whole node files alike both
// ways. Clients that need the cache were 6 times as fast with it.
constexpr double faster_min = 4;

class Measurement {
public:
    Measurement(sys::Store& store, std::string path, const move::WriteOptions& options)
        : store_(store), path_(std::move(path)), options_(options) {}

    Result<DirectChoice> run(std::uint64_t each_bytes) {
        FB_TRY_ASSIGN(past, store_.open(path_, sys::Access::create_direct));
        if (!past->direct()) return DirectChoice{};  // the target refuses direct writes, so drains make none
        FB_TRY_ASSIGN(seen, is_seen(*past));
        if (!seen)
            return DirectChoice{
                false,
                "writes go through the page cache: this host does not read back data that it wrote past the cache"};
        const bool limited = options_.rate_bytes_per_second != 0 || options_.pace != nullptr;
        if (limited || each_bytes < first_bytes) return DirectChoice{};
        FB_TRY_ASSIGN(through, store_.open(path_, sys::Access::update));
        FB_TRY_ASSIGN(choice, faster(*past, *through, std::min(each_bytes, each_bytes_max)));
        FB_TRY(through->close());
        FB_TRY(past->close());
        return choice;
    }

private:
    /// A page that one descriptor has read, and another descriptor then writes past the cache.
    Result<bool> is_seen(sys::File& past) {
        for (const auto value : {std::byte{1}, std::byte{2}}) {
            const auto page = memory_.take(limits::page_bytes);
            std::ranges::fill(page, value);
            FB_TRY(past.write(0, page));
            FB_TRY(past.sync());
            FB_TRY_ASSIGN(reader, store_.open(path_, sys::Access::read));
            std::vector<std::byte> bytes(limits::page_bytes);
            FB_TRY(reader->read(0, bytes));
            if (std::ranges::count(bytes, value) != static_cast<std::ptrdiff_t>(bytes.size())) return false;
        }
        return true;
    }

    Result<DirectChoice> faster(sys::File& past, sys::File& through, std::uint64_t each_bytes) {
        // No zeros: some targets do not store them.
        const auto all = memory_.take(each_bytes);
        std::mt19937_64 dice(1);
        std::ranges::generate(all, [&] { return static_cast<std::byte>(dice()); });
        std::uint64_t end = limits::page_bytes;
        double past_rate = 0, through_rate = 0;
        for (auto bytes = first_bytes; bytes != 0;) {
            FB_TRY_ASSIGN(through_seconds, seconds_of(through, all.first(bytes), end));
            FB_TRY_ASSIGN(past_seconds, seconds_of(past, all.first(bytes), end));
            through_rate = static_cast<double>(bytes) / through_seconds;
            past_rate = static_cast<double>(bytes) / past_seconds;
            const auto next = static_cast<std::uint64_t>(std::min(through_rate, past_rate) * each_seconds);
            const auto rest = std::min(round_down(next, limits::page_bytes), each_bytes - first_bytes);
            bytes = bytes == first_bytes && rest > first_bytes ? rest : 0;
        }
        const bool direct = through_rate < faster_min * past_rate;
        return DirectChoice{direct,
                            fmt::format("writes go {} the page cache: past it {} a second were measured, through it {}",
                                        direct ? "past" : "through", show_rate(past_rate), show_rate(through_rate))};
    }
    static std::string show_rate(double rate) { return show_bytes(static_cast<std::uint64_t>(rate)); }

    /// The time of a write as drains write, and its sync, beginning at `end` of the file.
    Result<double> seconds_of(sys::File& file, std::span<const std::byte> bytes, std::uint64_t& end) {
        auto options = options_;
        const auto share = round_up(bytes.size() / static_cast<std::uint64_t>(options.in_flight), limits::page_bytes);
        options.block_bytes = std::min(options.block_bytes, std::max(share, limits::page_bytes));
        options.gate = nullptr;
        const move::ByteRange range{end, bytes.size(), -static_cast<std::int64_t>(end)};
        const auto begin = sys::Clock::now();
        FB_TRY(move::write_ranges(file, bytes, {&range, 1}, options));
        FB_TRY(file.sync());
        end += bytes.size();
        return std::max(std::chrono::duration<double>(sys::Clock::now() - begin).count(), 1e-6);
    }

    sys::Store& store_;
    const std::string path_;
    const move::WriteOptions& options_;
    PageBuffer memory_;
};

}  // namespace

Result<DirectChoice> choose_direct(sys::Store& store, const std::string& run, const move::WriteOptions& options,
                                   std::uint64_t file_bytes) {
    const auto path = sys::temporary_beside(run + "/direct");
    auto choice = Measurement(store, path, options).run(round_down(file_bytes / 16, limits::page_bytes));
    const auto removed = store.remove(path);
    if (choice && !removed) return removed.error();
    return choice;
}

}  // namespace forebay::agent
