#include "s3/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/show_text.hpp"
#include "base/try.hpp"
#include "sys/store.hpp"

namespace forebay::s3 {

namespace {

constexpr std::uint64_t file_bytes_max = 4u << 20;
constexpr int attempts_max = 100;

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

Result<Sections> sections_of(const Surroundings& surroundings, const char* variable, const char* name) {
    auto path = surroundings.variable(variable);
    const bool is_named = !path.empty();
    if (!is_named) path = surroundings.variable("HOME") + "/.aws/" + name;
    const auto text = surroundings.read(path);
    if (text) return sections_from(*text);
    if (text.error().kind == ErrorKind::missing && !is_named) return Sections{};
    return because(text.error(), std::string(variable) + ": " + text.error().what);
}

std::string first_of(std::initializer_list<std::string> values) {
    const auto found = std::ranges::find_if(values, [](const std::string& value) { return !value.empty(); });
    return found == values.end() ? "" : *found;
}

std::string value_in(const std::map<std::string, std::string>& section, const char* key) {
    const auto found = section.find(key);
    return found == section.end() ? "" : found->second;
}

// "http://host:port/path" without a slash at its end.
Result<std::string> checked_endpoint(std::string endpoint) {
    while (endpoint.ends_with('/')) endpoint.pop_back();
    const bool is_url = endpoint.empty() || endpoint.starts_with("http://") || endpoint.starts_with("https://");
    const bool has_user = endpoint.find('@') != endpoint.npos;
    if (is_url && !has_user && is_showable(endpoint)) return endpoint;
    return Error{ErrorKind::refused,
                 has_user ? "the endpoint of S3 has an \"@\": credentials are never part of it"
                          : "the endpoint of S3, \"" + show_text(endpoint) + "\", is no URL",
                 "",
                 has_user || endpoint.find("://") != endpoint.npos || !is_showable(endpoint)
                     ? "AWS_ENDPOINT_URL=https://HOST"
                     : "AWS_ENDPOINT_URL=https://" + endpoint + ", or with http://"};
}

Result<int> attempts_from(const std::string& text) {
    if (text.empty()) return S3Settings{}.attempts;
    int attempts = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), attempts);
    if (problem == std::errc() && end == text.data() + text.size() && attempts >= 1 && attempts <= attempts_max)
        return attempts;
    return Error{ErrorKind::refused, "AWS_MAX_ATTEMPTS, \"" + show_text(text) + "\", is no number from 1 to 100"};
}

// "2026-11-27T10:08:47Z", perhaps with a fraction, and "+01:00" in place of "Z".
std::optional<std::chrono::system_clock::time_point> expiry_from(const std::string& text) {
    std::tm fields{};
    const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &fields);
    if (end == nullptr) return {};
    if (*end == '.') end += 1 + std::strspn(end + 1, "0123456789");
    end = ::strptime(end, "%z", &fields);
    if (end == nullptr || *end != '\0') return {};
    const auto east = fields.tm_gmtoff;
    return std::chrono::system_clock::from_time_t(::timegm(&fields) - east);
}

}  // namespace

Surroundings own_surroundings() {
    return {.variable =
                [](const char* name) {
                    const char* value = std::getenv(name);
                    return std::string(value == nullptr ? "" : value);
                },
            .read = [](const std::string& path) { return sys::read_text(sys::posix_store(), path, file_bytes_max); }};
}

Sections sections_from(const std::string& text) {
    Sections sections;
    std::map<std::string, std::string>* section = nullptr;
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto whole = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), whole.size() + 1));
        const auto line = trimmed(whole);
        if (line.empty() || line[0] == '#' || line[0] == ';') continue;
        if (line[0] == '[') {
            const auto end = line.find(']');
            section = end == line.npos ? nullptr : &sections[std::string(trimmed(line.substr(1, end - 1)))];
            continue;
        }
        const auto equals = line.find('=');
        const bool is_nested = whole[0] == ' ' || whole[0] == '\t';
        if (section == nullptr || is_nested || equals == line.npos) continue;
        (*section)[std::string(trimmed(line.substr(0, equals)))] = trimmed(line.substr(equals + 1));
    }
    return sections;
}

