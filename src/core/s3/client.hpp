// Sends requests to one bucket: signs them, repeats them after faults that may pass, and turns answers into errors.
//
// Threads: any, concurrently.
// Errors:  `missing`: 404. `refused`: a permission is missing, or the server does not know the keys. `retry`: all
//          attempts failed. No error text holds a key, a token or a signature.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "core/s3/http.hpp"
#include "core/s3/key_keeper.hpp"
#include "core/s3/settings.hpp"

namespace forebay::s3 {

struct S3Request {
    std::string method;
    std::string key;  // empty: the bucket itself
    Pairs query{};
    Pairs headers{};  // lower-case names
    std::span<const std::byte> body{};
    std::function<Result<>(std::uint64_t offset, std::span<const std::byte>)> take{};
    long accepted_status = 0;  // a status other than 2xx that is not an error for the caller
    bool is_long = false;      // the server may work for minutes before it answers
};

class S3Client {
public:
    S3Client(S3Settings settings, std::string bucket, HttpLimits limits = {});

    Result<HttpAnswer> send(const S3Request& request);
    const std::string& bucket() const { return bucket_; }
    /// A number made from endpoint and bucket. It is the device number of the objects.
    std::uint64_t number() const { return number_; }

private:
    Result<HttpAnswer> send_once(const S3Request& request, const Credentials& keys);
    Error error_of(const S3Request& request, const HttpAnswer& answer);
    /// `refused` if the server has not answered yet, and it speaks https although the request used http.
    Result<> check_scheme();
    Error other_scheme(const std::string& spoken, const std::string& problem) const;
    std::string shown(const S3Request& request) const;
    bool is_of_aws() const { return settings_.endpoint.empty(); }

    const S3Settings settings_;
    const std::string bucket_;
    const HttpLimits limits_;
    std::string scheme_, host_, base_path_;  // "https", "host:port", "/path/bucket"
    std::uint64_t number_ = 0;
    Http http_;
    KeyKeeper keys_;
    /// True after the server did not answer, or after several requests in a row failed through its fault. Other
    /// requests then fail at once and do not wait again. A single object that the server cannot serve does not set
    /// this.
    std::atomic<bool> is_gone_{false};
    std::atomic<int> failed_in_turn_{0};
    std::atomic<bool> was_answered_{false};
};

}  // namespace forebay::s3
