// Bytes: docs/formats/status.md.

#include "core/format/status_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/show_text.hpp"
#include "core/format/json_read.hpp"
#include "core/format/json_text.hpp"
#include "core/format/manifest_text.hpp"

namespace forebay::format {

namespace {

constexpr std::string_view status_format = "forebay status";
constexpr std::uint64_t status_version = 1;

// Bytes in the file without quotes. Names of hosts and streams have at most 255 bytes. A cut sentence is complete in
// the events of the run.
constexpr std::size_t status_name_max = 255, status_word_max = 24, status_sentence_max = 480;
// The bytes after the streams.
constexpr std::size_t behind_streams = std::string_view("],\"streams_left_out\":4294967295,\n").size() + crc_line_bytes;

/// Escapes text that is not UTF-8. Longer text than `bytes_max` ends with "...".
void put_cut(std::string& out, const std::string& whole, std::size_t bytes_max) {
    const auto good = json::is_text(whole) ? whole : show_text(whole);
    std::string put;
    json::put_text(put, good);
    if (put.size() <= bytes_max + 2) {
        out += put;
        return;
    }
    constexpr std::string_view rest = "...";
    put = "\"";
    for (std::string_view left = good; !left.empty();) {
        // Cuts only between whole characters, and never inside an escape.
        const auto character = left.substr(0, first_character(left).bytes);
        std::string more;
        json::put_text(more, character);
        if (put.size() + more.size() - 2 + rest.size() > bytes_max + 1) break;
        put.append(more, 1, more.size() - 2);
        left.remove_prefix(character.size());
    }
    out.append(put).append(rest) += '"';
}

/// Writes the members of an object, one after the other.
class Members {
public:
    explicit Members(std::string& out) : out_(out) {}

    void text(const char* key, const std::string& value, std::size_t bytes_max) {
        begin(key);
        put_cut(out_, value, bytes_max);
    }
    void i64(const char* key, std::int64_t value) {
        begin(key);
        json::put_i64(out_, value);
    }
    void u64(const char* key, std::uint64_t value) {
        begin(key);
        json::put_u64(out_, value);
    }
    void f64(const char* key, double value) {
        begin(key);
        json::put_f64(out_, value);
    }
    void flag(const char* key, bool value) {
        begin(key);
        out_ += value ? "true" : "false";
    }
    void number(const char* key, std::int64_t value) { i64(key, value); }
    void number(const char* key, std::uint64_t value) { u64(key, value); }
    void number(const char* key, double value) { f64(key, value); }

private:
    void begin(const char* key) {
        if (!out_.ends_with('{') && !out_.ends_with('\n')) out_ += ',';
        out_.append("\"").append(key).append("\":");
    }

    std::string& out_;
};

void put_slot(std::string& out, const SlotStatus& slot) {
    out += '{';
    Members members(out);
    members.text("state", slot.state, status_word_max);
    members.i64("step", slot.step);
    members.u64("bytes", slot.bytes);
    members.u64("drained_bytes", slot.drained_bytes);
    members.i64("sealed_unix_ns", slot.sealed_unix_ns);
    out += '}';
}

std::string text_of(const StreamStatus& stream) {
    std::string out = "{";
    Members members(out);
    members.text("name", stream.name, status_name_max);
    describe::each_stream_count([&](const describe::Count& count, auto, auto get) {
        if (count.in_status != describe::InStatus::no) members.number(count.name, get(stream.counts));
    });
    out += ",\"slots\":[";
    for (std::size_t i = 0; i < stream.slots.size(); ++i) {
        if (i > 0) out += ',';
        put_slot(out, stream.slots[i]);
    }
    return out + "]}";
}

void put_head(std::string& out, const StatusLine& line) {
    Members members(out);
    members.i64("unix_ns", line.unix_ns);
    members.f64("period_seconds", line.period_seconds);
    members.text("host", line.host, status_name_max);
    members.text("virtual_node", line.virtual_node, status_word_max);
    members.text("agent", line.agent, status_word_max);
    members.text("state", line.state, status_word_max);
    members.u64("session", line.session);
    members.u64("nodes", line.nodes);
    members.flag("application_lives", line.application_lives);
    members.i64("began_unix_ns", line.began_unix_ns);
    members.i64("job_ends_unix_ns", line.job_ends_unix_ns);
    out += ",\n";
    describe::each_node_count([&](const describe::Count& count, auto, auto get) {
        if (count.in_status != describe::InStatus::no) members.number(count.name, get(line.counts));
    });
    out += ",\n";
    members.text("last_error", line.last_error, status_sentence_max);
    members.text("why", line.why, status_sentence_max);
}

/// Reads the members of an object one by one, and keeps the first absent or wrong key.
class Taker {
public:
    explicit Taker(json::Value from) : from_(from) {}

