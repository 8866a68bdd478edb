// Goal: settings are found in the places and the order of the AWS tools. Errors name the wrong setting without its
// secrets.
// Method: surroundings made of tables.

#include "core/s3/settings.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace forebay;
using namespace forebay::s3;

namespace {

using Table = std::map<std::string, std::string>;

Surroundings made_of(const Table& variables, const Table& files) {
    return {.variable =
                [variables](const char* name) {
                    const auto variable = variables.find(name);
                    return variable == variables.end() ? std::string() : variable->second;
                },
            .read = [files](const std::string& path) -> Result<std::string> {
                const auto file = files.find(path);
                if (file == files.end()) return Error{ErrorKind::missing, path + " is not there"};
                return file->second;
            }};
}

const Table two_profiles{
    {"/home/me/.aws/credentials",
     "# mine\n[default]\naws_access_key_id = A\naws_secret_access_key=B=C\n\n[other]\naws_access_key_id=D\r\n"
     "aws_secret_access_key=E\naws_session_token=F\n"},
    {"/home/me/.aws/config",
     "[default]\nregion=r1\ns3 =\n  endpoint_url = https://nested\n[profile other]\nregion = r2\n"
     "endpoint_url = http://host:9000/\nmax_attempts = 3\n"}};

}  // namespace

TEST_CASE("s3: the environment comes first, then the files") {
    const Table home{{"HOME", "/home/me"}};
    const auto plain = settings_from(made_of(home, two_profiles)).value();
    CHECK(plain.credentials.access_key == "A");
    CHECK(plain.credentials.secret_key == "B=C");
    CHECK(plain.region == "r1");
    CHECK(plain.endpoint.empty());
    CHECK(plain.attempts == 10);

    auto variables = home;
    variables.insert({{"AWS_ACCESS_KEY_ID", "X"},
                      {"AWS_SECRET_ACCESS_KEY", "Y"},
                      {"AWS_SESSION_TOKEN", "Z"},
                      {"AWS_DEFAULT_REGION", "r3"},
                      {"AWS_ENDPOINT_URL", "http://one"}});
    const auto own = settings_from(made_of(variables, two_profiles)).value();
    CHECK(own.credentials.access_key == "X");
    CHECK(own.credentials.session_token == "Z");
    CHECK(own.region == "r3");
    CHECK(own.endpoint == "http://one");
    CHECK(own.endpoint_name == "AWS_ENDPOINT_URL");
    variables.insert({{"AWS_REGION", "r4"}, {"AWS_ENDPOINT_URL_S3", "http://two"}, {"AWS_CA_BUNDLE", "/ca"}});
    const auto more = settings_from(made_of(variables, two_profiles)).value();
    CHECK(more.region == "r4");
    CHECK(more.endpoint == "http://two");
    CHECK(more.endpoint_name == "AWS_ENDPOINT_URL_S3");
    CHECK(more.ca_bundle == "/ca");
}

TEST_CASE("s3: a profile that is asked for comes before keys of the environment") {
    const Table variables{
        {"HOME", "/home/me"}, {"AWS_PROFILE", "other"}, {"AWS_ACCESS_KEY_ID", "X"}, {"AWS_SECRET_ACCESS_KEY", "Y"}};
    const auto settings = settings_from(made_of(variables, two_profiles)).value();
    CHECK(settings.credentials.access_key == "D");
    CHECK(settings.credentials.secret_key == "E");
    CHECK(settings.credentials.session_token == "F");
    CHECK(settings.region == "r2");
    CHECK(settings.endpoint == "http://host:9000");
    CHECK(settings.endpoint_name == "endpoint_url");
    CHECK(settings.attempts == 3);
}

