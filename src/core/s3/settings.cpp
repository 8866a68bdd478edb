#include "core/s3/settings.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/store.hpp"

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
    // A default file may be missing, but not a file that the user has chosen.
    if (text.error().kind == ErrorKind::missing && !is_named) return Sections{};
    return with_context(text.error(), std::string(variable) + ": " + text.error().what);
}

std::string first_of(std::initializer_list<std::string> values) {
    const auto match = std::ranges::find_if(values, [](const std::string& value) { return !value.empty(); });
    return match == values.end() ? "" : *match;
}

using Section = Sections::mapped_type;

std::string value_in(const Section& section, const char* key) {
    const auto match = section.find(key);
    return match == section.end() ? "" : match->second;
}

// `profile "my own"` and `profile   my own` are the same name.
std::string section_name(std::string_view text) {
    std::string name;
    for (const char letter : text) {
        if (letter == '"' || letter == '\'') continue;
        const bool is_space = letter == ' ' || letter == '\t';
        if (!is_space) name += letter;
        else if (!name.empty() && name.back() != ' ') name += ' ';
    }
    return name;
}

Result<bool> is_true(const std::string& what, const std::string& text) {
    auto word = text;
    std::ranges::transform(word, word.begin(),
                           [](unsigned char character) { return static_cast<char>(std::tolower(character)); });
    if (word.empty() || word == "false" || word == "no" || word == "0") return false;
    if (word == "true" || word == "yes" || word == "1") return true;
    return Error{ErrorKind::refused, what + ", \"" + show_text(text) + "\", is not true or false"};
}

// Returns "http://host:port/path" without a slash at the end.
Result<std::string> checked_endpoint(std::string endpoint) {
    while (endpoint.ends_with('/')) endpoint.pop_back();
    const bool is_url = endpoint.empty() || endpoint.starts_with("http://") || endpoint.starts_with("https://");
    const bool has_user = endpoint.find('@') != endpoint.npos;
    if (is_url && !has_user && is_showable(endpoint)) return endpoint;
    return Error{ErrorKind::refused,
                 has_user ? "the endpoint of S3 has an \"@\", but credentials do not belong there"
                          : "the endpoint of S3, \"" + show_text(endpoint) + "\", is not a URL",
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
    return Error{ErrorKind::refused, "AWS_MAX_ATTEMPTS, \"" + show_text(text) + "\", is not a number from 1 to 100"};
}

// Accepts "2026-11-27T10:08:47Z", also with a fraction of seconds, or with "+01:00" instead of "Z".
std::optional<std::chrono::system_clock::time_point> expiry_from(const std::string& text) {
    std::tm fields{};
    const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &fields);
    if (end == nullptr) return {};
    if (*end == '.') end += 1 + std::strspn(end + 1, "0123456789");
    end = ::strptime(end, "%z", &fields);
    if (end == nullptr || *end != '\0') return {};
    // timegm() reads the fields as UTC, so the offset is subtracted here.
    const auto east = fields.tm_gmtoff;
    return std::chrono::system_clock::from_time_t(::timegm(&fields) - east);
}

}  // namespace

Surroundings own_surroundings() {
    return {.variable = sys::environment_value,
            .read = [](const std::string& path) { return sys::read_text(sys::posix_store(), path, file_bytes_max); }};
}

Sections sections_from(const std::string& text) {
    Sections sections;
    Section* section = nullptr;
    std::string outer;  // the key whose value is the indented lines below it
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto whole = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), whole.size() + 1));
        const auto line = trimmed(whole);
        if (line.empty() || line[0] == '#' || line[0] == ';') continue;
        if (line[0] == '[') {
            const auto end = line.find(']');
            section = end == line.npos ? nullptr : &sections[section_name(trimmed(line.substr(1, end - 1)))];
            outer.clear();
            continue;
        }
        const auto equals = line.find('=');
        const bool is_nested = whole[0] == ' ' || whole[0] == '\t';
        if (section == nullptr || equals == line.npos || (is_nested && outer.empty())) continue;
        const std::string key(trimmed(line.substr(0, equals)));
        const auto value = trimmed(line.substr(equals + 1));
        (*section)[is_nested ? outer + "." + key : key] = value;
        if (!is_nested) outer = value.empty() ? key : "";
    }
    return sections;
}

