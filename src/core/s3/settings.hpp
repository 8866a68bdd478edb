// Endpoint, region and credentials, as the tools of AWS find them: the environment first, then the profile's section in
// ~/.aws/credentials and ~/.aws/config, which may name a program that gives keys (credential_process), and where there
// are none at all the machine's own role (IMDSv2). What asks for keys in a way that this program does not know, as a
// role or a single sign-on, is refused by its name.

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
    std::string endpoint_name;  // which variable, or key in a file, says so
    bool is_unsigned = false;   // requests go without keys: what is open to everybody
    std::string ca_bundle;      // a file with certificates that count; empty: the system's
    int attempts = 10;          // of one request: with their pauses some 20 s
    bool has_keys = false;      // else they are to be asked of the program, or without one of the machine
    std::string program;        // a command of the shell
    bool asks_machine = true;
    /// The same from the same places as they are now; none where that cannot be.
    std::function<Result<S3Settings>()> read_again;
    /// A server that did not answer is asked again by the next request: for who waits until it is back.
    bool keeps_asking = false;
};

/// Where settings are looked for; a test has its own.
struct Surroundings {
    std::function<std::string(const char*)> variable;             // "" where it is not set
    std::function<Result<std::string>(const std::string&)> read;  // a file; `missing` where there is none
};
Surroundings own_surroundings();

/// Sections of a file of AWS: [name], then "key = value" lines. Lines that are indented below "s3 =" are of keys as
/// "s3.endpoint_url". The sections of ~/.aws/config are called "profile NAME", but for "default".
using Sections = std::map<std::string, std::map<std::string, std::string>>;
Sections sections_from(const std::string& text);

Result<S3Settings> settings_from(const Surroundings& surroundings);

struct ExpiringCredentials {
    Credentials credentials;
    std::optional<std::chrono::system_clock::time_point> expire;  // nothing: not told
};
/// The answer of the machine's own service, or the output of a program: JSON with AccessKeyId, SecretAccessKey, Token
/// or SessionToken, Expiration. `corrupt` for anything else; its error has nothing of the text.
Result<ExpiringCredentials> credentials_from(const std::string& json);

}  // namespace forebay::s3
