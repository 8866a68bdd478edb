// Goal: when the server rejects keys, the client looks for them again at their source and repeats the request once with
// new keys. Keys that stay wrong are an error. Keys of a program are renewed before they expire.
// Method: a server that accepts one key; files and programs that change while the client runs.

#include "core/s3/key_keeper.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <thread>

#include "support/bucket_server.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::s3;

namespace {

struct World {
    test::TempDirectory place;
    test::BucketServer server;

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(place / (name + ".new")) << text;
        std::filesystem::rename(place / (name + ".new"), place / name);
    }
    void write_key(const std::string& key) const {
        write("credentials", "[default]\naws_access_key_id = " + key + "\naws_secret_access_key = secret\n");
    }
    /// Writes a program that counts its calls and prints `key` with this expiry time.
    void write_program(const std::string& key, const std::string& expiration) const {
        write("config", "[default]\ncredential_process = sh " + (place / "program") + "\n");
        write("program", "echo called >> " + (place / "calls") + "\nprintf '{\"Version\":1,\"AccessKeyId\":\"" + key +
                             "\",\"SecretAccessKey\":\"secret\",\"SessionToken\":\"token\"" +
                             (expiration.empty() ? "" : ",\"Expiration\":\"" + expiration + "\"") + "}'\n");
    }
    int calls() const {
        std::ifstream file(place / "calls");
        int count = 0;
        for (std::string line; std::getline(file, line);) ++count;
        return count;
    }
    std::unique_ptr<Bucket> bucket() const {
        auto surroundings = own_surroundings();
        surroundings.variable = [this](const char* name) -> std::string {
            const std::string_view wanted(name);
            if (wanted == "AWS_SHARED_CREDENTIALS_FILE") return place / "credentials";
            if (wanted == "AWS_CONFIG_FILE") return place / "config";
            if (wanted == "AWS_ENDPOINT_URL") return server.endpoint();
            return wanted == "AWS_EC2_METADATA_DISABLED" ? "true" : "";
        };
        return std::make_unique<Bucket>(settings_from(surroundings).value(), "bucket", sys::NewEntryOwner{});
    }
    World() {
        write("credentials", "");
        write("config", "");
    }
};

std::string in(std::chrono::seconds from_now) {
    const auto time = std::time(nullptr) + from_now.count();
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace

TEST_CASE("s3: a file of keys that is replaced is read when the server does not take the old ones any more") {
    World world;
    world.write_key("first");
    world.server.accept_only("first");
    const auto bucket = world.bucket();
    REQUIRE(bucket->put_text("a", "1"));
    for (const std::string code : {"ExpiredToken", "InvalidAccessKeyId", "TokenRefreshRequired"}) {
        CAPTURE(code);
        world.server.accept_only(code, code);
        world.write_key(code);
        const auto before = world.server.requests();
        REQUIRE(bucket->put_text("a", code));
        CHECK(world.server.requests() == before + 2);
        REQUIRE(bucket->put_text("b", code));
        CHECK(world.server.requests() == before + 3);
    }
    // The answer to a HEAD has no error code.
    world.server.accept_only("last");
    world.write_key("last");
    CHECK(bucket->look("a").value());
    // Several threads at once.
    world.server.accept_only("shared");
    world.write_key("shared");
    const auto before = world.server.requests();
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 5; ++i) threads.emplace_back([&, i] { CHECK(bucket->put_text(std::to_string(i), "1")); });
    }
    CHECK(world.server.requests() <= before + 10);
}

TEST_CASE("s3: keys that stay wrong are an error, without a repeat; others that are wrong too, after one") {
    World world;
    world.write_key("first");
    world.server.accept_only("first");
    const auto bucket = world.bucket();
    REQUIRE(bucket->put_text("a", "1"));
    world.server.accept_only("other");
    auto before = world.server.requests();
    CHECK(bucket->put_text("a", "2").error().kind == ErrorKind::refused);
    CHECK(world.server.requests() == before + 1);
    world.write_key("wrong");
    before = world.server.requests();
    const auto put = bucket->put_text("a", "3");
    CHECK(put.error().kind == ErrorKind::refused);
    CHECK(put.error().text().find("InvalidAccessKeyId") != std::string::npos);
    CHECK(world.server.requests() == before + 2);
    std::filesystem::remove(world.place / "credentials");
    const auto lost = bucket->put_text("a", "4").error();
    CHECK(lost.kind == ErrorKind::refused);
    CHECK_MESSAGE(lost.text().find("AWS_SHARED_CREDENTIALS_FILE") != std::string::npos, lost.text());
    world.write_key("other");
    REQUIRE(bucket->put_text("a", "5"));
}

TEST_CASE("s3: a program's keys are kept until half of their life, at most five minutes, is left") {
    World world;
    world.write_program("first", in(std::chrono::hours(1)));
    world.server.accept_only("first");
    const auto bucket = world.bucket();
    for (int turn = 0; turn < 3; ++turn) REQUIRE(bucket->put_text("a", "1"));
    CHECK(world.calls() == 1);
    CHECK(world.server.last_token() == "token");
    world.server.accept_only("second", "ExpiredToken");
    world.write_program("second", in(std::chrono::seconds(2)));
    REQUIRE(bucket->put_text("a", "2"));
    CHECK(world.calls() == 2);
    world.write_program("third", "");
    world.server.accept_only("third");
    std::this_thread::sleep_for(std::chrono::milliseconds(1'100));
    const auto before = world.server.requests();
    REQUIRE(bucket->put_text("a", "3"));
    CHECK(world.server.requests() == before + 1);  // renewed before they expired
    CHECK(world.calls() == 3);
}

TEST_CASE("s3: a program that gives no keys is an error that shows nothing of what it printed") {
    World world;
    const auto check_refused = [&](const std::string& words) {
        const auto put = world.bucket()->put_text("a", "1");
        REQUIRE_FALSE(put);
        CHECK(put.error().kind == ErrorKind::refused);
        CHECK_MESSAGE(put.error().text().find(words) != std::string::npos, put.error().text());
        CHECK(put.error().text().find("secret") == std::string::npos);
    };
    world.write_program("first", in(-std::chrono::seconds(10)));
    check_refused("expired");
    world.write_program("first", "tomorrow");
    check_refused("Expiration");
    world.write("program", "echo '{\"SecretAccessKey\":\"secret\"}'");
    check_refused("AccessKeyId");
    world.write("program", "echo secret; exit 3");
    check_refused("ends with an error");
    CHECK(world.server.requests() == 0);
}

TEST_CASE("s3: times of expiry") {
    const auto expire = [](const std::string& text) {
        const auto credentials =
            credentials_from("{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"B\",\"Expiration\":\"" + text + "\"}");
        return credentials && credentials->expire ? std::chrono::system_clock::to_time_t(*credentials->expire) : -1;
    };
    CHECK(expire("1970-01-02T00:00:01Z") == 86'401);
    CHECK(expire("2026-11-27T10:08:47.123Z") == 1'795'774'127);
    CHECK(expire("2026-11-27T11:08:47+01:00") == 1'795'774'127);
    CHECK(expire("2026-11-27T09:38:47-00:30") == 1'795'774'127);
    for (const char* text : {"2026-11-27", "2026-11-27T10:08:47", "2026-11-27T10:08:47Zx", "2026-13-27T10:08:47Z", "x"})
        CHECK(expire(text) == -1);
}