namespace {

struct Profile {
    std::string name;
    Section secret, config;  // the sections in the two files
    std::string value(const char* key) const { return first_of({value_in(secret, key), value_in(config, key)}); }
};

// The error for a source of keys that the AWS tools support and this program does not. `asks` is the key or variable.
Error other_way(const Profile& profile, const std::string& asks, const std::string& kind) {
    return {
        ErrorKind::refused, "the keys for S3 come from " + kind + " (" + asks + "), and forebay cannot get them there",
        "",
        "let the AWS tool get them: a profile with credential_process = aws configure export-credentials --profile " +
            show_text(profile.name) + " --format process, and AWS_PROFILE with its name"};
}

// A role comes before the keys of the same profile: these keys belong to another identity.
Result<> check_role(const Profile& profile) {
    if (profile.value("role_arn").empty()) return {};
    return other_way(profile, "role_arn in the profile " + show_text(profile.name), "a role");
}

Result<> check_other_ways(const Surroundings& surroundings, const Profile& profile) {
    for (const auto* variable : {"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                 "AWS_CONTAINER_CREDENTIALS_FULL_URI"})
        if (!surroundings.variable(variable).empty()) return other_way(profile, variable, "a role of this container");
    for (const auto* key : {"sso_session", "sso_start_url", "sso_account_id", "login_session"})
        if (!profile.value(key).empty())
            return other_way(profile, std::string(key) + " in the profile " + show_text(profile.name),
                             "a single sign-on");
    return {};
}

// The order of the AWS tools: variables, then the profile's services section, then the profile itself.
Result<> choose_endpoint(const Surroundings& surroundings, const Profile& profile, Sections& configs,
                         S3Settings& settings) {
    FB_TRY_ASSIGN(ignores, is_true("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
                                   surroundings.variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")));
    FB_TRY_ASSIGN(profile_ignores,
                  is_true("ignore_configured_endpoint_urls", profile.value("ignore_configured_endpoint_urls")));
    if (ignores || profile_ignores) return {};
    const auto services = profile.value("services");
    const auto section = "services " + section_name(services);
    if (!services.empty() && !configs.contains(section))
        return Error{ErrorKind::refused,
                     "the profile " + show_text(profile.name) + " has services = " + show_text(services) +
                         ", but the AWS configuration files have no section [" + show_text(section) + "]",
                     "", "write that section, or remove services from the profile"};
    const auto of_services = services.empty() ? "" : value_in(configs[section], "s3.endpoint_url");
    for (const auto& [name, given] : std::initializer_list<std::pair<std::string, std::string>>{
             {"AWS_ENDPOINT_URL_S3", surroundings.variable("AWS_ENDPOINT_URL_S3")},
             {"AWS_ENDPOINT_URL", surroundings.variable("AWS_ENDPOINT_URL")},
             {"endpoint_url of s3 in [" + section + "]", of_services},
             {"endpoint_url", profile.value("endpoint_url")}}) {
        if (given.empty()) continue;
        FB_TRY_ASSIGN(endpoint, checked_endpoint(given));
        settings.endpoint = endpoint;
        settings.endpoint_name = name;
        return {};
    }
    return {};
}

Result<> choose_keys(const Surroundings& surroundings, const Profile& profile, bool is_named, S3Settings& settings) {
    const auto& of = surroundings.variable;
    const auto take = [&](const std::string& key, const std::string& secret_key, const std::string& token) {
        if (settings.has_keys || key.empty() || secret_key.empty()) return;
        settings.credentials = {key, secret_key, token};
        settings.has_keys = true;
    };
    const auto take_own = [&] { take(of("AWS_ACCESS_KEY_ID"), of("AWS_SECRET_ACCESS_KEY"), of("AWS_SESSION_TOKEN")); };
    // An explicit profile comes before keys in the environment, as with the AWS tools.
    if (!is_named) take_own();
    if (!settings.has_keys) FB_TRY(check_role(profile));
    const auto take_of = [&](const Section& section) {
        take(value_in(section, "aws_access_key_id"), value_in(section, "aws_secret_access_key"),
             value_in(section, "aws_session_token"));
    };
    take_of(profile.secret);
    const auto program =
        first_of({value_in(profile.config, "credential_process"), value_in(profile.secret, "credential_process")});
    // In the config file a program comes before keys.
    if (settings.has_keys || program.empty()) take_of(profile.config);
    else settings.program = program;
    if (settings.program.empty()) take_own();
    if (settings.has_keys || !settings.program.empty()) return {};
    return check_other_ways(surroundings, profile);
}

}  // namespace

Result<S3Settings> settings_from(const Surroundings& surroundings) {
    const auto& of = surroundings.variable;
    FB_TRY_ASSIGN(secrets, sections_of(surroundings, "AWS_SHARED_CREDENTIALS_FILE", "credentials"));
    FB_TRY_ASSIGN(configs, sections_of(surroundings, "AWS_CONFIG_FILE", "config"));
    const auto named = first_of({of("AWS_PROFILE"), of("AWS_DEFAULT_PROFILE")});
    const auto profile = named.empty() ? "default" : named;
    const auto section = profile == "default" ? profile : "profile " + profile;
    if (!named.empty() && !secrets.contains(profile) && !configs.contains(section))
        return Error{ErrorKind::refused,
                     "the profile \"" + show_text(profile) + "\" of AWS_PROFILE is not in the AWS configuration files",
                     "", "aws configure --profile " + show_text(profile)};
    const Profile own{.name = profile, .secret = secrets[profile], .config = configs[section]};

    S3Settings settings;
    settings.read_again = [surroundings] { return settings_from(surroundings); };
    FB_TRY_ASSIGN(is_unsigned, is_true("AWS_NO_SIGN_REQUEST", of("AWS_NO_SIGN_REQUEST")));
    settings.is_unsigned = is_unsigned;
    if (!is_unsigned) FB_TRY(choose_keys(surroundings, own, !named.empty(), settings));
    settings.asks_machine = of("AWS_EC2_METADATA_DISABLED") != "true";
    settings.region = first_of({of("AWS_REGION"), of("AWS_DEFAULT_REGION"), own.value("region"), "us-east-1"});
    settings.ca_bundle = first_of({of("AWS_CA_BUNDLE"), own.value("ca_bundle")});
    FB_TRY(choose_endpoint(surroundings, own, configs, settings));
    FB_TRY_ASSIGN(attempts, attempts_from(first_of({of("AWS_MAX_ATTEMPTS"), own.value("max_attempts")})));
    settings.attempts = attempts;
    return settings;
}

Result<ExpiringCredentials> credentials_from(const std::string& json) {
    const auto parsed = nlohmann::json::parse(json, nullptr, false);
    const auto text_in = [&](const char* key) {
        return parsed.is_object() && parsed.contains(key) && parsed[key].is_string() ? parsed[key].get<std::string>()
                                                                                     : std::string();
    };
    ExpiringCredentials credentials;
    credentials.credentials = {text_in("AccessKeyId"), text_in("SecretAccessKey"),
                               first_of({text_in("SessionToken"), text_in("Token")})};
    if (credentials.credentials.access_key.empty() || credentials.credentials.secret_key.empty())
        return Error{ErrorKind::corrupt, "the answer has no AccessKeyId and SecretAccessKey"};
    const auto expiration = text_in("Expiration");
    credentials.expire = expiry_from(expiration);
    if (!expiration.empty() && !credentials.expire)
        return Error{ErrorKind::corrupt, "the answer's Expiration is not a time"};
    return credentials;
}

}  // namespace forebay::s3
