// Endpoint, region and credentials, found as the AWS tools find them. The environment comes first, then the profile's
// section in ~/.aws/credentials and ~/.aws/config. The profile may call a program for keys (credential_process).
// Without any keys the machine's role is used (IMDSv2). A source of keys that this program does not support, such as a
// role or a single sign-on, is refused by name.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/s3/sign.hpp"
#include "forebay/result.hpp"

namespace forebay::s3 {

struct S3Settings {
    Credentials credentials;
    std::string region;
    std::string endpoint;       // "http://host:port"; empty: AWS itself
    std::string endpoint_name;  // the variable, or the key in a file, with the endpoint
    bool is_unsigned = false;   // requests go without keys, for public buckets
    std::string ca_bundle;      // a file with trusted certificates; empty: the system's
    int attempts = 10;          // of one request; with the pauses about 20 s
    bool has_keys = false;      // else ask the program, or without a program the machine
    std::string program;        // a shell command
    bool asks_machine = true;
    /// Reads the same sources again. Empty if that is impossible.
    std::function<Result<S3Settings>()> read_again;
    /// Each request tries again even if the server did not answer before. For callers that wait until the server is
    /// back.
    bool keeps_asking = false;
};

/// The sources of settings. A test supplies its own.
struct Surroundings {
    std::function<std::string(const char*)> variable;             // "" if it is not set
    std::function<Result<std::string>(const std::string&)> read;  // a file; `missing` if it does not exist
};
Surroundings own_surroundings();

/// Sections of an AWS file: [name], then "key = value" lines. Lines indented below "s3 =" get keys such as
/// "s3.endpoint_url". Sections of ~/.aws/config are called "profile NAME", except "default".
using Sections = std::map<std::string, std::map<std::string, std::string>>;
Sections sections_from(const std::string& text);

Result<S3Settings> settings_from(const Surroundings& surroundings);

struct ExpiringCredentials {
    Credentials credentials;
    std::optional<std::chrono::system_clock::time_point> expire;  // nothing: no expiry time was given
};
/// Decodes the answer of the machine's service, or the output of a program: JSON with AccessKeyId, SecretAccessKey,
/// Token or SessionToken, Expiration. `corrupt` for anything else. The error shows nothing of the text, because it is
/// secret.
Result<ExpiringCredentials> credentials_from(const std::string& json);

}  // namespace forebay::s3