    template <class T>
    void unsigned_number(const char* key, T& into) {
        take(key, from_.member(key).u64(std::numeric_limits<T>::max()), into);
    }
    void i64(const char* key, std::int64_t& into) { take(key, from_.member(key).i64(), into); }
    void f64(const char* key, double& into) { take(key, from_.member(key).f64(), into); }
    void flag(const char* key, bool& into) { take(key, from_.member(key).flag(), into); }
    void text(const char* key, std::string& into) { take(key, from_.member(key).text(), into); }
    /// A count with `later` may be absent, because older agents do not write it.
    template <class T>
    void count(const describe::Count& count, T& into) {
        using describe::InStatus;
        if (count.in_status == InStatus::no) return;
        if (count.in_status == InStatus::later && !from_.member(count.name).exists()) return;
        if constexpr (std::is_floating_point_v<T>) f64(count.name, into);
        else if constexpr (std::is_signed_v<T>) i64(count.name, into);
        else unsigned_number(count.name, into);
    }
    /// Returns the first missing key, or nullptr.
    const char* missing() const { return missing_; }

private:
    template <class Found, class T>
    void take(const char* key, const Found& value, T& into) {
        if (value) into = static_cast<T>(*value);
        else if (missing_ == nullptr) missing_ = key;
    }

    json::Value from_;
    const char* missing_ = nullptr;
};

bool take_slot(json::Value from, SlotStatus& slot) {
    Taker taker(from);
    taker.text("state", slot.state);
    taker.i64("step", slot.step);
    taker.unsigned_number("bytes", slot.bytes);
    taker.unsigned_number("drained_bytes", slot.drained_bytes);
    taker.i64("sealed_unix_ns", slot.sealed_unix_ns);
    return taker.missing() == nullptr;
}

bool take_stream(json::Value from, StreamStatus& stream) {
    Taker taker(from);
    taker.text("name", stream.name);
    describe::each_stream_count(
        [&](const describe::Count& count, auto, auto get) { taker.count(count, get(stream.counts)); });
    const auto slots = from.member("slots");
    for (std::size_t i = 0; i < slots.list().value_or(0); ++i)
        if (!take_slot(slots.entry(i), stream.slots.emplace_back())) return false;
    return taker.missing() == nullptr && slots.list().has_value();
}

/// Returns the first absent or wrong member, or "".
std::string take_line(json::Value root, StatusLine& line) {
    Taker taker(root);
    taker.i64("unix_ns", line.unix_ns);
    taker.f64("period_seconds", line.period_seconds);
    taker.text("host", line.host);
    taker.text("virtual_node", line.virtual_node);
    taker.text("agent", line.agent);
    taker.text("state", line.state);
    taker.unsigned_number("session", line.session);
    taker.unsigned_number("nodes", line.nodes);
    taker.flag("application_lives", line.application_lives);
    taker.i64("began_unix_ns", line.began_unix_ns);
    taker.i64("job_ends_unix_ns", line.job_ends_unix_ns);
    describe::each_node_count(
        [&](const describe::Count& count, auto, auto get) { taker.count(count, get(line.counts)); });
    taker.text("last_error", line.last_error);
    taker.text("why", line.why);
    taker.unsigned_number("streams_left_out", line.streams_left_out);
    if (taker.missing() != nullptr) return taker.missing();
    const auto streams = root.member("streams");
    if (!streams.list()) return "streams";
    for (std::size_t i = 0; i < *streams.list(); ++i)
        if (!take_stream(streams.entry(i), line.streams.emplace_back())) return fmt::format("streams[{}]", i);
    return "";
}

}  // namespace

std::string encode(const StatusLine& line) {
    auto out = fmt::format("{{\"format\":\"{}\",\"version\":{},\n", status_format, status_version);
    put_head(out, line);
    out += ",\n\"streams\":[";
    std::size_t put = 0;
    for (; put < line.streams.size(); ++put) {
        const auto more = (put > 0 ? ",\n" : "") + text_of(line.streams[put]);
        if (out.size() + more.size() + behind_streams >= status_bytes) break;
        out += more;
    }
    const auto left_out = line.streams.size() - put + line.streams_left_out;
    out += fmt::format("],\"streams_left_out\":{},\n", std::min<std::size_t>(left_out, UINT32_MAX));
    put_crc_line(out);
    // Every status has the same size, so it covers the previous status.
    out.resize(status_bytes - 1, ' ');
    return out + '\n';
}

Result<StatusLine> decode_status(std::string_view text, const std::string& path) {
    const auto bad = [&](const std::string& why) {
        return Error{ErrorKind::corrupt, fmt::format("the status {} is damaged: {}", path, why),
                     "the run, which does not depend on it"};
    };
    if (text.size() != status_bytes) return bad(fmt::format("it has {} bytes, not {}.", text.size(), status_bytes));
    auto line_of_text = text;
    if (line_of_text.ends_with('\n')) line_of_text.remove_suffix(1);
    while (line_of_text.ends_with(' ')) line_of_text.remove_suffix(1);
    if (const auto wrong = wrong_with_crc_line(line_of_text); !wrong.empty()) return bad(wrong);
    const auto document = json::Document::parse(line_of_text);
    if (!document || document->root().member("format").text() != status_format) return bad("it is not a status.");
    if (document->root().member("version").u64() != status_version)
        return Error{ErrorKind::unsupported,
                     fmt::format("the status {} has another version than {}", path, status_version), "",
                     "use the Forebay that wrote it, or a later version"};
    StatusLine line;
    if (const auto missing = take_line(document->root(), line); !missing.empty())
        return bad(fmt::format("member {} is absent or invalid.", missing));
    return line;
}

}  // namespace forebay::format
