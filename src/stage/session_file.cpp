#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stage/staging.hpp"

namespace forebay::stage {

using nlohmann::json;

std::string encode_session(const SessionFile& session) {
    const auto& agent = session.agent;
    json environment = json::array();
    for (const auto& [name, value] : agent.environment) environment.push_back({name, value});
    const json document = {{"forebay", "session"},
                           {"version", 1},
                           {"run", session.run},
                           {"host", session.host},
                           {"process", session.process},
                           {"agent",
                            {{"environment", environment},
                             {"cpus", agent.cpus},
                             {"block_bytes", agent.block_bytes},
                             {"in_flight", agent.in_flight},
                             {"rate_bytes_per_second", agent.rate_bytes_per_second},
                             {"direct", agent.direct},
                             {"retries", agent.retries},
                             {"retry_pause_ms", agent.retry_pause.count()}}}};
    return document.dump(1) + "\n";
}

Result<SessionFile> decode_session(const std::string& text, const std::string& path) {
    try {
        const auto document = json::parse(text);
        if (document.at("forebay") != "session" || document.at("version") != 1)
            return Error{ErrorKind::unsupported, fmt::format("forebay: {} is not a session file of version 1.", path)};
        SessionFile session{.run = document.at("run"), .host = document.at("host"), .process = document.at("process")};
        const auto& agent = document.at("agent");
        for (const auto& pair : agent.at("environment")) session.agent.environment.emplace_back(pair.at(0), pair.at(1));
        agent.at("cpus").get_to(session.agent.cpus);
        agent.at("block_bytes").get_to(session.agent.block_bytes);
        agent.at("in_flight").get_to(session.agent.in_flight);
        agent.at("rate_bytes_per_second").get_to(session.agent.rate_bytes_per_second);
        agent.at("direct").get_to(session.agent.direct);
        agent.at("retries").get_to(session.agent.retries);
        session.agent.retry_pause = std::chrono::milliseconds(agent.at("retry_pause_ms").get<std::int64_t>());
        return session;
    } catch (const json::exception& problem) {
        return Error{ErrorKind::corrupt, fmt::format("forebay: {} cannot be read: {}.", path, problem.what())};
    }
}

}  // namespace forebay::stage
