// Perfetto's TrackEvent messages (protos/perfetto/trace/trace_packet.proto and its includes). A repeated name is
// written once and then used by its number (InternedData).

#include <algorithm>
#include <map>

#include "core/base/show_text.hpp"
#include "insight/report/protobuf.hpp"
#include "insight/report/trace_sink.hpp"

namespace forebay::report {

namespace {

constexpr std::uint32_t trace_packet = 1;
namespace packet {
constexpr std::uint32_t clock_snapshot = 6, timestamp = 8, sequence = 10, track_event = 11, interned = 12, flags = 13,
                        track_descriptor = 60;
}
namespace event {
constexpr std::uint32_t category = 3, annotation = 4, type = 9, name_number = 10, track = 11, name = 23,
                        double_value = 44;
}
namespace annotation {
constexpr std::uint32_t name_number = 1, boolean = 2, unsigned_number = 3, signed_number = 4, text = 6,
                        text_number = 17;
}
namespace descriptor {
constexpr std::uint32_t track = 1, name = 2, process = 3, parent = 5, counter = 8, ordering = 11, rank = 12;
}
constexpr std::uint64_t slice_begin = 1, slice_end = 2, counter_value = 4, explicit_order = 3;
constexpr std::uint64_t state_cleared = 1, needs_state = 2;
constexpr std::uint64_t clock_realtime = 1, clock_boottime = 6;  // the clock of timestamps is boottime
constexpr std::uint64_t only_sequence = 1;
// The limit of the tables. Further names are written in full each time, so memory stays bounded.
constexpr std::size_t names_max = 4096;

class PerfettoSink : public TraceSink {
public:
    explicit PerfettoSink(std::uint64_t origin_unix_ns) : origin_unix_ns_(origin_unix_ns) {}

    void head(std::string& out) override {
        // Both clocks read the origin, so timestamps are shown as real time.
        const auto clock = [&](std::uint64_t number) {
            return ProtoMessage().number(1, number).number(2, origin_unix_ns_);
        };
        put(out, ProtoMessage()
                     .message(packet::clock_snapshot,
                              ProtoMessage().message(1, clock(clock_boottime)).message(1, clock(clock_realtime)))
                     .number(packet::sequence, only_sequence)
                     .number(packet::flags, state_cleared));
    }

    void process(std::string& out, std::uint32_t number, const std::string& name) override {
        const auto shown = show_text(name);
        describe(out, ProtoMessage()
                          .number(descriptor::track, track_of(number))
                          .text(descriptor::name, shown)
                          .message(descriptor::process, ProtoMessage().number(1, number).text(6, shown))
                          .number(descriptor::ordering, explicit_order));
    }

    void track(std::string& out, const TraceTrack& track) override {
        auto message = ProtoMessage()
                           .number(descriptor::track, own_track(track))
                           .number(descriptor::parent, track_of(track.process))
                           .text(descriptor::name, show_text(track.name))
                           .number(descriptor::rank, track.id);
        if (!track.unit.empty()) message.message(descriptor::counter, ProtoMessage().text(6, track.unit));
        describe(out, message);
    }

    void slices(std::string& out, const TraceTrack& track, std::span<const TraceSlice> slices) override {
        std::vector<std::uint64_t> open;
        const auto end_down_to = [&](std::size_t depth) {
            for (; open.size() > depth; open.pop_back())
                put_event(out, open.back(), {}, ProtoMessage().number(event::type, slice_end), own_track(track));
        };
        for (const auto& slice : slices) {
            // Slices are nested, so open slices end in reverse order, before the next slice begins.
            end_down_to(slice.depth);
            begin(out, track, slice);
            open.push_back(slice.end_unix_ns);
        }
        end_down_to(0);
    }

    void counter(std::string& out, const TraceTrack& track, std::span<const CounterPoint> points) override {
        for (const auto& point : points)
            put_event(out, point.unix_ns, {},
                      ProtoMessage().number(event::type, counter_value).real(event::double_value, point.value),
                      own_track(track));
    }

