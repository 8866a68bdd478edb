#include "forebay/result.hpp"

#include <string_view>
#include <utility>

#include "core/base/error_text.hpp"

namespace forebay {

namespace {

// A sentence among several in a text: with one full stop.
std::string sentence(std::string text) {
    if (!text.empty() && std::string_view(".!?").find(text.back()) == std::string_view::npos) text += '.';
    return text;
}

}  // namespace

std::string Error::text() const {
    std::string all = program_prefix;
    all += safe.empty() && next.empty() ? what : sentence(what);
    if (!safe.empty()) all += "\n  " + (safe_label + sentence(safe));
    if (!next.empty()) all += "\n  " + (next_label + next);
    return all;
}

std::string Error::line() const {
    auto all = safe.empty() && next.empty() ? what : sentence(what);
    if (!safe.empty()) all += " " + (safe_label + sentence(safe));
    if (!next.empty()) all += " " + (next_label + next);
    return all;
}

Error with_context(Error inner, std::string what, std::string safe, std::string next) {
    inner.what = std::move(what);
    if (!safe.empty()) inner.safe = std::move(safe);
    if (!next.empty()) inner.next = std::move(next);
    return inner;
}

std::string note_line(std::string what, std::string next) {
    return Error{.what = std::move(what), .next = std::move(next)}.line();
}

Error error_of_text(ErrorKind kind, std::string_view text) {
    if (text.starts_with(program_prefix)) text.remove_prefix(std::string_view(program_prefix).size());
    Error error{kind};
    const auto cut = [&](const char* label) {
        const auto mark = std::string("\n  ") + label;
        // The last such line: `what` may have lines like it.
        const auto at = text.rfind(mark);
        if (at == text.npos) return std::string();
        std::string part(text.substr(at + mark.size()));
        text = text.substr(0, at);
        return part;
    };
    error.next = cut(next_label);
    error.safe = cut(safe_label);
    error.what = text;
    return error;
}

const char* name_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::retry: return "retry";
        case ErrorKind::full: return "full";
        case ErrorKind::missing: return "missing";
        case ErrorKind::corrupt: return "corrupt";
        case ErrorKind::refused: return "refused";
        case ErrorKind::unsupported: return "unsupported";
        case ErrorKind::broken: return "broken";
    }
    return "broken";
}

}  // namespace forebay
