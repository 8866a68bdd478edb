// The options of each_copy_option() on the command line.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/target_list.hpp"
#include "core/terminal/sizes.hpp"
#include "transfer/program/copy_run.hpp"

namespace forebay::cli {

namespace {

// A manifest is only used by that policy.
Result<tree::CannotKeep> cannot_keep_of(const CopyArguments& options) {
    const auto& word = options.words.at("cannot-keep");
    const bool is_manifest = word == "manifest" || word.empty();
    if (is_manifest && !options.manifest.empty()) return tree::CannotKeep::manifest;
    if ((word == "refuse" || word == "drop") && !options.manifest.empty())
        return Error{
            ErrorKind::refused,
            fmt::format("--manifest {}: --cannot-keep {} writes no manifest", show_text(options.manifest), word),
            "nothing was changed", "leave out --manifest or --cannot-keep"};
    if (word == "refuse" || word.empty()) return tree::CannotKeep::refuse;
    if (word == "drop") return tree::CannotKeep::drop;
    if (word == "manifest")
        return Error{ErrorKind::refused, "--cannot-keep manifest needs a file", "",
                     "give --manifest FILE, outside of both trees"};
    return Error{ErrorKind::refused, fmt::format("--cannot-keep {}: write refuse, manifest or drop", word)};
}

// Converts amounts to bytes for layout_from().
Result<tree::RequestedLayout> layout_of(const std::string& text) {
    std::string words;
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find(',', at), text.size());
        auto rule = text.substr(at, end - at);
        if (const auto colon = rule.find(':'); colon != rule.npos) {
            FB_TRY_ASSIGN(bytes, bytes_from("--layout", rule.substr(0, colon)));
            rule = fmt::to_string(bytes) + rule.substr(colon);
        }
        words += (at > 0 ? "," : "") + rule;
        at = end + 1;
    }
    const auto wish = tree::layout_from(words);
    if (!wish) return with_context(wish.error(), fmt::format("--layout {}: {}", text, wish.error().what));
    return wish;
}

// A visitor of each_copy_option() that adds options to a verb. The parser writes simple values directly to the member.
struct CopyOptionAdder {
    Verb& verb;
    CopyArguments& options;
    unsigned verb_bits;

    void operator()(const tree::CopyOption& option, auto values, auto& member) const {
        if ((option.verbs & verb_bits) != 0) add(std::string("--") + option.name, option, values, member);
    }
    void add(const std::string& flag, const tree::CopyOption& option, tree::Switch, bool& member) const {
        verb.flag(flag, member, option.meaning);
    }
    void add(const std::string& flag, const tree::CopyOption& option, tree::BytesARate, std::uint64_t& member) const {
        verb.bytes(flag, member, option.meaning);
    }
    void add(const std::string& flag, const tree::CopyOption& option, tree::CountAtMost, std::uint64_t&) const {
        verb.number(flag, options.counts.try_emplace(option.name, no_count).first->second, option.meaning);
    }
    void add(const std::string& flag, const tree::CopyOption& option, tree::NotSwitch, bool&) const {
        verb.flag(flag, options.switches[option.name], option.meaning);
    }
    void add(const std::string& flag, const tree::CopyOption& option, auto, const auto& member) const {
        verb.option(flag, options.words.try_emplace(option.name, first_words(member)).first->second, option.meaning);
    }
    // The default in the help.
    static std::string first_words(const tree::Preserve&) { return "all"; }
    static std::string first_words(const tree::RequestedLayout& layout) { return layout.words; }
    static std::string first_words(const auto&) { return ""; }
};

// A visitor that parses the remaining words into their members.
struct CopyOptionReader {
    const CopyArguments& options;
    Result<> read{};

    void operator()(const tree::CopyOption& option, auto values, auto& member) {
        if (read) read = take(option.name, values, member);
    }
    Result<> take(const std::string& name, tree::NotSwitch, bool& member) const {
        const auto given = options.switches.find(name);
        if (given != options.switches.end() && given->second) member = false;
        return {};
    }
    Result<> take(const std::string& name, tree::CountAtMost, std::uint64_t& member) const {
        const auto given = options.counts.find(name);
        if (given == options.counts.end() || given->second == no_count) return {};
        if (given->second < 0)
            return Error{ErrorKind::refused, fmt::format("--{} {}: the number must be 0 or more", name, given->second)};
        member = static_cast<std::uint64_t>(given->second);
        return {};
    }
    Result<> take(const std::string& name, tree::PreservedParts, tree::Preserve& member) const {
        return take_words(name, member, [](const std::string& words) { return tree::preserve_from(words); });
    }
    Result<> take(const std::string& name, tree::KeepPolicy, tree::CannotKeep& member) const {
        return take_words(name, member, [&](const std::string&) { return cannot_keep_of(options); });
    }
    Result<> take(const std::string& name, tree::LayoutRules, tree::RequestedLayout& member) const {
        return take_words(name, member, layout_of);
    }
    Result<> take(const std::string& name, tree::StorageTargets, std::vector<std::uint32_t>& member) const {
        return take_words(name, member, [&](const std::string& words) -> Result<std::vector<std::uint32_t>> {
            FB_TRY_ASSIGN(targets, sys::target_list(words, "--" + name));
            if (targets.empty() && !words.empty() && !words.starts_with('@'))
                return Error{ErrorKind::refused, "--" + name + " lists no storage target"};
            return targets;
        });
    }
    Result<> take(const std::string&, auto, const auto&) const { return {}; }  // already set

private:
    template <class Member, class Read>
    Result<> take_words(const std::string& name, Member& member, const Read& read_words) const {
        const auto given = options.words.find(name);
        if (given == options.words.end()) return {};
        auto value = read_words(given->second);
        FB_TRY(value);
        member = std::move(*value);
        return {};
    }
};

}  // namespace

void add_copy_options(Verb& verb, CopyArguments& options, unsigned verb_bits) {
    tree::each_copy_option(options.copy, CopyOptionAdder{verb, options, verb_bits});
    if (verb_bits != tree::of_archive)
        verb.option("--manifest", options.manifest,
                    "Write everything that the target cannot hold to this file, one line of JSON each. Implies "
                    "--cannot-keep manifest");
    verb.option("--rate-group", options.rate_group,
                "Share the limit of --rate with all copies of yours on this machine that give this name");
}

Result<tree::TreeCopyOptions> copy_options(const CopyArguments& options) {
    auto wished = options.copy;
    wished.threads = options.tree.thread_count({options.source, options.target});
    wished.filter = options.tree.filter();
    CopyOptionReader reader{options};
    tree::each_copy_option(wished, reader);
    FB_TRY(reader.read);
    if (!options.files_from.empty()) {
        FB_TRY_ASSIGN(list, tree::read_path_list(options.files_from, options.nul));
        wished.wished = list;
    }
    return wished;
}

}  // namespace forebay::cli
