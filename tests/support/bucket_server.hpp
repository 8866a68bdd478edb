// An S3 bucket in the memory of a test. It answers the requests of src/core/s3 and checks no signatures. It obeys
// If-Match and If-None-Match. A test can make the server vanish before or after any change.

#pragma once

#include <httplib.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "core/base/crc32c.hpp"
#include "core/s3/bucket.hpp"

namespace forebay::test {

class BucketServer {
public:
    struct Object {
        std::string body, etag;
        friend bool operator==(const Object&, const Object&) = default;
    };
    using Objects = std::map<std::string, Object>;

    BucketServer() {
        const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
            answer(request, response);
        };
        server_.Get(".*", handle).Put(".*", handle).Post(".*", handle).Delete(".*", handle);
        server_.set_tcp_nodelay(true);
        port_ = server_.bind_to_any_port("127.0.0.1");
        thread_ = std::thread([this] { server_.listen_after_bind(); });
        while (!server_.is_running()) std::this_thread::yield();
    }
    BucketServer(const BucketServer&) = delete;
    BucketServer& operator=(const BucketServer&) = delete;
    ~BucketServer() {
        server_.stop();
        thread_.join();
    }

    std::shared_ptr<s3::Bucket> bucket() const {
        s3::S3Settings settings{.credentials = {.access_key = "key", .secret_key = "secret", .session_token = {}},
                                .region = "here",
                                .endpoint = endpoint(),
                                .ca_bundle = {}};
        settings.attempts = 1;
        settings.has_keys = true;
        settings.keeps_asking = true;
        return std::make_shared<s3::Bucket>(std::move(settings), "bucket", sys::NewEntryOwner{});
    }

    std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }

    /// After this call other access keys get this error code.
    void accept_only(const std::string& key, const std::string& code = "InvalidAccessKeyId") {
        const std::lock_guard lock(mutex_);
        accepted_key_ = key;
        other_key_code_ = code;
    }
    std::uint64_t requests() {
        const std::lock_guard lock(mutex_);
        return requests_;
    }
    std::string last_token() {
        const std::lock_guard lock(mutex_);
        return last_token_;
    }

    Objects objects() {
        const std::lock_guard lock(mutex_);
        return objects_;
    }
    void begin_with(Objects objects) {
        const std::lock_guard lock(mutex_);
        objects_ = std::move(objects);
        parts_.clear();
        changes_ = 0;
        lost_at_.reset();
        before_change = {};
    }
    /// The server vanishes at this change. With `is_done` the change is made and only its answer is lost.
    void lose_at(std::uint64_t change, bool is_done) {
        const std::lock_guard lock(mutex_);
        lost_at_ = change;
        last_is_done_ = is_done;
    }
    void come_back() {
        const std::lock_guard lock(mutex_);
        lost_at_.reset();
    }
    std::uint64_t changes() {
        const std::lock_guard lock(mutex_);
        return changes_;
    }
    std::size_t uploads() {
        const std::lock_guard lock(mutex_);
        return parts_.size();
    }
    /// The number of parts of the upload under way.
    std::size_t parts_of(const std::string& key) {
        const std::lock_guard lock(mutex_);
        return parts_.contains(key) ? parts_.at(key).size() : 0;
    }

    bool keeps_conditions = true;
    /// Called before each change with its number, by the thread that makes the change.
    std::function<void(std::uint64_t)> before_change;

