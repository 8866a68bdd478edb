#include "core/terminal/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>

#include "core/base/crc32c.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/other_words.hpp"
#include "core/terminal/parts.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/sizes.hpp"

namespace forebay::cli {

namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 good; 1 damage found or work not done; 2 the call must be corrected; 3 missing; 4 corrupt;\n"
    "  5 no room, or a fault that may pass; 6 unsupported by this build, machine or file version; 7 our own mistake.\n"
    "Each verb has its own --help with examples.";

void describe_option(CLI::Option* option) { option->capture_default_str(); }

std::string command_of(const CLI::App* verb) {
    auto words = verb->get_name();
    while ((verb = verb->get_parent()) != nullptr) words = verb->get_name() + " " + words;
    return words;
}

std::string help_of(const CLI::App* verb) { return command_of(verb) + " --help"; }

// The parser itself would read -1 as the largest unsigned number.
template <class Whole>
std::string why_no_whole(std::string_view text, Whole least, Whole most) {
    const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos)
        return fmt::format("\"{}\" is not an integer", show_text(text));
    Whole number{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc{} && number >= least && number <= most) return "";
    const auto range = most == std::numeric_limits<Whole>::max() && std::is_unsigned_v<Whole>
                           ? fmt::format("{} or more", least)
                           : fmt::format("{} to {}", least, most);
    return fmt::format("{} is out of range: {}", text, range);
}

template <class Whole>
CLI::Option* whole_option(CLI::App& app, const std::string& name, Whole& value, const std::string& help,
                          Whole least = std::numeric_limits<Whole>::min(),
                          Whole most = std::numeric_limits<Whole>::max()) {
    return app.add_option(name, value, help)->check([least, most](const std::string& text) {
        return why_no_whole(text, least, most);
    });
}

// An empty value usually comes from an unset variable of a shell.
std::string why_empty(const std::string& text) {
    return text.empty() ? "it is empty: is a shell variable not set?" : "";
}

std::string with_nearest(const std::string& nearest, const CLI::App& verb) {
    return nearest.empty() ? help_of(&verb)
                           : fmt::format("use {}, if you mean that. {} lists all", nearest, help_of(&verb));
}

Error no_such_option(const CLI::App& verb, const std::string& given) {
    std::vector<std::string> known;
    for (const auto* option : verb.get_options())
        known.insert(known.end(), option->get_lnames().begin(), option->get_lnames().end());
    const auto word = given.substr(0, given.find('='));
    const auto what = fmt::format("{} has no option {}.", command_of(&verb), show_text(word));
    if (auto meant = option_meant(verb.get_name(), word, known); !meant.empty())
        return {.what = what, .next = std::move(meant)};
    const auto nearest = slip_of(word.substr(std::min(word.find_first_not_of('-'), word.size())), known);
    return {.what = what, .next = with_nearest(nearest.empty() ? "" : "--" + nearest, verb)};
}

Error no_such_verb(const CLI::App& above, const std::string& given) {
    std::vector<std::string> known;
    for (const auto* verb : above.get_subcommands(nullptr)) known.push_back(verb->get_name());
    const bool is_top = above.get_parent() == nullptr;
    const auto what =
        fmt::format("there is no verb \"{}\"{}.", show_text(given), is_top ? "" : " of " + command_of(&above));
    if (auto meant = is_top ? verb_meant(given) : ""; !meant.empty()) return {.what = what, .next = std::move(meant)};
    const auto nearest = slip_of(given, known);
    return {.what = what, .next = with_nearest(nearest.empty() ? "" : command_of(&above) + " " + nearest, above)};
}

Error too_many_words(const CLI::App& verb, const std::string& given) {
    std::string taken;
    for (const auto* option : verb.get_options())
        if (option->get_positional()) taken += " " + option->get_name(true);
    return {.what = fmt::format("\"{}\" is one argument too many.", show_text(given)),
            .next = fmt::format("{}{}, with the options in {}", command_of(&verb), taken, help_of(&verb))};
}

// If a required word is missing, another word may be misspelled: then the error reports that word.
Error error_of_parser(const CLI::ParseError& wrong, const CLI::App& verb) {
    const auto code = static_cast<CLI::ExitCodes>(wrong.get_exit_code());
    const auto words = verb.remaining();
    const bool tells = code == CLI::ExitCodes::ExtrasError || code == CLI::ExitCodes::RequiredError;
    // stagger runs another command, so unknown words may be options of that command.
    if (tells && verb.get_name() != "stagger" && !words.empty()) {
        const auto option = std::ranges::find_if(words, [](const auto& word) { return word.starts_with('-'); });
        if (option != words.end()) return no_such_option(verb, *option);
        if (!verb.get_subcommands(nullptr).empty()) return no_such_verb(verb, words.front());
        return too_many_words(verb, words.front());
    }
    const bool is_of_command = verb.get_name() == "stagger" && code == CLI::ExitCodes::ExtrasError;
    return {.what = std::string(wrong.what()) + ".",
            .next = is_of_command ? "put -- before the command" : help_of(&verb)};
}

