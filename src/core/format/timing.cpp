// A batch in the file: a head of 24 bytes, JSON with the totals of the batch, the timings as in memory. Bytes:
// docs/formats/timings.md.

#include "core/format/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/show_text.hpp"
#include "core/format/json_read.hpp"
#include "core/format/json_text.hpp"

namespace forebay::format {

namespace {

constexpr std::uint64_t timings_magic = 0x3153454D49544246ull;  // "FBTIMES1"
constexpr std::uint64_t timings_version = 1;
constexpr std::size_t batch_head_bytes = 24, sum_offset = 20;  // the 4 bytes before it are reserved
// Names of hosts and targets are short, and a sentence is one line. Targets are left out until a thousand timings have
// room.
constexpr std::size_t name_bytes_max = 128, sentence_bytes_max = 512, sentences_max = 8, targets_max = 256;
constexpr std::size_t text_bytes_max = 40u << 10;

std::string cut(const std::string& text, std::size_t bytes_max) {
    auto shown = json::is_text(text) ? text : show_text(text);
    if (shown.size() <= bytes_max) return shown;
    shown.resize(bytes_max);
    while (!shown.empty() && !json::is_text(shown)) shown.pop_back();
    return shown;
}

// Visits every text and number of a batch once, for the writer and the reader.
template <class Batch, class Visit>
void each_member(Batch& batch, Visit&& visit) {
    visit("host", batch.host);
    visit("virtual_node", batch.virtual_node);
    visit("agent", batch.agent);
    visit("stream", batch.stream);
    visit("step", batch.step);
    visit("snapshot_id", batch.snapshot_id);
    visit("session", batch.session);
    visit("node", batch.node);
    visit("nodes", batch.nodes);
    visit("node_ranks", batch.node_ranks);
    visit("ranks", batch.ranks);
    visit("outcome", batch.outcome);
    visit("bytes", batch.bytes);
    visit("stored_bytes", batch.stored_bytes);
    visit("saved_unix_ns", batch.saved_unix_ns);
    visit("sealed_unix_ns", batch.sealed_unix_ns);
    visit("drain_unix_ns", batch.drain_unix_ns);
    visit("drained_unix_ns", batch.drained_unix_ns);
    visit("ended_unix_ns", batch.ended_unix_ns);
    visit("blocked_seconds", batch.blocked_seconds);
    visit("wait_seconds", batch.wait_seconds);
    visit("plan_seconds", batch.plan_seconds);
    visit("copy_seconds", batch.copy_seconds);
    visit("blocked_copy_seconds", batch.blocked_parts.copy_seconds);
    visit("blocked_layout_seconds", batch.blocked_parts.layout_seconds);
    visit("blocked_ranks_seconds", batch.blocked_parts.ranks_seconds);
    visit("blocked_slot_seconds", batch.blocked_parts.slot_seconds);
    visit("missing_ranks", batch.missing_ranks);
    visit("drain_seconds", batch.drain_seconds);
    visit("drain_cpu_seconds", batch.drain_cpu_seconds);
    visit("sync_seconds", batch.sync_seconds);
    visit("commit_seconds", batch.commit_seconds);
    visit("retry_seconds", batch.retry_seconds);
    visit("retries", batch.retries);
    visit("rate_limit_bytes_per_second", batch.rate_limit_bytes_per_second);
    visit("slots", batch.slots);
    visit("interval_seconds", batch.interval_seconds);
    visit("waited_for_step", batch.waited_for_step);
    visit("slowdown_percent", batch.slowdown_percent);
    visit("slowdown_low_percent", batch.slowdown_low_percent);
    visit("slowdown_high_percent", batch.slowdown_high_percent);
    visit("slowdown_steps", batch.slowdown_steps);
    visit("file", batch.file);
    visit("unkept_saves", batch.unkept_saves);
    visit("unkept_seconds", batch.unkept_seconds);
    visit("dropped", batch.dropped);
    visit("targets_left_out", batch.targets_left_out);
}

template <class Target, class Visit>
void each_target_member(Target& target, Visit&& visit) {
    visit("name", target.name);
    visit("bytes", target.bytes);
    visit("busy_seconds", target.busy_seconds);
    visit("writes", target.writes);
    visit("first_unix_ns", target.first_unix_ns);
    visit("last_unix_ns", target.last_unix_ns);
}

class MemberWriter {
public:
    explicit MemberWriter(std::string& out) : out_(out) {}
    template <class T>
    void operator()(const char* name, const T& value) {
        out_ += std::exchange(first_, false) ? "\"" : ",\"";
        out_ += name;
        out_ += "\":";
        if constexpr (std::is_same_v<T, std::string>) json::put_text(out_, cut(value, name_bytes_max));
        else if constexpr (std::is_floating_point_v<T>) json::put_f64(out_, value);
        else if constexpr (std::is_signed_v<T>) json::put_i64(out_, value);
        else json::put_u64(out_, value);
    }

private:
    std::string& out_;
    bool first_ = true;
};

// An absent member keeps its value, because a later version may omit it. A wrong member makes the whole batch wrong.
class MemberReader {
public:
    explicit MemberReader(json::Value from) : from_(from) {}
    template <class T>
    void operator()(const char* name, T& value) {
        const auto member = from_.member(name);
        if (member.exists()) good_ = take(member, value) && good_;
    }
    bool good() const { return good_; }

private:
    static bool take(json::Value member, std::string& value) { return take_as(member.text(), value); }
    static bool take(json::Value member, double& value) {
        const auto number = member.f64();
        return number && *number - *number == 0 && take_as(number, value);  // false for infinity and NaN
    }
    static bool take(json::Value member, std::int64_t& value) { return take_as(member.i64(), value); }
    static bool take(json::Value member, std::uint64_t& value) { return take_as(member.u64(), value); }
    static bool take(json::Value member, std::uint32_t& value) { return take_as(member.u64(UINT32_MAX), value); }
    template <class From, class To>
    static bool take_as(const std::optional<From>& from, To& to) {
        if (from) to = static_cast<To>(*from);
        return from.has_value();
    }
    json::Value from_;
    bool good_ = true;
};

std::string text_of(const TimingBatch& batch) {
    auto text = fmt::format("{{\"forebay\":\"timings\",\"version\":{},", timings_version);
    each_member(batch, MemberWriter(text));
    if (batch.agent_began_unix_ns > 0) text += fmt::format(",\"agent_began_unix_ns\":{}", batch.agent_began_unix_ns);
    text += ",\"targets\":[";
    for (std::size_t i = 0; i < batch.targets.size(); ++i) {
        text += i == 0 ? "{" : ",{";
        each_target_member(batch.targets[i], MemberWriter(text));
        text += "}";
    }
    text += "],\"why\":[";
    for (std::size_t i = 0; i < std::min(batch.why.size(), sentences_max); ++i) {
        if (i > 0) text += ",";
        json::put_text(text, cut(batch.why[i], sentence_bytes_max));
    }
    return text + "]}";
}

bool read_targets(json::Value from, TimingBatch& batch) {
    const auto count = from.list();
    if (!count) return !from.exists();
    for (std::size_t i = 0; i < *count; ++i) {
        MemberReader reader(from.entry(i));
        each_target_member(batch.targets.emplace_back(), reader);
        if (!reader.good()) return false;
    }
    return true;
}

bool read_why(json::Value from, TimingBatch& batch) {
    const auto count = from.list();
    if (!count) return !from.exists();
    for (std::size_t i = 0; i < *count; ++i) {
        auto sentence = from.entry(i).text();
        if (!sentence) return false;
        batch.why.push_back(std::move(*sentence));
    }
    return true;
}

// Replaces infinity and NaN by 0: readers would reject the whole batch.
void make_finite(TimingBatch& batch) {
    const auto finite = [](const char*, auto& value) {
        if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(value)>>)
            if (!(value - value == 0)) value = 0;
    };
    each_member(batch, finite);
    for (auto& target : batch.targets) each_target_member(target, finite);
}

// Keeps the slowest targets, because readers look for them.
void leave_out_targets(TimingBatch& batch, std::size_t most) {
    const auto seconds_a_byte = [](const TimingTarget& target) {
        return target.busy_seconds / static_cast<double>(std::max<std::uint64_t>(target.bytes, 1));
    };
    if (batch.targets.size() <= most) return;
    std::vector<std::size_t> order(batch.targets.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(
        order, [&](auto a, auto b) { return seconds_a_byte(batch.targets[a]) > seconds_a_byte(batch.targets[b]); });
    std::vector<TimingTarget> kept;
    std::map<std::uint16_t, std::uint16_t> places;
    for (std::size_t i = 0; i < most; ++i) {
        places[static_cast<std::uint16_t>(order[i])] = static_cast<std::uint16_t>(i);
        kept.push_back(batch.targets[order[i]]);
    }
    batch.targets_left_out += batch.targets.size() - kept.size();
    batch.targets = std::move(kept);
    for (auto& timing : batch.timings) {
        const auto place = places.find(timing.target);
        timing.target = place == places.end() ? no_target : place->second;
    }
}

std::uint32_t merged_in(const Timing& timing) { return (timing.flags >> timing_merged_shift) & timing_merged_max; }

Timing join(const Timing& a, const Timing& b) {
    const auto begin = std::min(a.start_unix_ns, b.start_unix_ns), end = std::max(a.end_unix_ns(), b.end_unix_ns());
    const auto merged = std::min<std::uint32_t>(merged_in(a) + merged_in(b) + 1, timing_merged_max);
    auto both = a;
    both.start_unix_ns = begin;
    both.duration_us = static_cast<std::uint32_t>(std::min<std::uint64_t>((end - begin) / 1000, UINT32_MAX));
    both.kib = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{a.kib} + b.kib, UINT32_MAX));
    both.flags = ((a.flags | b.flags) & timing_failed) | merged << timing_merged_shift | (a.flags & timing_source_mask);
    return both;
}

