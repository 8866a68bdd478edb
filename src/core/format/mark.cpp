// Marks as members of a manifest, and as files. Bytes: docs/formats/manifest.md.

#include "core/format/mark.hpp"

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/format/json_text.hpp"
#include "core/format/manifest_text.hpp"

namespace forebay::format {

namespace {

constexpr std::string_view mark_format = "forebay mark";
constexpr std::uint64_t mark_version = 1;

bool is_good(const Mark& mark) {
    for (const auto* text : {&mark.analysis, &mark.condition, &mark.result})
        if (text->size() > mark_text_bytes_max || !json::is_text(*text)) return false;
    return !mark.condition.empty();
}

}  // namespace

std::optional<std::uint64_t> hex_from(std::string_view text, std::size_t digits) {
    if (text.size() != digits) return {};
    std::uint64_t number = 0;
    for (const char c : text) {
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return {};
        number = number * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return number;
}

std::string wrong_with_crc_line(std::string_view text) {
    if (text.empty()) return "it is empty.";
    if (text.size() < crc_line_bytes) return fmt::format("it has {} bytes and no checksum.", text.size());
    const auto line = text.substr(text.size() - crc_line_bytes);
    const auto written = hex_from(line.substr(crc_line_begin.size(), 8), 8);
    if (!line.starts_with(crc_line_begin) || !line.ends_with(crc_line_end) || !written)
        return "its last line is not its checksum: the file was cut or edited.";
    const auto sum = crc32c(bytes_of(text.substr(0, text.size() - crc_line_bytes)));
    return sum == *written ? "" : fmt::format("its checksum is {:08x}, but {:08x} is stored.", sum, *written);
}

std::string words_of(const Mark& mark) {
    auto text = mark.analysis.empty() ? mark.condition : fmt::format("{}: {}", mark.analysis, mark.condition);
    return mark.result.empty() ? text : text + fmt::format(" ({} is {})", mark.result, mark.value);
}

void put_mark(std::string& out, const Mark& mark) {
    out += "\"analysis\":";
    json::put_text(out, mark.analysis);
    out += ",\"condition\":";
    json::put_text(out, mark.condition);
    out += ",\"result\":";
    json::put_text(out, mark.result);
    out += ",\"value\":";
    json::put_f64(out, mark.value);
}

std::optional<Mark> mark_from(json::Value object) {
    const auto analysis = object.member("analysis").text(), condition = object.member("condition").text(),
               result = object.member("result").text();
    const auto value = object.member("value").f64();
    if (!analysis || !condition || !result || !value) return {};
    Mark mark{*analysis, *condition, *result, *value};
    return is_good(mark) ? std::optional(std::move(mark)) : std::nullopt;
}

Result<std::string> encode_mark(const Mark& mark) {
    if (!is_good(mark))
        return Error{ErrorKind::refused, fmt::format("a mark needs a condition, and texts of at most {} bytes of UTF-8",
                                                     mark_text_bytes_max)};
    auto out = fmt::format("{{\"format\":\"{}\",\"version\":{},\n", mark_format, mark_version);
    put_mark(out, mark);
    out += ",\n";
    put_crc_line(out);
    return out;
}

Result<Mark> decode_mark(std::string_view text, const std::string& name) {
    const auto bad = [&](const std::string& why) {
        return Error{ErrorKind::corrupt, fmt::format("the mark {} is damaged: {}", name, why), "the snapshot",
                     fmt::format("remove {}. If the snapshot is bad, mark it again with forebay mark", name)};
    };
    if (const auto wrong = wrong_with_crc_line(text); !wrong.empty()) return bad(wrong);
    const auto document = json::Document::parse(text);
    if (!document || document->root().member("format").text() != mark_format) return bad("it is not a mark.");
    const auto version = document->root().member("version").u64();
    if (version != mark_version)
        return Error{ErrorKind::unsupported, fmt::format("the mark {} has another version than {}", name, mark_version),
                     "", "use the Forebay that wrote it, or a later version"};
    const auto mark = mark_from(document->root());
    if (!mark) return bad("a member is absent or invalid.");
    return *mark;
}

}  // namespace forebay::format
