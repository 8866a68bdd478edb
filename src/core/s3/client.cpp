#include "core/s3/client.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <random>
#include <thread>

#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/s3/answers.hpp"
#include "core/s3/key.hpp"
#include "core/sys/tree_place.hpp"

namespace forebay::s3 {

namespace {

constexpr std::chrono::milliseconds first_pause{100}, longest_pause{5'000};
constexpr long working_seconds = 600;
constexpr int failed_in_turn_max = 16;

std::string now_text() {
    const auto now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts)};
}

// The server is busy, restarting or cut off: the same request may succeed later.
bool may_pass(const HttpAnswer& answer, const ServerError& error) {
    return answer.status == 429 || answer.status >= 500 || error.code == "SlowDown" || error.code == "RequestTimeout" ||
           error.code == "BadDigest" || error.code == "OperationAborted" || error.code == "ConditionalRequestConflict";
}

// Some servers answer 404 to an unknown user.
bool is_about_keys(const HttpAnswer& answer, const ServerError& error) {
    const bool is_absence = error.code.empty() || error.code.starts_with("NoSuch") || error.code == "NotFound";
    return error.code == "InvalidAccessKeyId" || error.code == "SignatureDoesNotMatch" ||
           error.code == "ExpiredToken" || error.code == "TokenRefreshRequired" || error.code == "InvalidToken" ||
           (answer.status == 404 && !is_absence);
}

// A HEAD answer has no text, so only its status can show a problem with the keys.
bool may_be_about_keys(const HttpAnswer& answer, const ServerError& error) {
    return is_about_keys(answer, error) ||
           (error.code.empty() && (answer.status == 400 || answer.status == 401 || answer.status == 403));
}

std::chrono::milliseconds pause_after(int attempt) {
    static thread_local std::minstd_rand chance(std::random_device{}());
    auto pause = first_pause;
    for (int turn = 1; turn < attempt && pause < longest_pause; ++turn) pause *= 2;
    pause = std::min(pause, longest_pause);
    // A random half of the pause keeps many clients from asking again at the same moment.
    return pause / 2 + std::chrono::milliseconds(chance() % static_cast<unsigned>(pause.count() / 2 + 1));
}

Error no_other_keys(Error error, const Error& why) {
    error.what += "; no other credentials were found: " + why.what;
    return error;
}

}  // namespace

S3Client::S3Client(S3Settings settings, std::string bucket, HttpLimits limits)
    : settings_(std::move(settings)),
      bucket_(std::move(bucket)),
      limits_(limits),
      http_(settings_.ca_bundle),
      keys_(settings_, http_) {
    const auto& endpoint = settings_.endpoint;
    if (endpoint.empty()) {
        // A bucket name with a dot or underscore fits no certificate, so it goes into the path.
        const bool is_host = bucket_.find('.') == bucket_.npos && bucket_.find('_') == bucket_.npos;
        scheme_ = "https";
        const auto service = "s3." + settings_.region + ".amazonaws.com";
        host_ = is_host ? bucket_ + "." + service : service;
        base_path_ = is_host ? "" : "/" + bucket_;
    } else {
        const auto begin = endpoint.find("://");
        const auto slash = endpoint.find('/', begin + 3);
        scheme_ = endpoint.substr(0, begin);
        host_ = endpoint.substr(begin + 3, slash == endpoint.npos ? slash : slash - begin - 3);
        base_path_ = (slash == endpoint.npos ? "" : endpoint.substr(slash)) + "/" + bucket_;
    }
    const auto place = host_ + base_path_;
    number_ = siphash({}, std::as_bytes(std::span(place)));
}

std::string S3Client::shown(const S3Request& request) const {
    return request.method + " s3://" + bucket_ + (request.key.empty() ? "" : "/" + show_text(request.key));
}

