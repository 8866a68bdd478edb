#include "core/format/packed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/format/head.hpp"
#include "core/format/json_text.hpp"

namespace forebay::format {
namespace {

constexpr const char* mode_attribute = "mode";
constexpr const char* modified_attribute = "modified_unix_ns";
constexpr const char* path_attribute = "path";    // if the name is not the path: its bytes, some as %XX
constexpr const char* empty_attribute = "empty";  // the file has no bytes, but the variable has one
constexpr std::string_view unnamed = "_unnamed/";

bool stays_inside(std::string_view path) {
    if (path.empty() || path.find('\0') != path.npos) return false;
    for (;;) {
        const auto part = path.substr(0, path.find('/'));
        if (part.empty() || part == "." || part == "..") return false;
        if (part.size() == path.size()) return true;
        path.remove_prefix(part.size() + 1);
    }
}

// The schema checks the rules of HDF5. The first part must not be a reserved name.
bool can_be_a_name(const std::string& path) {
    return path.size() <= limits::name_bytes_max && is_showable(path) && !path.starts_with(unnamed) &&
           path.substr(0, path.find('/')) != "_forebay";
}

std::string escaped(const std::string& path) {
    std::string out;
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > 0x20 && byte < 0x7F && c != '%') out += c;
        else out += fmt::format("%{:02X}", byte);
    }
    return out;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        unsigned byte = 0;
        if (text.size() - i < 3) return {};
        const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
        if (error != std::errc{} || end != text.data() + i + 3) return {};
        out += static_cast<char>(byte);
        i += 2;
    }
    return out;
}

}  // namespace

Variable packed_variable(const PackedFile& file, std::size_t number) {
    Variable variable;
    const bool named = can_be_a_name(file.path);
    variable.name = named ? file.path : fmt::format("{}{:05}", unnamed, number);
    variable.type = u8;
    variable.kind = Kind::array;
    // An empty file is stored as one byte and an attribute.
    variable.shape = {std::max<std::uint64_t>(file.bytes, 1)};
    auto& attributes = variable.attributes.others;
    attributes.emplace_back(mode_attribute, std::int64_t{file.mode});
    attributes.emplace_back(modified_attribute, file.modified_unix_ns);
    if (file.bytes == 0) attributes.emplace_back(empty_attribute, std::int64_t{1});
    if (!named) attributes.emplace_back(path_attribute, escaped(file.path));
    return variable;
}

std::optional<PackedFile> packed_file(const Variable& variable) {
    if (variable.kind != Kind::array || variable.type != u8 || variable.shape.dims() != 1) return {};
    PackedFile file{.path = variable.name, .bytes = variable.shape[0]};
    bool has_mode = false;
    for (const auto& [name, value] : variable.attributes.others) {
        const auto* number = std::get_if<std::int64_t>(&value);
        const auto* text = std::get_if<std::string>(&value);
        if (name == mode_attribute && number != nullptr) {
            has_mode = true;
            file.mode = static_cast<std::uint32_t>(*number) & 07777;
        } else if (name == modified_attribute && number != nullptr) {
            file.modified_unix_ns = *number;
        } else if (name == empty_attribute) {
            file.bytes = 0;
        } else if (name == path_attribute && text != nullptr) {
            const auto path = unescaped(*text);
            if (!path) return {};
            file.path = *path;
        }
    }
    if (!has_mode || !stays_inside(file.path)) return {};
    return file;
}

Result<> change_step(std::span<std::byte> first_pages, std::int64_t step, const std::string& name) {
    FB_TRY_ASSIGN(page, read_good_page(first_pages, name));
    if (has_plain_form(page))
        return Error{
            ErrorKind::refused,
            fmt::format("{} is not a regular file, and a batch holds only regular files. Nothing was changed", name),
            "", fmt::format("forebay show {}", name)};
    // The checksum of the head does not cover the record, so only the record's own changes.
    page.step = step;
    page.time = batch_time(step);
    const auto bytes = std::as_bytes(std::span(&page, 1));
    page.record_crc32c = crc32c(bytes.first(offsetof(RecordPage, record_crc32c)));
    std::memcpy(first_pages.data() + record_offset_bytes, &page, sizeof page);
    return {};
}

}  // namespace forebay::format