// Joins each write with the next write at the same target, so about half of them stay. Returns false if none was
// joined.
bool join_writes(std::vector<Timing>& timings) {
    std::vector<Timing> joined;
    std::map<std::uint16_t, std::size_t> open;  // for each target, the write that waits for a partner
    for (const auto& timing : timings) {
        const bool is_write = timing.kind == static_cast<std::uint16_t>(TimingKind::write);
        const auto waiting = is_write ? open.find(timing.target) : open.end();
        if (waiting != open.end()) {
            joined[waiting->second] = join(joined[waiting->second], timing);
            open.erase(waiting);
            continue;
        }
        if (is_write) open[timing.target] = joined.size();
        joined.push_back(timing);
    }
    const bool any = joined.size() < timings.size();
    timings = std::move(joined);
    return any;
}

// For nodes with hundreds of ranks: drops the shortest parts of their saves first. The saves, the drain and the commit
// stay.
void leave_out_short_parts(TimingBatch& batch, std::size_t most) {
    if (batch.timings.size() <= most) return;
    std::vector<std::size_t> parts;
    for (std::size_t i = 0; i < batch.timings.size(); ++i) {
        const auto kind = batch.timings[i].kind;
        if (kind >= static_cast<std::uint16_t>(TimingKind::wait) &&
            kind <= static_cast<std::uint16_t>(TimingKind::agree))
            parts.push_back(i);
    }
    std::ranges::stable_sort(parts, {}, [&](std::size_t i) { return batch.timings[i].duration_us; });
    parts.resize(std::min(parts.size(), batch.timings.size() - most));
    std::ranges::sort(parts, std::ranges::greater());
    for (const auto i : parts) batch.timings.erase(batch.timings.begin() + static_cast<std::ptrdiff_t>(i));
    batch.dropped += parts.size();
}