// The directory above `path` that this user may not enter; empty if `path` itself can be looked at.
std::string closed_above(std::filesystem::path path) {
    std::string closed;
    for (;;) {
        std::error_code error;
        const auto status = std::filesystem::status(path, error);
        auto directory = path.parent_path();
        if (status.type() != std::filesystem::file_type::none || error != std::errc::permission_denied) break;
        if (directory.empty() || directory == path) break;
        closed = directory.string();
        path = std::move(directory);
    }
    return closed;
}

// The text of a failed system call is "CALL: PATH: REASON".
void advise_on_permissions(Error& error) {
    const auto path_at = error.what.find(": "), reason_at = error.what.rfind(": ");
    if (path_at == reason_at) return;
    const auto reason = error.what.substr(reason_at + 2);
    const auto is_reason = [&](int number) { return reason == std::generic_category().message(number); };
    if (!is_reason(EACCES) && !is_reason(EPERM)) return;
    const auto call = error.what.substr(0, path_at);
    const auto path = error.what.substr(path_at + 2, reason_at - path_at - 2);
    if (call == "open of directory" || call.find("stat") != call.npos)
        error.what = fmt::format("{} cannot be read: {}", path, reason);
    else if (call == "open") error.what = fmt::format("{} cannot be opened: {}", path, reason);
    if (error.safe.empty()) error.safe = "all existing data";
    if (const auto closed = closed_above(path); !closed.empty()) {
        error.next =
            fmt::format("repair the permissions of the directory {} (ls -ld), then repeat the same command", closed);
        return;
    }
    error.next = fmt::format(
        "repair the permissions of {} and of the directories above it (ls -ld), then repeat the same command", path);
}

}  // namespace

Exit exit_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::retry:
        case ErrorKind::full: return Exit::trouble;
        case ErrorKind::missing: return Exit::missing;
        case ErrorKind::corrupt: return Exit::corrupt;
        case ErrorKind::refused: return Exit::usage;
        case ErrorKind::unsupported: return Exit::unsupported;
        case ErrorKind::broken: return Exit::broken;
    }
    return Exit::broken;
}

void Verb::argument(const std::string& name, std::string& value, const std::string& help) {
    app_->add_option(name, value, help)->required()->type_name("")->check(why_empty);
}
void Verb::arguments(const std::string& name, std::vector<std::string>& values, const std::string& help) {
    app_->add_option(name, values, help)->type_name("");
}
void Verb::option(const std::string& name, std::string& value, const std::string& help) {
    auto* option = app_->add_option(name, value, help);
    describe_option(option);
    if (value.empty()) option->check(why_empty);  // else an empty value may mean "none"
}
void Verb::option(const std::string& name, int& value, const std::string& help) {
    describe_option(whole_option(*app_, name, value, help));
}
void Verb::option(const std::string& name, std::int64_t& value, const std::string& help) {
    describe_option(whole_option(*app_, name, value, help));
}
void Verb::option(const std::string& name, std::uint64_t& value, const std::string& help, OptionRange range) {
    describe_option(whole_option(*app_, name, value, help, range.least, range.most));
}
void Verb::option(const std::string& name, double& value, const std::string& help) {
    describe_option(app_->add_option(name, value, help));
}
void Verb::bytes(const std::string& name, std::uint64_t& value, const std::string& help) {
    const auto take = [name, &value](const std::string& text) { value = bytes_from(name, text).value(); };
    app_->add_option_function<std::string>(name, take, help)->default_str(option_bytes(value))->type_name("BYTES");
}
void Verb::option(const std::string& name, std::vector<std::string>& values, const std::string& help) {
    // One value each time, so that it cannot take the arguments behind it.
    app_->add_option(name, values, help)->allow_extra_args(false);
}
void Verb::number(const std::string& name, std::int64_t& value, const std::string& help) {
    whole_option(*app_, name, value, help);
}
void Verb::required(const std::string& name, int& value, const std::string& help) {
    whole_option(*app_, name, value, help)->required();
}
void Verb::required(const std::string& name, std::string& value, const std::string& help) {
    app_->add_option(name, value, help)->required();
}
void Verb::flag(const std::string& name, bool& value, const std::string& help) { app_->add_flag(name, value, help); }

void Verb::json(bool& value, const std::string& keys) {
    app_->add_flag("--json", value, "Print JSON on standard output, and nothing else there");
    line_->footers_[app_] += "With --json:\n" + keys;
    app_->footer(line_->footers_[app_]);
}