Result<HttpAnswer> S3Client::send(const S3Request& request) {
    std::string problem;
    bool has_answered = false, has_other_keys = false;
    for (int attempt = 1; attempt <= settings_.attempts; ++attempt) {
        if (is_gone_)
            return Error{
                ErrorKind::retry, shown(request) + ": the server " + host_ + " fails" + std::string(sys::given_up),
                "every object with its final name is whole", "repeat the same command when the server is back"};
        FB_TRY_ASSIGN(keys, settings_.is_unsigned ? Result<KeyKeeper::Keys>(KeyKeeper::Keys()) : keys_.current());
        auto answer = send_once(request, keys.credentials);
        has_answered = answer.has_value();
        if (answer) {
            FB_TRY(answer->taken);  // the caller's function failed, not the server
            const auto error = server_error_from(answer->body);
            // A copy or the end of an upload may fail after the server sent the status.
            const bool failed_late = answer->is_good() && request.is_long && !error.code.empty();
            if ((answer->is_good() && !failed_late) || answer->status == request.accepted_status) {
                failed_in_turn_ = 0;
                was_answered_ = true;
                return answer;
            }
            if (!settings_.is_unsigned && !has_other_keys && may_be_about_keys(*answer, error)) {
                // The attempt with renewed keys does not count: it is the first with these keys.
                const auto renewed = keys_.renew(keys.version);
                if (!renewed) return no_other_keys(error_of(request, *answer), renewed.error());
                if (*renewed) {
                    has_other_keys = true;
                    --attempt;
                    continue;
                }
            }
            // Any other error would come again.
            if (!failed_late && !may_pass(*answer, error)) return error_of(request, *answer);
            problem = "HTTP " + std::to_string(answer->status) + " " + show_text(error.code);
        } else if (answer.error().kind == ErrorKind::retry) {
            problem = answer.error().what;
            // A wrong scheme looks like a lost connection. The check comes before the pauses of all attempts.
            if (attempt == 1) FB_TRY(check_scheme());
        } else if (answer.error().kind == ErrorKind::unsupported) {
            return other_scheme("http", answer.error().what);
        } else {
            return answer;
        }
        if (attempt < settings_.attempts) std::this_thread::sleep_for(pause_after(attempt));
    }
    // One object that the server cannot serve must not stop the others, so only failures in a row count.
    if (!settings_.keeps_asking && (!has_answered || ++failed_in_turn_ >= failed_in_turn_max)) is_gone_ = true;
    return Error{ErrorKind::retry,
                 shown(request) + " at " + host_ + ": " + problem + ", " + std::to_string(settings_.attempts) +
                     " times" + std::string(sys::given_up),
                 "every object with its final name is whole",
                 is_of_aws() && !has_answered
                     ? "set AWS_ENDPOINT_URL to your server, as in https://HOST. Without it, requests go to AWS"
                     : "repeat the same command when the server is back"};
}

// An https server cuts off an http request, or answers it with text that is not S3's.
Result<> S3Client::check_scheme() {
    if (was_answered_ || scheme_ != "http" || !http_.speaks_tls(host_)) return {};
    return other_scheme("https", "");
}

Error S3Client::other_scheme(const std::string& spoken, const std::string& problem) const {
    const auto asked = scheme_ + "://" + host_;
    const auto what = "the server " + host_ + " speaks " + spoken + ", but the request used " + asked +
                      (problem.empty() ? "" : " (" + problem + ")");
    if (is_of_aws())
        return {ErrorKind::refused, what, "",
                "set AWS_ENDPOINT_URL if you do not mean AWS. Otherwise look for a proxy in between"};
    return {ErrorKind::refused, what, "",
            settings_.endpoint_name + "=" + spoken + settings_.endpoint.substr(settings_.endpoint.find("://"))};
}

