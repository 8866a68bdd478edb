#include "core/s3/http.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "core/base/try.hpp"

namespace forebay::s3 {

namespace {

// The largest answer is XML with 1,000 names, each of at most 1,024 bytes before encoding.
constexpr std::size_t body_bytes_max = 64u << 20;
constexpr long socket_buffer_bytes = 512L << 10;
constexpr long look_seconds = 2;  // for a TLS handshake with a server that has just answered

// The data for the callbacks of one exchange.
struct Exchange {
    CURL* handle = nullptr;
    const HttpRequest* request = nullptr;
    HttpAnswer answer;
    std::uint64_t sent = 0, received = 0;

    bool is_good() {
        curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer.status);
        return answer.is_good();
    }
};

std::size_t give_body(char* to, std::size_t size, std::size_t count, void* data) {
    auto& exchange = *static_cast<Exchange*>(data);
    const auto rest = exchange.request->body.subspan(exchange.sent);
    const auto bytes = std::min(size * count, rest.size());
    if (bytes > 0) std::memcpy(to, rest.data(), bytes);
    exchange.sent += bytes;
    return bytes;
}

int seek_body(void* data, curl_off_t offset, int) {
    static_cast<Exchange*>(data)->sent = static_cast<std::uint64_t>(offset);
    return CURL_SEEKFUNC_OK;
}

std::size_t take_body(char* from, std::size_t size, std::size_t count, void* data) {
    auto& exchange = *static_cast<Exchange*>(data);
    const auto bytes = std::as_bytes(std::span(from, size * count));
    // The status comes before the body, so the text of an error goes to the answer.
    if (exchange.request->take && exchange.is_good()) {
        auto& taken = exchange.answer.taken;
        taken = exchange.request->take(exchange.received, bytes);
        exchange.received += bytes.size();
        return taken ? bytes.size() : CURL_WRITEFUNC_ERROR;
    }
    if (exchange.answer.body.size() + bytes.size() > body_bytes_max) return CURL_WRITEFUNC_ERROR;
    exchange.answer.body.append(from, size * count);
    return bytes.size();
}

std::size_t take_header(char* from, std::size_t size, std::size_t count, void* data) {
    auto& headers = static_cast<Exchange*>(data)->answer.headers;
    const std::string_view line(from, size * count);
    if (line.starts_with("HTTP/")) headers.clear();  // drops the headers of an earlier answer, such as 100 (Continue)
    const auto colon = line.find(':');
    if (colon == line.npos) return line.size();
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
    auto value = line.substr(colon + 1);
    while (!value.empty() && std::isspace(static_cast<unsigned char>(value.front())) != 0) value.remove_prefix(1);
    while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back())) != 0) value.remove_suffix(1);
    headers.emplace_back(std::move(name), value);
    return line.size();
}

// The error texts of OpenSSL and GnuTLS for an answer that is not TLS. libcurl's code is the same as for a lost
// connection.
bool is_no_tls(const std::string& problem) {
    return problem.find("wrong version number") != problem.npos ||
           problem.find("unexpected TLS packet") != problem.npos;
}

struct HeaderList {
    HeaderList() = default;
    HeaderList(const HeaderList&) = delete;
    HeaderList& operator=(const HeaderList&) = delete;
    ~HeaderList() { curl_slist_free_all(first); }
    void add(const std::string& line) { first = curl_slist_append(first, line.c_str()); }
    curl_slist* first = nullptr;
};

}  // namespace

struct Http::Connection {
    Connection() : handle(curl_easy_init()) {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() { curl_easy_cleanup(handle); }
    CURL* handle;
    std::array<char, CURL_ERROR_SIZE> problem{};
};

const std::string& HttpAnswer::header(std::string_view name) const {
    static const std::string none;
    const auto header = std::ranges::find(headers, name, &Pairs::value_type::first);
    return header == headers.end() ? none : header->second;
}

Http::Http(std::string ca_bundle) : ca_bundle_(std::move(ca_bundle)) { curl_global_init(CURL_GLOBAL_DEFAULT); }
Http::~Http() = default;

bool Http::speaks_tls(const std::string& host) const {
    const Connection connection;
    if (connection.handle == nullptr) return false;
    const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(connection.handle, option, value); };
    const auto url = "https://" + host + "/";
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_CONNECT_ONLY, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, look_seconds);
    // Any certificate will do, because no request is sent.
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
    return curl_easy_perform(connection.handle) == CURLE_OK;
}

std::unique_ptr<Http::Connection> Http::take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Connection>();
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
}

Result<HttpAnswer> Http::exchange(const HttpRequest& request) {
    auto connection = take();
    auto* handle = connection->handle;
    if (handle == nullptr) return Error{ErrorKind::retry, "libcurl has no more memory"};
    curl_easy_reset(handle);  // keeps the connection open
    Exchange exchange{.handle = handle, .request = &request};
    const auto set = [handle](CURLoption option, auto value) { curl_easy_setopt(handle, option, value); };
    set(CURLOPT_URL, request.url.c_str());
    // libcurl would resolve ".." in a key, and the signature would not match.
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, request.limits.connect_seconds);
    // Less than 1 byte/s for this time ends the exchange.
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, request.limits.silent_seconds);
    set(CURLOPT_BUFFERSIZE, socket_buffer_bytes);
    set(CURLOPT_UPLOAD_BUFFERSIZE, socket_buffer_bytes);
    set(CURLOPT_TCP_NODELAY, 1L);
    set(CURLOPT_ERRORBUFFER, connection->problem.data());
    set(CURLOPT_WRITEFUNCTION, take_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&exchange));
    set(CURLOPT_HEADERFUNCTION, take_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&exchange));
    if (!ca_bundle_.empty()) set(CURLOPT_CAINFO, ca_bundle_.c_str());
    if (request.method == "HEAD") set(CURLOPT_NOBODY, 1L);
    if (request.method == "PUT" || request.method == "POST") {
        set(CURLOPT_UPLOAD, 1L);
        set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
        set(CURLOPT_READFUNCTION, give_body);
        set(CURLOPT_READDATA, static_cast<void*>(&exchange));
        set(CURLOPT_SEEKFUNCTION, seek_body);
        set(CURLOPT_SEEKDATA, static_cast<void*>(&exchange));
    }
    HeaderList headers;
    headers.add("Expect:");  // waiting for 100 (Continue) would cost half a second a part
    headers.add("Accept:");
    // libcurl sends a header without a value only if it ends with ";".
    for (const auto& [name, value] : request.headers) headers.add(value.empty() ? name + ";" : name + ": " + value);
    set(CURLOPT_HTTPHEADER, headers.first);

    connection->problem[0] = '\0';
    const auto code = curl_easy_perform(handle);
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &exchange.answer.status);
    // The caller's own error: libcurl would only report a failed write.
    if (!exchange.answer.taken) return std::move(exchange.answer);
    if (code != CURLE_OK) {
        const std::string problem =
            connection->problem[0] != '\0' ? connection->problem.data() : curl_easy_strerror(code);
        if (code == CURLE_SSL_CONNECT_ERROR && is_no_tls(problem)) return Error{ErrorKind::unsupported, problem};
        const bool is_certificate = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
        if (!is_certificate) return Error{ErrorKind::retry, problem};
        return Error{ErrorKind::refused,
                     request.url.substr(0, request.url.find('/', request.url.find("//") + 2)) + ": " + problem, "",
                     "set AWS_CA_BUNDLE=FILE, with the right certificates"};
    }
    // Only a connection without an error is used again.
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
    return std::move(exchange.answer);
}

}  // namespace forebay::s3