std::optional<TimingBatch> batch_from(std::string_view text) {
    const auto document = json::Document::parse(text);
    if (!document || document->root().member("forebay").text() != "timings" ||
        document->root().member("version").u64() != timings_version)
        return {};
    TimingBatch batch;
    MemberReader reader(document->root());
    each_member(batch, reader);
    reader("agent_began_unix_ns", batch.agent_began_unix_ns);
    if (!reader.good() || !read_targets(document->root().member("targets"), batch) ||
        !read_why(document->root().member("why"), batch))
        return {};
    return batch;
}

std::uint32_t sum_of(std::span<const std::byte> batch) {
    return crc32c(batch.subspan(batch_head_bytes), crc32c(batch.first(sum_offset)));
}

// Returns the bytes of the valid batch at the begin of `file`, or 0.
std::size_t whole_batch(std::span<const std::byte> file) {
    if (file.size() < batch_head_bytes || load_le<std::uint64_t>(file.data()) != timings_magic) return 0;
    const std::size_t text_bytes = load_le<std::uint32_t>(file.data() + 8);
    const std::size_t timings = load_le<std::uint32_t>(file.data() + 12);
    // Sizes come from the file, so they are checked before use.
    if (text_bytes > timing_batch_bytes_max || timings > timing_batch_bytes_max / sizeof(Timing)) return 0;
    const auto bytes = batch_head_bytes + text_bytes + timings * sizeof(Timing);
    if (bytes > timing_batch_bytes_max || bytes > file.size()) return 0;
    return sum_of(file.first(bytes)) == load_le<std::uint32_t>(file.data() + sum_offset) ? bytes : 0;
}

}  // namespace

