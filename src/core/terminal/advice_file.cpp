#include "core/terminal/advice_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "core/base/try.hpp"
#include "core/sys/store.hpp"

namespace forebay::cli {

namespace {

// A preflight of 8,000 nodes with something to report on each has 2 MB. A much larger file is something else, and JSON
// takes ten times its size while it is read.
constexpr std::uint64_t advice_file_bytes_max = 64u << 20;

constexpr std::uint64_t list_bytes_max = 16u << 20;

Result<std::string> standard_input(std::uint64_t bytes_max) {
    std::string text;
    std::array<char, 1 << 16> piece;
    while (const auto got = std::fread(piece.data(), 1, piece.size(), stdin)) {
        text.append(piece.data(), got);
        if (text.size() > bytes_max)
            return Error{ErrorKind::corrupt, fmt::format("standard input has more than {} bytes", bytes_max)};
    }
    if (std::ferror(stdin) != 0) return Error{ErrorKind::retry, "standard input cannot be read"};
    if (text.empty()) return Error{ErrorKind::corrupt, "standard input is empty"};
    return text;
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

Result<std::string> input_text(const std::string& option, const std::string& path, std::uint64_t bytes_max,
                               const std::string& next) {
    auto text = path == "-" ? standard_input(bytes_max) : sys::read_text(sys::posix_store(), path, bytes_max);
    if (text) return text;
    return with_context(text.error(), fmt::format("{} {}: {}", option, path, text.error().what), "", next);
}

Result<std::string> file_text(const std::string& option, const std::string& path) {
    return input_text(option, path, list_bytes_max, "docs/reference/preflight.md describes the contents of its file");
}

Result<std::string> list_text(const std::string& option, const std::string& text) {
    if (!text.starts_with('@')) return text;
    return file_text(option, text.substr(1));
}

Result<format::Advice> read_advice(const std::string& option, const std::string& path, const std::string& kind) {
    const auto next = fmt::format("give {} a FILE that forebay {} wrote. For standard input: {} -", option,
                                  kind == "bench"     ? "bench run"
                                  : kind == "profile" ? "tune"
                                                      : kind,
                                  option);
    FB_TRY_ASSIGN(text, input_text(option, path, advice_file_bytes_max, next));
    FB_TRY_ASSIGN(read, format::decode_advice(text, input_name(path)));
    if (read.kind != kind)
        return Error{ErrorKind::refused,
                     fmt::format("{} {} is of kind {}, not {}", option, input_name(path), read.kind, kind), "", next};
    return read;
}

}  // namespace forebay::cli
