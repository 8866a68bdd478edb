#include "path/node/compression_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/glob.hpp"
#include "core/base/try.hpp"
#include "core/codec/codec.hpp"
#include "core/format/json_read.hpp"
#include "core/format/json_text.hpp"
#include "path/node/control.hpp"

namespace forebay::node {

namespace {

constexpr int level_max = 9;

Result<> check_one(const Compression& rule, const std::string& whose) {
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorKind::refused, fmt::format("compression of {}: {}", whose, why)};
    };
    if (rule.level < 0 || rule.level > level_max)
        return refuse(fmt::format("level {}: use 1 to {}, or 0 to follow the available time.", rule.level, level_max));
    if (!(rule.error >= 0) || std::isinf(rule.error))
        return refuse(fmt::format("an error of {}: it must be 0 (without loss) or a positive number.", rule.error));
    if (rule.error > 0 && rule.codec != Codec::zfp)
        return refuse(fmt::format("an error of {} needs codec zfp: other codecs are lossless.", rule.error));
    if (rule.level > 0 && rule.codec != Codec::lz4 && rule.codec != Codec::zstd)
        return refuse("a level needs codec lz4 or zstd.");
    // With codec zfp other types than f32 and f64 need Blosc. Without Blosc they stay unchanged.
    const auto* const missing = rule.codec == Codec::zfp    ? (codec::has_zfp() ? nullptr : "zfp")
                                : rule.codec != Codec::none ? (codec::has_blosc() ? nullptr : "Blosc")
                                                            : nullptr;
    if (missing != nullptr)
        return Error{ErrorKind::unsupported,
                     fmt::format("compression of {}: this forebay was built without {}", whose, missing), "",
                     fmt::format("use codec none, or a forebay that was built with {}", missing)};
    return {};
}

nlohmann::json json_of(const Compression& rule) {
    return {static_cast<int>(rule.codec), static_cast<int>(rule.shuffle), rule.level, rule.error};
}

bool read(format::json::Value value, Compression& rule) {
    const auto codec = value.entry(0).u64(static_cast<std::uint64_t>(Codec::zfp));
    const auto shuffle = value.entry(1).u64(static_cast<std::uint64_t>(Shuffle::bits));
    const auto level = value.entry(2).u64(level_max);
    const auto error = value.entry(3).f64();
    if (!codec || !shuffle || !level || !error) return false;
    rule = {static_cast<Codec>(*codec), static_cast<Shuffle>(*shuffle), static_cast<int>(*level), *error};
    return true;
}

}  // namespace

bool CompressionRules::any() const {
    return all.codec != Codec::none ||
           std::ranges::any_of(variables, [](const auto& rule) { return rule.second.codec != Codec::none; });
}

const Compression& CompressionRules::of(std::string_view variable) const {
    for (const auto& [pattern, rule] : variables)
        if (matches(pattern, variable)) return rule;
    return all;
}

CompressionRules rules_of(const StreamOptions& options) { return {options.compression, options.variable_compression}; }

Result<> check(const CompressionRules& rules, const std::string& stream) {
    FB_TRY(check_one(rules.all, fmt::format("stream '{}'", stream)));
    for (const auto& [pattern, rule] : rules.variables) {
        FB_TRY(check_one(rule, fmt::format("variables '{}' of stream '{}'", pattern, stream)));
        if (pattern.empty() || !format::json::is_text(pattern) || std::ranges::count(pattern, '*') > 4)
            return Error{
                ErrorKind::refused,
                fmt::format("compression of stream '{}': '{}' is not a pattern of names (UTF-8, with at most 4 '*').",
                            stream, pattern)};
    }
    if (const auto bytes = encode_rules(rules).size(); bytes >= compression_text_max)
        return Error{ErrorKind::refused,
                     fmt::format("compression of stream '{}' needs {} bytes of text, at most {} are allowed", stream,
                                 bytes, compression_text_max - 1),
                     "", "use patterns instead of names"};
    return {};
}

std::string encode_rules(const CompressionRules& rules) {
    if (!rules.any()) return {};
    auto variables = nlohmann::json::array();
    for (const auto& [pattern, rule] : rules.variables) variables.push_back({pattern, json_of(rule)});
    return nlohmann::json{{"all", json_of(rules.all)}, {"variables", variables}}.dump();
}

Result<CompressionRules> decode_rules(std::string_view text) {
    CompressionRules rules;
    if (text.empty()) return rules;
    const auto document = format::json::Document::parse(text);
    bool good = document && read(document->root().member("all"), rules.all);
    const auto variables = good ? document->root().member("variables") : format::json::Value();
    good = good && variables.list();
    for (std::size_t i = 0; good && i < *variables.list(); ++i) {
        const auto pattern = variables.entry(i).entry(0).text();
        Compression rule;
        good = pattern && read(variables.entry(i).entry(1), rule);
        if (good) rules.variables.emplace_back(*pattern, rule);
    }
    if (!good) return Error{ErrorKind::corrupt, "the rules of compression are not in Forebay's format."};
    return rules;
}

}  // namespace forebay::node