    void tail(std::string&) override {}

private:
    // Track descriptors share one number space: processes are odd, their tracks even.
    static std::uint64_t track_of(std::uint32_t process) { return 2 * std::uint64_t{process} + 1; }
    static std::uint64_t own_track(const TraceTrack& track) { return 2 * track.id; }

    static void put(std::string& out, const ProtoMessage& message) {
        out += ProtoMessage().message(trace_packet, message).bytes();
    }
    static void describe(std::string& out, const ProtoMessage& descriptor) {
        put(out, ProtoMessage().number(packet::sequence, only_sequence).message(packet::track_descriptor, descriptor));
    }
    static void put_event(std::string& out, std::uint64_t unix_ns, const ProtoMessage& interned, ProtoMessage event,
                          std::uint64_t track) {
        event.number(event::track, track);
        ProtoMessage message;
        message.number(packet::timestamp, unix_ns)
            .number(packet::sequence, only_sequence)
            .number(packet::flags, needs_state)
            .message(packet::track_event, event);
        if (!interned.bytes().empty()) message.message(packet::interned, interned);
        put(out, message);
    }

    /// The number of a name in its table of InternedData; 0 if the table is full.
    std::uint64_t number_of(std::uint32_t table, const std::string& name, ProtoMessage& interned) {
        auto& numbers = names_[table];
        const auto known = numbers.find(name);
        if (known != numbers.end()) return known->second;
        if (numbers.size() >= names_max) return 0;
        const auto number = numbers.size() + 1;
        numbers.emplace(name, number);
        interned.message(table, ProtoMessage().number(1, number).text(2, name));
        return number;
    }

    void begin(std::string& out, const TraceTrack& track, const TraceSlice& slice) {
        constexpr std::uint32_t categories = 1, names = 2;  // of InternedData
        ProtoMessage interned, event;
        event.number(event::type, slice_begin);
        event.number(event::category, number_of(categories, show_text(slice.category), interned));
        // A snapshot's name is unique to its step, so it would fill the table.
        if (slice.outcome.empty()) event.number(event::name_number, number_of(names, show_text(slice.name), interned));
        else event.text(event::name, show_text(slice.name));
        const auto add = [&](const char* name, auto&& fill) {
            constexpr std::uint32_t annotation_names = 3;
            ProtoMessage value;
            value.number(annotation::name_number, number_of(annotation_names, name, interned));
            fill(value);
            event.message(event::annotation, value);
        };
        const auto add_text = [&](const char* name, const std::string& text) {
            constexpr std::uint32_t annotation_texts = 29;
            const auto shown = show_text(text);
            add(name, [&](ProtoMessage& value) {
                const auto number = number_of(annotation_texts, shown, interned);
                if (number != 0) value.number(annotation::text_number, number);
                else value.text(annotation::text, shown);
            });
        };
        if (!slice.stream.empty()) {
            add_text("stream", slice.stream);
            add("step", [&](ProtoMessage& value) {
                value.number(annotation::signed_number, static_cast<std::uint64_t>(slice.step));
            });
        }
        if (slice.bytes > 0)
            add("bytes", [&](ProtoMessage& value) { value.number(annotation::unsigned_number, slice.bytes); });
        if (!slice.target.empty()) add_text("target", slice.target);
        if (slice.failed) add("failed", [&](ProtoMessage& value) { value.number(annotation::boolean, 1); });
        if (slice.merged > 0)
            add("merged", [&](ProtoMessage& value) { value.number(annotation::unsigned_number, slice.merged); });
        if (!slice.outcome.empty()) add_text("outcome", slice.outcome);
        for (const auto& sentence : slice.why)
            add("why", [&](ProtoMessage& value) { value.text(annotation::text, show_text(sentence)); });
        put_event(out, slice.start_unix_ns, interned, std::move(event), own_track(track));
    }

    const std::uint64_t origin_unix_ns_;
    std::map<std::uint32_t, std::map<std::string, std::uint64_t>> names_;  // by table
};

}  // namespace

std::unique_ptr<TraceSink> perfetto_sink(std::uint64_t origin_unix_ns) {
    return std::make_unique<PerfettoSink>(origin_unix_ns);
}

}  // namespace forebay::report