void Verb::answer(bool& value, const std::string& keys, AnswerAction action) {
    json(value, keys +
                    "  And always exit_code. After an error also error (kind, text, what, safe, next), and the keys of "
                    "the work that\n  was done.\n");
    line_->answers_[app_] = std::move(action);
}

void Verb::examples(const std::string& lines) {
    line_->footers_[app_] += "Examples:\n" + lines;
    app_->footer(line_->footers_[app_]);
}

void Verb::action(Action action) { line_->actions_[app_] = std::move(action); }

Verb Verb::verb(const std::string& name, const std::string& summary) {
    app_->require_subcommand(1);
    return Verb(*line_, *app_->add_subcommand(name, summary));
}

CommandLine::CommandLine(const std::string& summary) : app_(std::make_unique<CLI::App>(summary, "forebay")) {
    app_->require_subcommand(1);
    app_->set_version_flag("--version", fmt::format("forebay {}\n{}", FOREBAY_VERSION, parts()),
                           "Print the version and the parts of this build, and exit");
    app_->footer(exit_codes);
}

CommandLine::~CommandLine() = default;

Verb CommandLine::verb(const std::string& name, const std::string& summary) {
    return Verb(*this, *app_->add_subcommand(name, summary));
}

void CommandLine::elsewhere(const std::string& name, const std::string& summary, Start start) {
    const auto* app = app_->add_subcommand(name, summary);
    elsewhere_.insert(app);
    actions_[app] = [this, start = std::move(start)]() -> Result<Exit> { return start(given_); };
}

const CLI::App* CommandLine::parsed() const {
    const auto* chosen = app_.get();
    while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
    return chosen;
}

bool CommandLine::wants_answer(const CLI::App& verb) const {
    return answers_.contains(&verb) && std::ranges::find(given_, "--json") != given_.end();
}

Exit CommandLine::tell(Error error, const CLI::App& verb, Json& answer) const {
    if (error.kind == ErrorKind::refused && error.next.empty()) advise_on_permissions(error);
    // A verb of another program has its own help.
    if (error.kind == ErrorKind::refused && error.next.empty() && !elsewhere_.contains(&verb))
        error.next = help_of(&verb);
    const auto code = exit_of(error.kind);
    if (wants_answer(verb)) answer.set("error", json_of(error)).set("exit_code", static_cast<int>(code)).print();
    print_error(error);
    return code;
}

Exit CommandLine::tell(const Error& error, const CLI::App& verb) const {
    auto answer = Json::object();
    return tell(error, verb, answer);
}

int CommandLine::act(const CLI::App* chosen) const {
    auto answer = Json::object();
    const auto outcome = [&]() -> Result<Exit> {
        // A FOREBAY_CRC that cannot be used stops each verb before it computes a sum.
        FB_TRY(check_crc32c_kernel());
        const auto answering = answers_.find(chosen);
        return answering != answers_.end() ? answering->second(answer) : actions_.at(chosen)();
    }();
    const auto code = outcome ? *outcome : tell(outcome.error(), *chosen, answer);
    // A rank of MPI that only helps has nothing to print.
    if (outcome && wants_answer(*chosen) && !answer.is_empty()) answer.set("exit_code", static_cast<int>(code)).print();
    // A full disk behind a redirected output is an error too: the output was lost.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        print_error({ErrorKind::full, "the output could not be written completely to standard output."});
        return static_cast<int>(Exit::trouble);
    }
    return static_cast<int>(code);
}

int CommandLine::run(int count, char** arguments) {
    try {
        // The parser would only report that a subcommand is required.
        given_.assign(arguments + std::min(count, 1), arguments + count);
        const auto named = [&](const CLI::App* verb) { return count > 1 && verb->check_name(arguments[1]); };
        const auto verbs = app_->get_subcommands(named);
        if (count > 1 && arguments[1][0] != '-' && verbs.empty()) {
            print_error(no_such_verb(*app_, arguments[1]));
            return static_cast<int>(Exit::usage);
        }
        // Not parsed here: only the other program knows the options.
        if (!verbs.empty() && elsewhere_.contains(verbs.front())) return act(verbs.front());
        app_->parse(count, arguments);
        return act(parsed());
    } catch (const CLI::ParseError& wrong) {
        if (wrong.get_exit_code() == 0) return app_->exit(wrong);  // --help, --version
        auto error = error_of_parser(wrong, *parsed());
        error.kind = ErrorKind::refused;
        return static_cast<int>(tell(error, *parsed()));
    } catch (const Exception& error) {
        return static_cast<int>(tell(error.error(), *parsed()));
    } catch (const std::exception& error) {
        return static_cast<int>(tell({.what = std::string("unexpected: ") + error.what()}, *parsed()));
    }
}

}  // namespace forebay::cli
