// The command line of `forebay`: verbs with their arguments, help and action. No other code knows the parser behind it.
//
// A verb's variables must live until run() returns; verbs keep them in a shared_ptr that their action holds.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace CLI {
class App;
}

namespace forebay::cli {

/// Exit codes that scripts can trust. docs/reference/errors.md and the help have the same list.
enum class Exit : int {
    good = 0,
    found = 1,  // damage, or work that is not done
    usage = 2,  // the call must be corrected (refused)
    missing = 3,
    corrupt = 4,      // so there is no answer
    trouble = 5,      // full, or a passing fault: the same call may succeed later
    unsupported = 6,  // by this build, machine or file version
    broken = 7,       // our own mistake
};

Exit exit_of(ErrorKind kind);

class Json;
using Action = std::function<Result<Exit>()>;
using AnswerAction = std::function<Result<Exit>(Json& answer)>;
/// Returns only if the other program could not be started.
using Start = std::function<Error(const std::vector<std::string>& arguments)>;

class CommandLine;

/// The numbers that an option accepts.
struct OptionRange {
    std::uint64_t least = 0, most = UINT64_MAX;
};

/// One verb, or a verb of a verb (`forebay bench save`).
class Verb {
public:
    /// A required argument, in order: "RUN".
    void argument(const std::string& name, std::string& value, const std::string& help);
    /// Any number of further arguments.
    void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help);

    /// "--keep"; the value before parsing is the default, and the help shows it.
    void option(const std::string& name, std::string& value, const std::string& help);
    void option(const std::string& name, int& value, const std::string& help);
    void option(const std::string& name, std::int64_t& value, const std::string& help);
    void option(const std::string& name, std::uint64_t& value, const std::string& help, OptionRange range = {});
    void option(const std::string& name, double& value, const std::string& help);
    /// An amount of bytes in the form of sizes.hpp: 64M.
    void bytes(const std::string& name, std::uint64_t& value, const std::string& help);
    /// An option that may be repeated.
    void option(const std::string& name, std::vector<std::string>& values, const std::string& help);
    /// A number without a default: if it is absent, `value` stays unchanged.
    void number(const std::string& name, std::int64_t& value, const std::string& help);
    void required(const std::string& name, int& value, const std::string& help);
    void required(const std::string& name, std::string& value, const std::string& help);
    void flag(const std::string& name, bool& value, const std::string& help);

    /// The flag --json; `keys` documents the output, for the help.
    void json(bool& value, const std::string& keys);
    /// The same with the action. The output is one object for every exit code, which the action fills as far as it
    /// gets. It also gets `exit_code`, and `error` if the verb or the command line fails.
    void answer(bool& value, const std::string& keys, AnswerAction action);
    /// Lines for the end of the help.
    void examples(const std::string& lines);
    void action(Action action);
    Verb verb(const std::string& name, const std::string& summary);

private:
    friend class CommandLine;
    Verb(CommandLine& line, CLI::App& app) : line_(&line), app_(&app) {}
    CommandLine* line_;
    CLI::App* app_;
};

class CommandLine {
public:
    /// `summary` opens the help of the program.
    explicit CommandLine(const std::string& summary);
    ~CommandLine();

    Verb verb(const std::string& name, const std::string& summary);
    /// A verb that another program parses: `start` gets all arguments unchanged, the verb's name first.
    void elsewhere(const std::string& name, const std::string& summary, Start start);

    /// Parses, runs the action of the chosen verb, prints its error to standard error, and returns the exit code. If a
    /// refused call has no next step, the error points to the verb's help. For an unknown option or verb, it suggests
    /// the nearest known word.
    int run(int count, char** arguments);

private:
    friend class Verb;
    /// The verb on the command line, as far as it was parsed.
    const CLI::App* parsed() const;
    int act(const CLI::App* chosen) const;
    Exit tell(Error error, const CLI::App& verb, Json& answer) const;
    Exit tell(const Error& error, const CLI::App& verb) const;
    bool wants_answer(const CLI::App& verb) const;

    std::unique_ptr<CLI::App> app_;
    std::map<const CLI::App*, Action> actions_;
    std::map<const CLI::App*, AnswerAction> answers_;
    std::map<const CLI::App*, std::string> footers_;
    std::set<const CLI::App*> elsewhere_;
    std::vector<std::string> given_;
};

}  // namespace forebay::cli
