// session.json: the application's orders to its agents. check() validates the agent's options, for the application
// before it starts and for the agent that reads them. encode_session() writes the file, decode_session() reads it.
// describe/session_list.hpp lists the options in it. A reader accepts versions 1 and 2. If an older file lacks a
// member, the member gets the value by which agents of that time worked.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/session_list.hpp"
#include "core/describe/show_option.hpp"
#include "core/format/json_read.hpp"
#include "core/format/json_text.hpp"
#include "core/sys/far_module.hpp"
#include "path/node/staging.hpp"

namespace forebay::node {

namespace {

// A forwarder has an address for each of its networks.
constexpr std::size_t forwarder_text_max = 1024;
constexpr std::size_t token_digits = 32, identity_digits = 16;
constexpr std::uint64_t session_version = 2;
static_assert(helpers_max == describe::neighbours_max);

Error refusal(const std::string& what) { return {ErrorKind::refused, what}; }

// Each text becomes a C string, and a NUL would cut it.
bool read_text(format::json::Value value, std::string& to) {
    const auto given = value.text();
    if (!given || !format::json::is_text(*given)) return false;
    to = *given;
    return true;
}

template <class T>
bool read_number(format::json::Value value, T& to) {
    if (const auto given = value.u64(); given && std::in_range<T>(*given)) to = static_cast<T>(*given);
    else if (const auto below = value.i64(); below && std::in_range<T>(*below)) to = static_cast<T>(*below);
    else return false;
    return true;
}

// "linger_ms" for "linger_seconds": durations in the file are whole milliseconds.
std::string milliseconds_key(const char* key) {
    std::string_view name(key);
    name.remove_suffix(std::string_view("_seconds").size());
    return std::string(name) + "_ms";
}

// Each visitor of the list of options has one operator() for each kind of value. Direct takes two members, because
// agents older than "auto" read only the first.
constexpr std::string_view chosen_ending = "_is_chosen";

struct WriteOption {
    nlohmann::json& to;

    template <class Values, class Value>
    void operator()(const describe::SessionOption& option, const Values& values, const Value& value) const {
        if (option.in_file != describe::InSessionFile::no) put(option.key, values, value);
    }

    template <class Values, class Value>
    void put(const char* key, const Values&, const Value& value) const {
        to[key] = value;
    }
    void put(const char* key, const describe::Seconds&, std::chrono::milliseconds value) const {
        to[milliseconds_key(key)] = value.count();
    }
    template <class T>
    void put(const char* key, const describe::Words<T>& words, T value) const {
        to[key] = describe::show(words, value);
    }
    void put(const char* key, const describe::FlagOrAuto&, Direct value) const {
        to[key] = value != Direct::no;
        to[key + std::string(chosen_ending)] = value == Direct::automatic;
    }
};

struct ReadOption {
    format::json::Value from;
    bool& all_good;

    template <class Values, class Value>
    void operator()(const describe::SessionOption& option, const Values& values, Value& value) const {
        using describe::InSessionFile;
        if (option.in_file == InSessionFile::no) return;
        const auto at = from.member(key_of(option.key, values).c_str());
        // An option younger than the file: agents of that time worked as with its default.
        if (!at.exists() && option.in_file == InSessionFile::later) value = Value{};
        else all_good = all_good && take(at, option.key, values, value);
    }

    template <class Values>
    static std::string key_of(const char* key, const Values&) {
        return key;
    }
    static std::string key_of(const char* key, const describe::Seconds&) { return milliseconds_key(key); }

