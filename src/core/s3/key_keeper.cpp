#include "core/s3/key_keeper.hpp"

#include <algorithm>

#include "core/base/try.hpp"
#include "core/s3/key.hpp"
#include "core/sys/process.hpp"

namespace forebay::s3 {

namespace {

// Keys with an expiry time are renewed five minutes before it, or after half of their life. Keys of a role without an
// expiry time are renewed every five minutes.
constexpr std::chrono::minutes before_end{5}, asked_lasts{5};
// The pause after a failed search, or after a search that found the same keys.
constexpr std::chrono::seconds found_again_after{10};
constexpr const char* machine_service = "http://169.254.169.254/latest/";
constexpr long machine_seconds = 2;
constexpr std::chrono::seconds program_max{60};
constexpr auto never = std::chrono::system_clock::time_point::max();

}  // namespace

Result<KeyKeeper::Keys> KeyKeeper::current() {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (keys_.version > 0 && now < find_again_) return keys_;
    const auto fresh = find();
    if (!fresh && (keys_.version == 0 || now >= expire_)) return fresh.error();
    // The present keys are still valid.
    if (!fresh) find_again_ = now + found_again_after;
    return keys_;
}

Result<bool> KeyKeeper::renew(std::uint64_t version) {
    const std::lock_guard lock(mutex_);
    if (version != keys_.version) return true;  // another thread renewed them
    // Some servers reject the keys for every object that may not be read. The pause protects the program or the service
    // from a call for each object.
    const auto now = std::chrono::steady_clock::now();
    if (!settings_.has_keys && same_found_ && now - *same_found_ < found_again_after) return false;
    // The files may have other keys by now.
    if (settings_.read_again) {
        FB_TRY_ASSIGN(settings, settings_.read_again());
        settings_ = std::move(settings);
    }
    FB_TRY(find());
    same_found_ = version == keys_.version ? std::optional(now) : std::nullopt;
    return !same_found_;
}

Result<> KeyKeeper::find() {
    ExpiringCredentials credentials{.credentials = settings_.credentials, .expire = never};
    if (!settings_.has_keys) {
        FB_TRY_ASSIGN(asked, settings_.program.empty() ? ask_machine() : ask_program());
        credentials = std::move(asked);
    }
    const auto now = Clock::now();
    const auto expire = credentials.expire.value_or(never);
    if (expire <= now)
        return Error{ErrorKind::refused, "the credentials for S3 have expired already", "",
                     "log in again at their source, or set the clock of this machine"};
    expire_ = expire;
    if (!credentials.expire) find_again_ = settings_.program.empty() ? now + asked_lasts : never;
    else find_again_ = expire_ == never ? never : expire_ - std::min<Clock::duration>(before_end, (expire_ - now) / 2);
    // Equal keys keep their version: renew() then reports that there are no others.
    if (keys_.version == 0 || credentials.credentials != keys_.credentials)
        keys_ = {std::move(credentials.credentials), keys_.version + 1};
    return {};
}

// Does not show the program's output: it is secret even if the program fails.
Result<ExpiringCredentials> KeyKeeper::ask_program() const {
    const auto output = sys::output_of_script(settings_.program, program_max);
    const auto keys = output ? credentials_from(*output) : Result<ExpiringCredentials>(output.error());
    if (keys) return *keys;
    const bool is_late = !output && output.error().kind == ErrorKind::retry;
    return Error{ErrorKind::refused,
                 "the credential_process of the profile gives no credentials for S3: " +
                     (output    ? keys.error().what
                      : is_late ? "it did not end within " + std::to_string(program_max.count()) + " s"
                                : "it cannot be run, or ends with an error"),
                 "", "run it by hand, and check credential_process in the AWS configuration files"};
}

// IMDSv2 in three requests: a token, the name of the role, its keys.
Result<ExpiringCredentials> KeyKeeper::ask_machine() const {
    const Error none{ErrorKind::refused, "no credentials for S3 were found", "",
                     "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run aws configure. For a public bucket set "
                     "AWS_NO_SIGN_REQUEST=true"};
    if (!settings_.asks_machine) return none;
    const HttpLimits limits{.connect_seconds = machine_seconds, .silent_seconds = machine_seconds};
    const std::string service = machine_service;
    const auto token = http_.exchange({.method = "PUT",
                                       .url = service + "api/token",
                                       .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "300"}},
                                       .body = {},
                                       .take = {},
                                       .limits = limits});
    if (!token || !token->is_good()) return none;
    const auto get = [&](const std::string& path) {
        return http_.exchange({.method = "GET",
                               .url = service + path,
                               .headers = {{"X-aws-ec2-metadata-token", token->body}},
                               .body = {},
                               .take = {},
                               .limits = limits});
    };
    const std::string roles = "meta-data/iam/security-credentials/";
    const auto role = get(roles);
    if (!role || !role->is_good()) return none;
    const auto keys = get(roles + url_encoded(role->body.substr(0, role->body.find('\n')), false));
    if (!keys || !keys->is_good()) return none;
    return credentials_from(keys->body);
}

}  // namespace forebay::s3
