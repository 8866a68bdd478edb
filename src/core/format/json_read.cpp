#include "core/format/json_read.hpp"

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

namespace forebay::format::json {
namespace {

using Held = nlohmann::json;

const Held* held(const void* at) { return static_cast<const Held*>(at); }

// Forebay's files have a depth of at most ten. Deeper text is refused, because each bracket would take 70 bytes of
// memory.
constexpr int depth_max = 100;

bool is_too_deep(std::string_view text) {
    int depth = 0;
    bool in_text = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (in_text) {
            if (letter == '\\') ++at;
            else if (letter == '"') in_text = false;
            continue;
        }
        if (letter == '"') in_text = true;
        else if (letter == '[' || letter == '{') ++depth;
        else if (letter == ']' || letter == '}') --depth;
        if (depth > depth_max) return true;
    }
    return false;
}

}  // namespace

bool Value::is_null() const { return at_ != nullptr && held(at_)->is_null(); }

Value Value::member(const char* key) const {
    if (at_ == nullptr || !held(at_)->is_object()) return {};
    const auto match = held(at_)->find(key);
    return match == held(at_)->end() ? Value() : Value(&*match);
}

std::optional<std::size_t> Value::members() const {
    if (at_ == nullptr || !held(at_)->is_object()) return {};
    return held(at_)->size();
}

std::optional<std::size_t> Value::list() const {
    if (at_ == nullptr || !held(at_)->is_array()) return {};
    return held(at_)->size();
}

Value Value::entry(std::size_t index) const {
    if (at_ == nullptr || !held(at_)->is_array() || index >= held(at_)->size()) return {};
    return Value(&(*held(at_))[index]);
}

std::optional<std::uint64_t> Value::u64(std::uint64_t max) const {
    if (at_ == nullptr || !held(at_)->is_number_unsigned()) return {};
    const auto number = held(at_)->get<std::uint64_t>();
    if (number > max) return {};
    return number;
}

std::optional<std::int64_t> Value::i64() const {
    if (at_ == nullptr || !held(at_)->is_number_integer()) return {};
    if (held(at_)->is_number_unsigned() && held(at_)->get<std::uint64_t>() > INT64_MAX) return {};
    return held(at_)->get<std::int64_t>();
}

std::optional<bool> Value::flag() const {
    if (at_ == nullptr || !held(at_)->is_boolean()) return {};
    return held(at_)->get<bool>();
}

std::optional<double> Value::f64() const {
    if (at_ == nullptr) return {};
    if (held(at_)->is_number()) return held(at_)->get<double>();
    if (!held(at_)->is_string()) return {};
    const auto& name = held(at_)->get_ref<const std::string&>();
    if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (name == "inf") return std::numeric_limits<double>::infinity();
    if (name == "-inf") return -std::numeric_limits<double>::infinity();
    return {};
}

std::optional<std::string> Value::text() const {
    if (at_ == nullptr || !held(at_)->is_string()) return {};
    return held(at_)->get<std::string>();
}

std::optional<Extents> Value::extents() const {
    const auto count = list();
    if (!count || *count > static_cast<std::size_t>(dims_max)) return {};
    Extents numbers;
    for (std::size_t i = 0; i < *count; ++i) {
        const auto number = entry(i).u64();
        if (!number) return {};
        numbers.push_back(*number);
    }
    return numbers;
}

std::optional<Document> Document::parse(std::string_view text) {
    if (is_too_deep(text)) return {};
    auto parsed = std::make_unique<Held>(Held::parse(text, nullptr, false));
    if (parsed->is_discarded()) return {};
    Document document;
    document.held_.reset(parsed.release());
    return document;
}

void Document::Delete::operator()(void* held) const { std::default_delete<Held>()(static_cast<Held*>(held)); }

}  // namespace forebay::format::json