    template <class Values>
    bool take(format::json::Value at, const char*, const Values&, std::string& value) const {
        return read_text(at, value);
    }
    template <class Values, class Integer>
    requires std::is_integral_v<Integer>
    bool take(format::json::Value at, const char*, const Values&, Integer& value) const {
        return read_number(at, value);
    }
    template <class Values>
    bool take(format::json::Value at, const char*, const Values&, bool& value) const {
        value = at.flag().value_or(false);
        return at.flag().has_value();
    }
    template <class Values>
    bool take(format::json::Value at, const char*, const Values&, double& value) const {
        value = at.f64().value_or(0);
        return at.f64().has_value();
    }
    bool take(format::json::Value at, const char*, const describe::Seconds&, std::chrono::milliseconds& value) const {
        std::int64_t count = 0;
        const bool good = read_number(at, count);
        value = std::chrono::milliseconds(count);
        return good;
    }
    template <class T>
    bool take(format::json::Value at, const char*, const describe::Words<T>& words, T& value) const {
        for (const auto& word : words.all)
            if (at.text() == word.name) return value = word.value, true;
        return false;
    }
    bool take(format::json::Value at, const char* key, const describe::FlagOrAuto&, Direct& value) const {
        const auto chosen = from.member((key + std::string(chosen_ending)).c_str());
        const bool is_chosen = chosen.flag().value_or(false);
        value = is_chosen ? Direct::automatic : at.flag().value_or(false) ? Direct::yes : Direct::no;
        return at.flag() && (chosen.flag() || !chosen.exists());
    }
    bool take(format::json::Value at, const char*, const describe::TextList&, std::vector<std::string>& value) const {
        const auto count = at.list();
        for (std::size_t i = 0; i < count.value_or(0); ++i)
            if (!read_text(at.entry(i), value.emplace_back())) return false;
        return count.has_value();
    }
    bool take(format::json::Value at, const char*, const describe::EnvironmentList&,
              std::vector<std::pair<std::string, std::string>>& value) const {
        const auto count = at.list();
        for (std::size_t i = 0; i < count.value_or(0); ++i) {
            auto& [name, text] = value.emplace_back();
            if (!read_text(at.entry(i).entry(0), name) || !read_text(at.entry(i).entry(1), text)) return false;
        }
        return count.has_value();
    }
};

// Fills `session` from the document. False at the first member that is absent or of another type.
class SessionReader {
public:
    explicit SessionReader(SessionFile& session) : session_(session) {}

    bool read(format::json::Value root) {
        bool options_good = true;
        describe::each_option(session_.agent, ReadOption{root.member("agent"), options_good});
        return options_good && read_text(root.member("run"), session_.run) && identity(root) &&
               read_text(root.member("host"), session_.host) && read_number(root.member("process"), session_.process) &&
               forwarding(root) && neighbours(root.member("neighbours"));
    }

private:
    // In version 1 runs had no identity.
    bool identity(format::json::Value root) {
        if (root.member("version").u64() == 1u) return true;
        return hex(root.member("run_id"), session_.run_id) && hex(root.member("claim"), session_.claim);
    }
    static bool hex(format::json::Value value, std::uint64_t& to) {
        const auto digits = value.text();
        if (!digits || digits->size() != identity_digits) return false;
        const auto [end, error] = std::from_chars(digits->data(), digits->data() + digits->size(), to, 16);
        return error == std::errc{} && end == digits->data() + digits->size();
    }

    // Sessions that write to their target themselves have no such members.
    bool forwarding(format::json::Value root) {
        const auto list = root.member("forward_to");
        if (!list.exists()) return !root.member("forward_token").exists();
        const auto count = list.list();
        for (std::size_t i = 0; i < std::min(count.value_or(0), std::size_t{describe::forwarders_max + 1}); ++i)
            if (!read_text(list.entry(i), session_.forwarding.to.emplace_back())) return false;
        return count.has_value() && read_text(root.member("forward_token"), session_.forwarding.token);
    }

    // Sessions without neighbours, and older sessions, have no such member.
    bool neighbours(format::json::Value given) {
        auto& to = session_.neighbours;
        if (!given.exists()) return true;
        const auto excluded = given.member("excluded").flag(), avoid_slow = given.member("avoid_slow").flag();
        to.excluded = excluded.value_or(false);
        to.avoid_slow = avoid_slow.value_or(false);
        const auto number_given = given.member("number");
        return excluded && avoid_slow && read_number(given.member("helpers"), to.helpers) &&
               read_number(given.member("first"), to.first) &&
               (!number_given.exists() || read_number(number_given, to.number.emplace())) &&
               read_text(given.member("address"), to.address) && read_text(given.member("token"), to.token);
    }

    SessionFile& session_;
};

// Finds texts that a session file cannot hold.
struct CheckText {
    Result<>& verdict;