TEST_CASE("s3: the endpoint of a section of services counts, as with the tools of AWS") {
    Table files{{"/home/me/.aws/config",
                 "[default]\nservices = here\nendpoint_url = http://plain\n[profile  \"my own\"]\nservices=other one\n"
                 "[profile none]\nservices = nowhere\n[profile off]\nservices = here\n"
                 "ignore_configured_endpoint_urls = true\n[services here]\ndynamodb =\n  endpoint_url = http://db\n"
                 "s3 =\n  endpoint_url = http://store:9000/\n  region = r1\n[services other one]\ns3=\n\t"
                 "endpoint_url=https://second\n"}};
    const auto settings = [&](Table variables) {
        variables.insert({{"HOME", "/home/me"}, {"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "B"}});
        return settings_from(made_of(variables, files));
    };
    CHECK(settings({}).value().endpoint == "http://store:9000");
    CHECK(settings({}).value().endpoint_name == "endpoint_url of s3 in [services here]");
    CHECK(settings({{"AWS_PROFILE", "my own"}}).value().endpoint == "https://second");
    CHECK(settings({{"AWS_ENDPOINT_URL", "http://one"}}).value().endpoint == "http://one");
    CHECK(settings({{"AWS_ENDPOINT_URL", "http://one"}, {"AWS_ENDPOINT_URL_S3", "http://two"}}).value().endpoint ==
          "http://two");
    CHECK(settings({{"AWS_PROFILE", "off"}}).value().endpoint.empty());
    CHECK(settings({{"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}}).value().endpoint.empty());
    CHECK(settings({{"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "maybe"}}).error().kind == ErrorKind::refused);
    CHECK(settings({{"AWS_PROFILE", "none"}}).error().kind == ErrorKind::refused);
    files["/home/me/.aws/config"] = "[default]\nservices = here\nendpoint_url = http://plain\n[services here]\n";
    CHECK(settings({}).value().endpoint == "http://plain");
}

TEST_CASE(
    "s3: keys that come in a way that is not known are refused by its name; none are wanted where none are sent") {
    const Table files{{"/home/me/.aws/config",
                       "[profile role]\nrole_arn = arn:x\nsource_profile = role\n[profile sso]\nsso_session = s\n"
                       "[profile both]\nsso_session = s\n[profile program]\ncredential_process = print keys\n"},
                      {"/home/me/.aws/credentials",
                       "[role]\naws_access_key_id = A\naws_secret_access_key = B\n[both]\naws_access_key_id = C\n"
                       "aws_secret_access_key = D\n[plain]\n"}};
    const auto settings = [&](Table variables) {
        variables.insert({"HOME", "/home/me"});
        return settings_from(made_of(variables, files));
    };
    for (const auto& [variable, value, asks] :
         std::initializer_list<std::array<const char*, 3>>{{"AWS_PROFILE", "role", "role_arn"},
                                                           {"AWS_PROFILE", "sso", "sso_session"},
                                                           {"AWS_WEB_IDENTITY_TOKEN_FILE", "/t", "TOKEN_FILE"},
                                                           {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "u", "FULL_URI"}}) {
        const auto refused = settings({{variable, value}});
        CAPTURE(asks);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
        CHECK(refused.error().what.find(asks) != std::string::npos);
        CHECK(refused.error().next.find("credential_process") != std::string::npos);
        CHECK(settings({{variable, value}, {"AWS_NO_SIGN_REQUEST", "YES"}}).value().is_unsigned);
    }
    CHECK(settings({{"AWS_PROFILE", "both"}}).value().credentials.access_key == "C");
    CHECK(settings({{"AWS_PROFILE", "program"}}).value().program == "print keys");
    CHECK_FALSE(settings({{"AWS_PROFILE", "program"}, {"AWS_NO_SIGN_REQUEST", "0"}}).value().is_unsigned);
    CHECK(settings({{"AWS_NO_SIGN_REQUEST", "si"}}).error().kind == ErrorKind::refused);
    auto own =
        settings({{"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"}, {"AWS_ACCESS_KEY_ID", "X"}, {"AWS_SECRET_ACCESS_KEY", "Y"}});
    CHECK(own.value().credentials.access_key == "X");
}

TEST_CASE("s3: nothing at all, and what is wrong") {
    const auto none = settings_from(made_of({}, {})).value();
    CHECK_FALSE(none.has_keys);
    CHECK(none.asks_machine);
    CHECK(none.region == "us-east-1");
    CHECK_FALSE(settings_from(made_of({{"AWS_EC2_METADATA_DISABLED", "true"}}, {})).value().asks_machine);
    const auto refused = [](const Table& variables) {
        const auto settings = settings_from(made_of(variables, two_profiles));
        REQUIRE_FALSE(settings);
        return settings.error();
    };
    CHECK(refused({{"HOME", "/home/me"}, {"AWS_PROFILE", "third"}}).kind == ErrorKind::refused);
    CHECK(refused({{"AWS_CONFIG_FILE", "/not/there"}}).kind == ErrorKind::missing);
    CHECK(refused({{"AWS_ENDPOINT_URL", "host:9000"}}).kind == ErrorKind::refused);
    CHECK(refused({{"AWS_MAX_ATTEMPTS", "0"}}).kind == ErrorKind::refused);
    const auto with_key = refused({{"AWS_ENDPOINT_URL", "http://key:secret@host"}});
    CHECK(with_key.text().find("secret@") == std::string::npos);
}

TEST_CASE("s3: the machine's own keys") {
    const auto keys = credentials_from(R"({"Code":"Success","AccessKeyId":"A","SecretAccessKey":"B","Token":"C"})")
                          .value()
                          .credentials;
    CHECK(keys.secret_key == "B");
    CHECK(keys.session_token == "C");
    for (const std::string text :
         {"", "[]", "{", R"({"AccessKeyId":"A"})", R"({"AccessKeyId":1,"SecretAccessKey":"B"})"})
        CHECK(credentials_from(text).error().kind == ErrorKind::corrupt);
}
