#include "cli/words.hpp"

#include <fmt/format.h>

#include <chrono>

namespace forebay::cli {

const char* name_of(catalog::Leftover::Kind kind) {
    switch (kind) {
        case catalog::Leftover::Kind::part: return "part";
        case catalog::Leftover::Kind::old: return "old";
        case catalog::Leftover::Kind::gone: return "gone";
    }
    return "part";
}

std::string show_utc(std::int64_t unix_ns) {
    using namespace std::chrono;
    const auto time = sys_time<nanoseconds>(nanoseconds(unix_ns));
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(floor<seconds>(time - day));
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count());
}

std::string show_ranks(std::span<const format::RankRange> ranks) {
    std::string text;
    for (const auto& range : ranks) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", range.first);
        if (range.count > 1) text += fmt::format("-{}", range.first + range.count - 1);
    }
    return text;
}

std::string printable(std::string_view text) {
    std::string shown;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
        // UTF-8 has 32 more of them, of which one begins commands as ESC [ does.
        const bool is_two = byte == 0xC2 && next >= 0x80 && next < 0xA0;
        if (is_two) shown += fmt::format("\\x{:02x}\\x{:02x}", byte, next), ++i;
        else if (byte < 0x20 || byte == 0x7F) shown += fmt::format("\\x{:02x}", byte);
        else shown += text[i];
    }
    return shown;
}

Json json_of(const Extents& shape) {
    auto list = Json::array();
    for (int dim = 0; dim < shape.dims(); ++dim) list.push(shape[dim]);
    return list;
}

Json json_of(const catalog::Snapshot& snapshot) {
    auto object = Json::object();
    object.set("stream", snapshot.stream).set("step", snapshot.step).set("directory", snapshot.directory);
    return object;
}

Json json_of(const Error& error) {
    auto object = Json::object();
    object.set("kind", forebay::name_of(error.kind)).set("text", error.text);
    return object;
}

}  // namespace forebay::cli