const char* name_of(TimingKind kind) {
    switch (kind) {
        case TimingKind::save: return "save";
        case TimingKind::wait: return "wait";
        case TimingKind::plan: return "plan";
        case TimingKind::copy: return "copy";
        case TimingKind::agree: return "agree";
        case TimingKind::drain: return "drain";
        case TimingKind::write: return "write";
        case TimingKind::sync: return "sync";
        case TimingKind::commit: return "commit";
        case TimingKind::retention: return "retention";
        case TimingKind::view: return "view";
        case TimingKind::retry: return "retry";
        case TimingKind::analysis: return "analysis";
    }
    return "";
}

std::vector<std::byte> encode(TimingBatch batch) {
    make_finite(batch);
    std::ranges::stable_sort(batch.timings, {}, &Timing::start_unix_ns);
    leave_out_targets(batch, targets_max);
    const auto room = [](const std::string& text) {
        return (timing_batch_bytes_max - batch_head_bytes - text.size()) / sizeof(Timing);
    };
    auto text = text_of(batch);
    // The timings need the rest of the room.
    for (; text.size() > text_bytes_max; text = text_of(batch)) leave_out_targets(batch, batch.targets.size() / 2);
    while (batch.timings.size() > room(text) && join_writes(batch.timings)) {
    }
    leave_out_short_parts(batch, room(text) - 1);
    if (const auto most = room(text); batch.timings.size() >= most) {
        batch.dropped += batch.timings.size() - most + 1;  // one less, because `dropped` may need a digit more
        batch.timings.resize(most - 1);
        text = text_of(batch);
    }
    std::vector<std::byte> out(batch_head_bytes + text.size() + batch.timings.size() * sizeof(Timing));
    store_le(out.data(), timings_magic);
    store_le(out.data() + 8, static_cast<std::uint32_t>(text.size()));
    store_le(out.data() + 12, static_cast<std::uint32_t>(batch.timings.size()));
    std::memcpy(out.data() + batch_head_bytes, text.data(), text.size());
    if (!batch.timings.empty())
        std::memcpy(out.data() + batch_head_bytes + text.size(), batch.timings.data(),
                    batch.timings.size() * sizeof(Timing));
    store_le(out.data() + sum_offset, sum_of(out));
    return out;
}

TimingBatches decode_timings(std::span<const std::byte> file, bool with_timings) {
    TimingBatches timings;
    for (std::size_t at = 0; at < file.size();) {
        const auto rest = file.subspan(at);
        const auto bytes = whole_batch(rest);
        auto batch =
            bytes == 0
                ? std::nullopt
                : batch_from(forebay::text_of(rest.subspan(batch_head_bytes, load_le<std::uint32_t>(rest.data() + 8))));
        if (!batch) {
            // Skips to the next possible magic number.
            const auto text = forebay::text_of(rest);
            const auto next = text.find(std::string_view("FBTIMES1"), 1);
            const auto skipped = next == std::string_view::npos ? rest.size() : next;
            timings.damaged_bytes += skipped;
            at += skipped;
            continue;
        }
        const auto count = with_timings ? load_le<std::uint32_t>(rest.data() + 12) : 0;
        batch->timings.resize(count);
        if (count > 0)
            std::memcpy(batch->timings.data(), rest.data() + bytes - count * sizeof(Timing), count * sizeof(Timing));
        timings.batches.push_back(std::move(*batch));
        at += bytes;
    }
    return timings;
}

}  // namespace forebay::format
