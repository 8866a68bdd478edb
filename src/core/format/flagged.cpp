#include "core/format/flagged.hpp"

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/show_text.hpp"
#include "core/format/json_text.hpp"
#include "core/format/manifest_text.hpp"

namespace forebay::format {

namespace {

constexpr std::string_view flagged_format = "forebay condition";
constexpr std::uint64_t flagged_version = 1;

}  // namespace

std::string file_name_of(const Flagged& flagged) {
    return fmt::format("{:016x}-{:08x}.json", flagged.snapshot_id, crc32c(bytes_of(flagged.text)));
}

std::string encode_flagged(const Flagged& flagged) {
    const auto put_any = [](std::string& out, const std::string& text) {
        // A user's text may not be UTF-8, which JSON requires.
        json::put_text(out, json::is_text(text) ? text : show_text(text));
    };
    auto out = fmt::format("{{\"format\":\"{}\",\"version\":{},\n\"stream\":", flagged_format, flagged_version);
    put_any(out, flagged.stream);
    out += fmt::format(",\"step\":{},\"snapshot_id\":\"{:016x}\",\"session\":{},\"turn\":{},\"actions\":{},\"value\":",
                       flagged.step, flagged.snapshot_id, flagged.line.session, flagged.line.turn, flagged.actions);
    json::put_f64(out, flagged.value);
    out += ",\"text\":";
    put_any(out, flagged.text);
    out += ",\n";
    put_crc_line(out);
    return out;
}

Result<Flagged> decode_flagged(std::string_view text, const std::string& name) {
    const auto bad = [&](const std::string& why) {
        return Error{ErrorKind::corrupt, fmt::format("the condition {} is damaged: {}", name, why), "the snapshot",
                     fmt::format("rm {}", name)};
    };
    if (const auto wrong = wrong_with_crc_line(text); !wrong.empty()) return bad(wrong);
    const auto document = json::Document::parse(text);
    if (!document || document->root().member("format").text() != flagged_format) return bad("it is not a condition.");
    const auto root = document->root();
    if (root.member("version").u64() != flagged_version)
        return Error{ErrorKind::unsupported,
                     fmt::format("the condition {} has another version than {}", name, flagged_version), "",
                     "use the Forebay that wrote it, or a later version"};
    const auto stream = root.member("stream").text(), id = root.member("snapshot_id").text(),
               words = root.member("text").text();
    const auto step = root.member("step").i64();
    const auto session = root.member("session").u64(UINT32_MAX), turn = root.member("turn").u64(UINT32_MAX),
               actions = root.member("actions").u64(UINT32_MAX);
    const auto value = root.member("value").f64();
    const auto snapshot_id = hex_from(id.value_or(""), 16);
    if (!stream || !words || !step || !session || !turn || !actions || !value || !snapshot_id)
        return bad("a member is absent or invalid.");
    return Flagged{.stream = *stream,
                   .step = *step,
                   .snapshot_id = *snapshot_id,
                   .line = {static_cast<std::uint32_t>(*session), static_cast<std::uint32_t>(*turn)},
                   .actions = static_cast<std::uint32_t>(*actions),
                   .value = *value,
                   .text = *words};
}

}  // namespace forebay::format