Result<HttpAnswer> S3Client::send_once(const S3Request& request, const Credentials& keys) {
    const auto path = request.key.empty() ? base_path_ + "/" : base_path_ + "/" + url_encoded(request.key, true);
    const auto time = now_text();
    ToSign to_sign{.method = request.method,
                   .path = path,
                   .query = request.query,
                   .headers = request.headers,
                   .region = settings_.region};
    auto& headers = to_sign.headers;
    if (!settings_.is_unsigned) {
        // The signature covers the headers, also the checksum of the body, but not the body itself.
        headers.emplace_back("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
        headers.emplace_back("x-amz-date", time);
    }
    if (!keys.session_token.empty()) headers.emplace_back("x-amz-security-token", keys.session_token);
    // libcurl sends the header "host" itself: it is signed, but not in this list.
    auto sent = headers;
    headers.emplace_back("host", host_);
    if (!settings_.is_unsigned) sent.emplace_back("Authorization", authorization_of(to_sign, keys, time));
    const auto query = query_text(request.query);
    auto limits = limits_;
    if (request.is_long) limits.silent_seconds = std::max(limits.silent_seconds, working_seconds);
    return http_.exchange({.method = request.method,
                           .url = scheme_ + "://" + host_ + path + (query.empty() ? "" : "?" + query),
                           .headers = std::move(sent),
                           .body = request.body,
                           .take = request.take,
                           .limits = limits});
}

Error S3Client::error_of(const S3Request& request, const HttpAnswer& answer) {
    const auto error = server_error_from(answer.body);
    // An https server may answer an http request with 400 and no error of S3.
    if (answer.status == 400 && error.code.empty())
        if (const auto checked = check_scheme(); !checked) return checked.error();
    auto what = shown(request) + ": HTTP " + std::to_string(answer.status);
    if (!error.code.empty()) what += " " + show_text(error.code);
    if (!error.message.empty()) what += ": " + show_text(error.message);
    if (answer.status == 301 || answer.status == 307 || answer.status == 400) {
        const auto region = error.region.empty() ? answer.header("x-amz-bucket-region") : error.region;
        if (!region.empty() && region != settings_.region)
            return {ErrorKind::refused, what + "; the bucket is in the region " + show_text(region), "",
                    "AWS_REGION=" + show_text(region)};
    }
    if (error.code == "RequestTimeTooSkewed")
        return {ErrorKind::refused,
                what + "; the clock here shows " + now_text() + ", the server's " + show_text(answer.header("date")),
                "", "set the clock of this machine"};
    if (error.code == "NoSuchBucket")  // ErrorKind::missing would say that the source of a write is missing
        return {request.method == "PUT" || request.method == "POST" ? ErrorKind::refused : ErrorKind::missing,
                "the bucket " + bucket_ + " does not exist at " + scheme_ + "://" + host_ + " (" + what + ")", "",
                "make the bucket " + bucket_ + ", or correct its name" +
                    (is_of_aws() ? "; or set AWS_ENDPOINT_URL, if AWS itself is not meant" : "")};
    if (is_about_keys(answer, error) && !settings_.is_unsigned)
        return {
            ErrorKind::refused, what, "",
            std::string("correct or renew AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the files for AWS_PROFILE") +
                (is_of_aws() ? "; or set AWS_ENDPOINT_URL, if AWS itself is not meant" : "")};
    if (answer.status == 404) return {ErrorKind::missing, what};
    if (answer.status == 401 || answer.status == 403)
        return {ErrorKind::refused, what, "",
                settings_.is_unsigned ? "unset AWS_NO_SIGN_REQUEST, and give keys with this permission"
                                      : "ask for this permission"};
    if (error.code == "KeyTooLongError" || error.code == "MetadataTooLarge" || answer.status == 501)
        return {ErrorKind::unsupported, what};
    if (answer.status == 507 || error.code == "QuotaExceeded") return {ErrorKind::full, what};
    return {answer.status == 412 || answer.status == 409 ? ErrorKind::retry : ErrorKind::refused, what};
}

}  // namespace forebay::s3
