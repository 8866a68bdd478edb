#include "core/s3/directory_record.hpp"

#include <fmt/format.h>

#include <array>

namespace forebay::s3 {

namespace {

using Contents = DirectoryRecord::Contents;

constexpr std::string_view title = "forebay directory 1\n";
constexpr std::string_view no_contents = "none";

// A key holds no line feed: key_part_of() encodes it.
std::string line_of(std::string_view name, std::string_view value) {
    return std::string(name) + "=" + std::string(value) + "\n";
}

}  // namespace

std::string encode(const DirectoryRecord& record, std::uint64_t turn) {
    auto text = std::string(title);
    text += line_of("contents", record.contents == Contents::none   ? no_contents
                                : record.contents == Contents::here ? "here"
                                                                    : "elsewhere");
    text += line_of("at", record.at);
    text += line_of("name", record.name);
    text += line_of("next", record.next);
    return text + line_of("turn", fmt::format("{:016x}", turn));
}

Result<DirectoryRecord> directory_record_from(std::string_view text) {
    if (text.empty()) return DirectoryRecord();
    const Error unknown{ErrorKind::corrupt, "the object of a directory was not written by Forebay"};
    if (!text.starts_with(title)) return unknown;
    text.remove_prefix(title.size());
    DirectoryRecord record;
    std::string contents, turn;
    struct Field {
        std::string_view name;
        std::string* value;
    };
    const std::array fields{Field{"contents=", &contents}, Field{"at=", &record.at}, Field{"name=", &record.name},
                            Field{"next=", &record.next}, Field{"turn=", &turn}};
    for (const auto& field : fields) {
        const auto end = text.find('\n');
        if (end == text.npos || !text.starts_with(field.name)) return unknown;
        *field.value = text.substr(field.name.size(), end - field.name.size());
        text.remove_prefix(end + 1);
    }
    if (contents == no_contents) record.contents = Contents::none;
    else if (contents == "elsewhere") record.contents = Contents::elsewhere;
    else if (contents != "here") return unknown;
    const auto is_part = [](const std::string& part) {
        return part.empty() || (part.size() > 1 && part.find('/') == part.size() - 1);
    };
    const bool is_key = is_part(record.at) && is_part(record.name) && is_part(record.next);
    if (!text.empty() || !is_key || record.at.empty() != (record.contents != Contents::elsewhere)) return unknown;
    return record;
}

}  // namespace forebay::s3