Result<S3Settings> settings_from(const Surroundings& surroundings) {
    const auto& of = surroundings.variable;
    FB_TRY_ASSIGN(secrets, sections_of(surroundings, "AWS_SHARED_CREDENTIALS_FILE", "credentials"));
    FB_TRY_ASSIGN(configs, sections_of(surroundings, "AWS_CONFIG_FILE", "config"));
    const auto named = first_of({of("AWS_PROFILE"), of("AWS_DEFAULT_PROFILE")});
    const auto profile = named.empty() ? "default" : named;
    const auto section_name = profile == "default" ? profile : "profile " + profile;
    if (!named.empty() && !secrets.contains(profile) && !configs.contains(section_name))
        return Error{ErrorKind::refused,
                     "the profile \"" + show_text(profile) + "\" of AWS_PROFILE is in neither of the files of AWS", "",
                     "aws configure --profile " + show_text(profile)};
    const auto& secret = secrets[profile];
    const auto& config = configs[section_name];

    S3Settings settings;
    const auto take = [&](const std::string& key, const std::string& secret_key, const std::string& token) {
        if (settings.has_keys || key.empty() || secret_key.empty()) return;
        settings.credentials = {key, secret_key, token};
        settings.has_keys = true;
    };
    settings.read_again = [surroundings] { return settings_from(surroundings); };
    // A profile that was asked for comes before keys in the environment, as with the tools of AWS.
    if (named.empty()) take(of("AWS_ACCESS_KEY_ID"), of("AWS_SECRET_ACCESS_KEY"), of("AWS_SESSION_TOKEN"));
    const auto take_of = [&](const std::map<std::string, std::string>& section) {
        take(value_in(section, "aws_access_key_id"), value_in(section, "aws_secret_access_key"),
             value_in(section, "aws_session_token"));
    };
    take_of(secret);
    const auto program = first_of({value_in(config, "credential_process"), value_in(secret, "credential_process")});
    if (settings.has_keys || program.empty()) take_of(config);
    else settings.program = program;
    if (settings.program.empty()) take(of("AWS_ACCESS_KEY_ID"), of("AWS_SECRET_ACCESS_KEY"), of("AWS_SESSION_TOKEN"));
    settings.asks_machine = of("AWS_EC2_METADATA_DISABLED") != "true";
    settings.region = first_of({of("AWS_REGION"), of("AWS_DEFAULT_REGION"), value_in(config, "region"), "us-east-1"});
    settings.ca_bundle = first_of({of("AWS_CA_BUNDLE"), value_in(config, "ca_bundle")});
    for (const auto* name : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "endpoint_url"}) {
        const auto given = std::string_view(name) == "endpoint_url" ? value_in(config, name) : of(name);
        if (given.empty() || !settings.endpoint.empty()) continue;
        FB_TRY_ASSIGN(endpoint, checked_endpoint(given));
        settings.endpoint = endpoint;
        settings.endpoint_name = name;
    }
    FB_TRY_ASSIGN(attempts, attempts_from(first_of({of("AWS_MAX_ATTEMPTS"), value_in(config, "max_attempts")})));
    settings.attempts = attempts;
    return settings;
}

Result<ExpiringCredentials> credentials_from(const std::string& json) {
    const auto parsed = nlohmann::json::parse(json, nullptr, false);
    const auto text_in = [&](const char* key) {
        return parsed.is_object() && parsed.contains(key) && parsed[key].is_string() ? parsed[key].get<std::string>()
                                                                                     : std::string();
    };
    ExpiringCredentials found;
    found.credentials = {text_in("AccessKeyId"), text_in("SecretAccessKey"),
                         first_of({text_in("SessionToken"), text_in("Token")})};
    if (found.credentials.access_key.empty() || found.credentials.secret_key.empty())
        return Error{ErrorKind::corrupt, "the answer has no AccessKeyId and SecretAccessKey"};
    const auto expiration = text_in("Expiration");
    found.expire = expiry_from(expiration);
    if (!expiration.empty() && !found.expire) return Error{ErrorKind::corrupt, "the answer's Expiration is no time"};
    return found;
}

}  // namespace forebay::s3
