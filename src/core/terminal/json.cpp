#include "core/terminal/json.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/check.hpp"
#include "core/base/show_text.hpp"

namespace forebay::cli {

using Value = nlohmann::ordered_json;

struct Json::Tree {
    Value value;
};

Json::Json(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
Json Json::object() { return Json(std::make_unique<Tree>(Tree{Value::object()})); }
Json Json::array() { return Json(std::make_unique<Tree>(Tree{Value::array()})); }
Json::Json(const std::string& text) : tree_(std::make_unique<Tree>(Tree{Value(text)})) {}
Json::Json(bool yes) : tree_(std::make_unique<Tree>(Tree{Value(yes)})) {}
Json::Json(double number) : tree_(std::make_unique<Tree>(Tree{Value(number)})) {}
Json::Json(Signed number) : tree_(std::make_unique<Tree>(Tree{Value(number.number)})) {}
Json::Json(Unsigned number) : tree_(std::make_unique<Tree>(Tree{Value(number.number)})) {}

Json::Json(const Json& other) : tree_(std::make_unique<Tree>(*other.tree_)) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(Json other) noexcept {
    tree_ = std::move(other.tree_);
    return *this;
}
Json::~Json() = default;

Json& Json::set(const std::string& key, const Json& value) {
    tree_->value[key] = value.tree_->value;
    return *this;
}
Json& Json::push(const Json& value) {
    tree_->value.push_back(value.tree_->value);
    return *this;
}

// Only texts can hold terminal commands that JSON leaves as they are. Inside of texts, \u means the same character.
std::string Json::shown(int indent) const {
    const auto exact = tree_->value.dump(indent, ' ', false, Value::error_handler_t::replace);
    std::string out;
    for (std::string_view rest = exact; !rest.empty();) {
        const auto [bytes, number] = first_character(rest);
        FB_CHECK(bytes != 0, "what dump() gives is UTF-8");
        if (number >= 0x7F && commands_terminals(number)) out += fmt::format("\\u{:04x}", number);
        else out += rest.substr(0, bytes);
        rest.remove_prefix(bytes);
    }
    return out;
}

bool Json::is_empty() const { return tree_->value.empty(); }

std::string Json::text() const { return shown(1); }

std::string Json::line() const { return shown(-1); }

void Json::print() const {
    const auto line = text() + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
}

Json json_of(const Error& error) {
    auto object = Json::object();
    object.set("kind", forebay::name_of(error.kind)).set("text", error.text());
    object.set("what", error.what).set("safe", error.safe).set("next", error.next);
    return object;
}

}  // namespace forebay::cli
