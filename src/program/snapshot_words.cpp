#include "program/snapshot_words.hpp"

namespace forebay::cli {

const char* name_of(catalog::Leftover::Kind kind) {
    switch (kind) {
        case catalog::Leftover::Kind::part: return "part";
        case catalog::Leftover::Kind::old: return "old";
        case catalog::Leftover::Kind::gone: return "gone";
    }
    return "part";
}

Json json_of(const catalog::Snapshot& snapshot) {
    auto object = Json::object();
    object.set("stream", snapshot.stream).set("step", snapshot.step).set("directory", snapshot.directory);
    return object;
}

Json json_of(const telemetry::SealedLeft& snapshot) {
    auto hosts = Json::array();
    for (const auto& host : snapshot.hosts) hosts.push(host);
    return Json::object().set("stream", snapshot.stream).set("step", snapshot.step).set("hosts", hosts);
}

}  // namespace forebay::cli