    template <class Values, class Value>
    void operator()(const describe::SessionOption& option, const Values&, const Value& value) const {
        // "@FILE" is replaced by its targets before they are written, so this path may have any bytes.
        if (std::is_same_v<Values, describe::TargetList>) return;
        if (option.in_file != describe::InSessionFile::no && !is_good(value) && verdict)
            verdict = refusal(fmt::format("agent.{} must be UTF-8 without NUL.", option.key));
    }
    template <class Value>
    static bool is_good(const Value&) {
        return true;
    }
    static bool is_good(const std::string& text) { return format::json::is_text(text); }
    static bool is_good(const std::vector<std::string>& texts) {
        return std::ranges::all_of(texts, format::json::is_text);
    }
    static bool is_good(const std::vector<std::pair<std::string, std::string>>& variables) {
        return std::ranges::all_of(variables, [](const auto& variable) {
            return format::json::is_text(variable.first) && format::json::is_text(variable.second);
        });
    }
};

bool is_token(const std::string& text) {
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return text.size() == token_digits && std::ranges::all_of(text, is_digit);
}

bool is_neighbourhood(const Neighbourhood& neighbours) {
    if (neighbours.helpers == 0) return neighbours == Neighbourhood{};
    return neighbours.helpers <= helpers_max && neighbours.first < neighbours.helpers &&
           neighbours.number.value_or(0) < neighbours.helpers && is_token(neighbours.token) &&
           neighbours.address.size() <= forwarder_text_max && format::json::is_text(neighbours.address);
}

bool is_forwarding(const Forwarding& forwarding) {
    if (forwarding.to.empty()) return forwarding.token.empty();
    return forwarding.to.size() <= describe::forwarders_max && is_token(forwarding.token) &&
           std::ranges::all_of(forwarding.to, [](const std::string& address) {
               return !address.empty() && address.size() <= forwarder_text_max && format::json::is_text(address);
           });
}

}  // namespace

Result<> check(const AgentOptions& agent) {
    FB_TRY(describe::check_values(agent));
    if (agent.forwarders > 0 && !agent.forward_to.empty())
        return refusal(
            "agent.forward_to (running forwarders) and agent.forwarders (hosts of this job) exclude each other: set "
            "one option.");
    if (agent.forward_to.empty() != agent.forward_token_file.empty())
        return refusal(
            "agent.forward_to and agent.forward_token_file belong together: set the addresses of the forwarders and "
            "the file that forebay forward made.");
    for (const auto& [name, value] : agent.environment)
        if (name.empty() || name.find('=') != name.npos)
            return refusal(fmt::format(
                "agent.environment has a variable '{}': the name must not be empty or contain '='.", show_text(name)));
    Result<> verdict;
    describe::each_option(agent, CheckText{verdict});
    return verdict;
}

Result<std::string> encode_session(const SessionFile& session) {
    const auto& agent = session.agent;
    FB_TRY(check(agent));
    if (!sys::is_whole(session.run) || !format::json::is_text(session.run) || !format::json::is_text(session.host))
        return refusal(
            fmt::format("run '{}' on host '{}': the path of the run must be absolute or an address, and both must be "
                        "UTF-8 without NUL.",
                        session.run, session.host));
    if (!is_forwarding(session.forwarding))
        return refusal("a forwarder's address must be UTF-8 of 1 to 1024 bytes, its token 32 hexadecimal digits.");
    if (!is_neighbourhood(session.neighbours)) return refusal("its neighbours are not valid.");
    using nlohmann::json;
    json options = json::object();
    describe::each_option(agent, WriteOption{options});
    json document = {{"forebay", "session"},
                     {"version", session_version},
                     {"run", session.run},
                     {"run_id", fmt::format("{:016x}", session.run_id)},
                     {"claim", fmt::format("{:016x}", session.claim)},
                     {"host", session.host},
                     {"process", session.process},
                     {"agent", options}};
    if (!session.forwarding.to.empty()) {
        document["forward_to"] = session.forwarding.to;
        document["forward_token"] = session.forwarding.token;
    }
    if (const auto& with = session.neighbours; with.helpers > 0) {
        document["neighbours"] = {{"helpers", with.helpers},   {"first", with.first},
                                  {"excluded", with.excluded}, {"avoid_slow", with.avoid_slow},
                                  {"address", with.address},   {"token", with.token}};
        if (with.number) document["neighbours"]["number"] = *with.number;
    }
    return document.dump(1) + "\n";
}

Result<SessionFile> decode_session(const std::string& text, const std::string& path) {
    const auto corrupt = [&](const std::string& why) {
        return Error{ErrorKind::corrupt, fmt::format("{} cannot be read: {}", path, why), "the staged files beside it",
                     "start the application again on this node with the same run, which takes over the staged copies"};
    };
    const auto document = format::json::Document::parse(text);
    if (!document) return corrupt("it is not JSON.");
    const auto root = document->root();
    const auto version = root.member("version").u64();
    if (root.member("forebay").text() != "session" || !version || *version < 1 || *version > session_version)
        return Error{ErrorKind::unsupported,
                     fmt::format("{} is not a session file of version 1 to {}.", path, session_version)};
    SessionFile session;
    if (!SessionReader(session).read(root)) return corrupt("a member is absent or of another type.");
    if (!sys::is_whole(session.run)) return corrupt(fmt::format("its run '{}' is not an absolute path.", session.run));
    if (const auto good = check(session.agent); !good) return corrupt(good.error().what);
    if (!is_forwarding(session.forwarding)) return corrupt("its forwarders or their token are not valid.");
    if (!is_neighbourhood(session.neighbours)) return corrupt("its neighbours are not valid.");
    return session;
}

}  // namespace forebay::node
