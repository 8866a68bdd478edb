// forebay compare RUN@STEP RUN@STEP: prints the variables that differ between two snapshots.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/table.hpp"
#include "core/terminal/words.hpp"
#include "program/look/snapshot_compare.hpp"
#include "program/place.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

std::string shown_place(const Extents& at) {
    std::string text;
    for (int dim = 0; dim < at.dims(); ++dim) text += fmt::format("{}{}", dim == 0 ? "" : ", ", at[dim]);
    return text.empty() ? "" : fmt::format(" at [{}]", text);
}

/// "12 of 1000 elements differ, by at most 0.5 at [3, 4]; 5 rows are in RUN@1 alone".
std::string what_differs(const VariableDifference& difference, const std::string& first, const std::string& second) {
    if (difference.second.empty()) return fmt::format("is only in {}", first);
    if (difference.first.empty()) return fmt::format("is only in {}", second);
    if (!difference.is_comparable)
        return fmt::format("{} in {}; {} in {}", difference.first, first, difference.second, second);
    const bool rows = difference.kind == Kind::particles;
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
    const auto& values = difference.values;
    if (values.elements > 0) {
        auto differ =
            fmt::format("{} of {} differ{}", values.elements, show_count(difference.compared, rows ? "row" : "element"),
                        values.elements == 1 ? "s" : "");
        if (values.largest >= 0) differ += fmt::format(", by at most {:g}", values.largest);
        add(differ + (values.largest < 0 ? fmt::format(", the first{}", shown_place(difference.at))
                                         : shown_place(difference.at)));
        if (values.without_number > 0 && values.largest >= 0)
            add(fmt::format("{} of these are not numbers", values.without_number));
    }
    const auto alone = [&](std::uint64_t count, const std::string& where) {
        if (count > 0)
            add(fmt::format("{} {} only in {}", show_count(count, rows ? "row" : "element"), count == 1 ? "is" : "are",
                            where));
    };
    alone(difference.first_alone, first);
    alone(difference.second_alone, second);
    return text;
}

Json json_of_difference(const VariableDifference& difference) {
    auto object = Json::object();
    object.set("name", difference.name).set("kind", name_of(difference.kind)).set("equal", difference.is_equal());
    if (!difference.first.empty()) object.set("first", difference.first);
    if (!difference.second.empty()) object.set("second", difference.second);
    if (!difference.is_comparable) return object;
    object.set("compared", difference.compared).set("different", difference.values.elements);
    object.set("first_alone", difference.first_alone).set("second_alone", difference.second_alone);
    object.set("without_number", difference.values.without_number);
    if (difference.values.largest >= 0) object.set("largest", difference.values.largest);
    if (difference.values.elements > 0) object.set("at", json_of(difference.at));
    return object;
}

Result<Exit> say_difference(const std::string& first, const std::string& second, bool json, Json& answer) {
    auto& store = sys::target_store();
    for (const auto* text : {&first, &second}) {
        FB_TRY_ASSIGN(names, names_snapshot(store, *text));
        if (!names)
            return Error{ErrorKind::refused,
                         fmt::format("{} is a snapshot, and {} is not", show_text(text == &first ? second : first),
                                     show_text(*text)),
                         "nothing was changed", "give a step for both: RUN@STEP, RUN/STREAM@STEP or RUN@last"};
    }
    FB_TRY_ASSIGN(first_place, find_place(store, first));
    FB_TRY_ASSIGN(second_place, find_place(store, second));
    FB_TRY_ASSIGN(snapshot, one_snapshot(store, first_place));
    FB_TRY_ASSIGN(other, one_snapshot(store, second_place));
    const auto compared = [&] {
        Progress progress("compare", json);
        return compare_snapshots(store, snapshot, other,
                                 [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    }();
    if (!compared) return compared.error();
    const auto different = static_cast<std::uint64_t>(
        std::ranges::count_if(compared->variables, [](const auto& variable) { return !variable.is_equal(); }));
    if (json) {
        auto list = Json::array();
        for (const auto& variable : compared->variables) list.push(json_of_difference(variable));
        answer.set("first", json_of(snapshot)).set("second", json_of(other));
        answer.set("equal", different == 0).set("bytes", compared->bytes).set("variables", list);
        return different == 0 ? Exit::good : Exit::found;
    }
    Table table({{"variable"}, {"the differences"}});
    for (const auto& variable : compared->variables)
        if (!variable.is_equal()) table.row({variable.name, what_differs(variable, first, second)});
    if (!table.empty()) say(table.text());
    const auto count = compared->variables.size();
    if (different == 0)
        say("{} {} equal, bit by bit: {} of each.\n", show_count(count, "variable"), count == 1 ? "is" : "are",
            show_bytes(compared->bytes));
    else
        say("{} of {} differ{}{}.\n", different, show_count(count, "variable"), different == 1 ? "s" : "",
            different == count ? "" : "; the rest is equal, bit by bit");
    return different == 0 ? Exit::good : Exit::found;
}

}  // namespace

void add_compare(CommandLine& line) {
    struct Arguments {
        std::string first, second;
        bool json = false;
    };
    const auto options = std::make_shared<Arguments>();
    auto verb = line.verb("compare", "List the differences of two snapshots");
    verb.argument("SOURCE", options->first, "A snapshot: RUN@STEP, RUN/STREAM@STEP or RUN@last");
    verb.argument("TARGET", options->second, "The other snapshot");
    verb.answer(
        options->json,
        "  An object: first and second (stream, step, directory), equal, bytes, variables: an array of name, kind, "
        "equal,\n  first and second (type, kind and shape; absent if that snapshot lacks the variable), compared,\n  "
        "different, first_alone, second_alone (elements, or rows), without_number (of the different elements: "
        "strings\n  and NaN), largest and at (the largest difference of two numbers, and its place).\n",
        [options](Json& answer) { return say_difference(options->first, options->second, options->json, answer); });
}

}  // namespace forebay::cli