private:
    static void refuse(httplib::Response& response, int status, const std::string& code) {
        response.status = status;
        response.set_content("<Error><Code>" + code + "</Code></Error>", "application/xml");
    }
    static std::string checksum_of(const std::string& body) {
        return s3::checksum_text(crc32c(std::as_bytes(std::span(body))));
    }

    void answer(const httplib::Request& request, httplib::Response& response) {
        const auto key = request.path.substr(std::string("/bucket/").size());
        const bool is_change = request.method != "GET" && request.method != "HEAD";
        if (const auto call = before_change; is_change && call) call(changes());
        const std::lock_guard lock(mutex_);
        ++requests_;
        last_token_ = request.get_header_value("x-amz-security-token");
        const auto credential = "Credential=" + accepted_key_ + "/";
        if (!accepted_key_.empty() && request.get_header_value("Authorization").find(credential) == std::string::npos)
            return refuse(response, 403, other_key_code_);
        const auto number = is_change ? changes_++ : changes_;
        const bool is_lost = lost_at_ && number >= *lost_at_;
        const bool is_last = is_change && lost_at_ && number == *lost_at_;
        if (is_lost && !(is_last && last_is_done_)) return refuse(response, 503, "Lost");
        if (!is_change) look(request, key, response);
        else change(request, key, response);
        if (is_last) refuse(response, 503, "Lost");
    }

    void look(const httplib::Request& request, const std::string& key, httplib::Response& response) {
        if (request.has_param("uploads")) {
            std::string rows;
            for (const auto& [upload, parts] : parts_)
                if (upload.starts_with(request.get_param_value("prefix")))
                    rows += "<Upload><Key>" + upload + "</Key><UploadId>" + upload + "</UploadId></Upload>";
            return response.set_content("<ListMultipartUploadsResult>" + rows + "</ListMultipartUploadsResult>",
                                        "text/xml");
        }
        if (request.has_param("list-type")) return list(request.get_param_value("prefix"), response);
        const auto object = objects_.find(key);
        if (object == objects_.end()) return refuse(response, 404, "NoSuchKey");
        response.set_header("ETag", object->second.etag);
        response.set_content(object->second.body, "application/octet-stream");  // httplib cuts the requested range
    }

    void list(const std::string& prefix, httplib::Response& response) {
        std::string rows;
        std::set<std::string> below;
        for (const auto& [key, object] : objects_) {
            if (!key.starts_with(prefix)) continue;
            const auto slash = key.find('/', prefix.size());
            if (slash != key.npos) below.insert(key.substr(0, slash + 1));
            else
                rows += "<Contents><Key>" + key + "</Key><Size>" + std::to_string(object.body.size()) +
                        "</Size></Contents>";
        }
        for (const auto& folder : below) rows += "<CommonPrefixes><Prefix>" + folder + "</Prefix></CommonPrefixes>";
        response.set_content("<ListBucketResult>" + rows + "</ListBucketResult>", "text/xml");
    }

    void change(const httplib::Request& request, const std::string& key, httplib::Response& response) {
        if (request.method == "PUT") return put(request, key, response);
        if (request.method == "DELETE") {
            if (request.has_param("uploadId")) parts_.erase(key);
            else objects_.erase(key);
            response.status = 204;
            return;
        }
        if (request.has_param("delete")) {
            const std::string begin = "<Key>", end = "</Key>";
            for (auto at = request.body.find(begin); at != std::string::npos; at = request.body.find(begin, at + 1))
                objects_.erase(request.body.substr(at + begin.size(), request.body.find(end, at) - at - begin.size()));
            return response.set_content("<DeleteResult></DeleteResult>", "text/xml");
        }
        if (request.has_param("uploads")) {
            parts_[key];
            return response.set_content(
                "<InitiateMultipartUploadResult><UploadId>" + key + "</UploadId></InitiateMultipartUploadResult>",
                "text/xml");
        }
        const auto parts = parts_.extract(key);
        if (parts.empty()) return refuse(response, 404, "NoSuchUpload");
        std::string body;
        for (const auto& [number, part] : parts.mapped()) body += part;
        keep(key, std::move(body));
        response.set_content("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>",
                             "text/xml");
    }

    void put(const httplib::Request& request, const std::string& key, httplib::Response& response) {
        if (request.has_param("uploadId")) {
            const auto upload = parts_.find(key);
            if (upload == parts_.end()) return refuse(response, 404, "NoSuchUpload");
            upload->second[std::stoi(request.get_param_value("partNumber"))] = request.body;
            response.set_header("ETag", "part");
        } else {
            const auto there = objects_.find(key);
            const bool is_there = there != objects_.end();
            if (keeps_conditions && request.has_header("If-None-Match") && is_there)
                return refuse(response, 412, "PreconditionFailed");
            if (keeps_conditions && request.has_header("If-Match")) {
                if (!is_there) return refuse(response, 404, "NoSuchKey");
                if (there->second.etag != request.get_header_value("If-Match"))
                    return refuse(response, 412, "PreconditionFailed");
            }
            const auto source = request.get_header_value("x-amz-copy-source");
            if (!source.empty()) {
                keep(key, objects_[source.substr(std::string("/bucket/").size())].body);
                return response.set_content("<CopyObjectResult><ETag>x</ETag></CopyObjectResult>", "text/xml");
            }
            response.set_header("ETag", keep(key, request.body));
        }
        response.set_header("x-amz-checksum-crc32c", checksum_of(request.body));
    }

    const std::string& keep(const std::string& key, std::string body) {
        auto& object = objects_[key];
        object = {std::move(body), "\"" + std::to_string(++version_) + "\""};
        return object.etag;
    }

    httplib::Server server_;
    int port_ = 0;
    std::thread thread_;
    std::mutex mutex_;  // guards all members below
    Objects objects_;
    std::map<std::string, std::map<int, std::string>> parts_;  // of uploads, by key and part number
    std::uint64_t changes_ = 0, version_ = 0;
    std::optional<std::uint64_t> lost_at_;
    bool last_is_done_ = false;
    std::string accepted_key_, other_key_code_, last_token_;
    std::uint64_t requests_ = 0;
};

}  // namespace forebay::test
