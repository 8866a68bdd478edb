#include "bench/matrix/setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/base/nearest_word.hpp"
#include "core/base/try.hpp"
#include "core/terminal/sizes.hpp"

namespace forebay::bench {

namespace {

constexpr std::array options{
    OptionWords{"via", "posix", "Write with posix, mmap, mpiio, hdf5 or forebay. No build has dfs and genericio yet"},
    OptionWords{"layout", "shared",
                "Put a dump into shared (one file), node, rank (one file each) or groups:N (N files)"},
    OptionWords{
        "sync", "independent",
        "Synchronise ranks: independent, collective (one rendezvous a variable) or collective:all (one for all)"},
    OptionWords{"data", "1xu8",
                "Write these variables: NxTYPE, particles[:N] (38 bytes each), grid:AxBxC (f64, of all ranks) or palm"},
    OptionWords{"mem", "soa",
                "Lay data out in memory: soa, aos, or block (one block of --xfer, written repeatedly, as IOR does)"},
    OptionWords{"size", "64M", "Write so many bytes on each rank, or total:BYTES on all"},
    OptionWords{"vary", "0", "Vary the bytes of a rank: 0, 15% (uniform), lognormal:S, or growth:5% a save"},
    OptionWords{"xfer", "1M", "Write or read so many bytes at a time. With forebay: in one write of its agent"},
    OptionWords{"dumps", "1", "Save so many times in a row"},
    OptionWords{"compute", "0", "Sleep so many seconds before each save. SECONDS:burn computes instead"},
    OptionWords{"durable", "close", "Stop the clock at none (after the writes), close, fsync, or verified (read back)"},
    OptionWords{"op", "write,read", "Do write, read[:cold], restart[:RANKS], kill, metadata. Separate with commas"},
    OptionWords{"stage", "none",
                "With forebay: stage in DIR,slots=N,agent=process|thread|dedicated (/dev/shm,slots=1)"},
    OptionWords{"target", "", "Write to these directories, with commas, filled evenly ($TMPDIR or /var/tmp)"},
    OptionWords{"stonewall", "0", "Stop writing after so many seconds"},
    OptionWords{"fill", "random", "Fill data with random, zero or compressible:R, to 1/R"},
    OptionWords{"tree", "n=1000", "Use this tree for metadata: n=ITEMS:z=DEPTH:b=BRANCHES:I=ITEMS:own, as mdtest"},
    OptionWords{"hint", "", "Set hints of MPI-IO: KEY=VALUE, with commas. They are read back"},
    OptionWords{"ranks", "0", "Use only the first so many ranks. 0: all"},
    OptionWords{"nodes", "0", "Count the ranks as so many nodes. 0: their machines"},
};

Error wrong(const std::string& key, const std::string& value, const std::string& right) {
    return {ErrorKind::refused, fmt::format("--{} is not valid: \"{}\"", key, value), "", right};
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find(separator, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

template <class T>
Result<T> number_of(const std::string& key, std::string_view text, T least, const std::string& right) {
    T number{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || end != text.data() + text.size() || number < least)
        return wrong(key, std::string(text), right);
    return number;
}

template <class T>
struct OptionValue {
    const char* name;
    T value;
};

template <class T, std::size_t n>
Result<T> one_of(const std::string& key, const std::string& word, const OptionValue<T> (&all)[n]) {
    std::vector<std::string> names;
    for (const auto& choice : all) {
        if (word == choice.name) return choice.value;
        names.emplace_back(choice.name);
    }
    return wrong(key, word, fmt::format("one of {}", fmt::join(names, ", ")));
}

std::pair<std::string, std::string> split(const std::string& word, char at) {
    const auto place = word.find(at);
    if (place == std::string::npos) return {word, ""};
    return {word.substr(0, place), word.substr(place + 1)};
}

constexpr std::pair<const char*, Type> types[] = {{"u8", u8},   {"i8", i8},   {"u16", u16}, {"i16", i16}, {"u32", u32},
                                                  {"i32", i32}, {"u64", u64}, {"i64", i64}, {"f4", f32},  {"f8", f64},
                                                  {"f32", f32}, {"f64", f64}, {"i4", i32},  {"u1", u8}};

Result<> data_from(const std::string& word, RowSetting& setting) {
    auto& data = setting.data;
    const auto [kind, rest] = split(word, ':');
    const std::string right = "8xf4, particles:1000000, grid:512x512x64 or palm";
    if (kind == "palm" && rest.empty()) {
        data.kind = DataShape::Kind::palm;
        return {};
    }
    if (kind == "particles") {
        data.kind = DataShape::Kind::particles;
        data.count = 0;
        if (rest.empty()) return {};
        const auto rows = cli::bytes_from("--data", rest);
        if (!rows) return wrong("data", word, right);
        data.count = *rows;
        return {};
    }
    if (kind == "grid") {
        data.kind = DataShape::Kind::grid;
        for (const auto& part : parts_of(rest, 'x')) {
            FB_TRY_ASSIGN(extent, number_of<std::uint64_t>("data", part, 1, right));
            data.extents.push_back(extent);
        }
        return data.extents.size() <= dims_max ? Result<>() : wrong("data", word, right);
    }
    const auto [count, name] = split(word, 'x');
    FB_TRY_ASSIGN(columns, number_of<std::uint64_t>("data", count, 1, right));
    data.count = columns;
    for (const auto& [type_name, type] : types)
        if (name == type_name) {
            data.type = type;
            return {};
        }
    return wrong("data", word, right);
}

Result<> vary_from(const std::string& word, Vary& vary) {
    const std::string right = "0, 15%, lognormal:0.2 or growth:5%";
    if (word == "0") return {};
    const auto [kind, rest] = split(word, ':');
    auto amount = rest.empty() ? kind : rest;
    const bool percent = amount.ends_with('%');
    if (percent) amount.pop_back();
    FB_TRY_ASSIGN(number, number_of("vary", amount, 0.0, right));
    vary.amount = percent ? number / 100 : number;
    if (kind == "lognormal" && !rest.empty()) vary.kind = Vary::Kind::lognormal;
    else if (kind == "growth" && !rest.empty()) vary.kind = Vary::Kind::growth;
    else if (rest.empty() && percent && vary.amount < 1) vary.kind = Vary::Kind::uniform;
    else return wrong("vary", word, right);
    return {};
}

Result<> operations_from(const std::string& word, Operations& operations) {
    const std::string right = "write, read, read:cold, restart, restart:4, kill and metadata, with commas";
    for (const auto& part : parts_of(word, ',')) {
        const auto [name, rest] = split(part, ':');
        if (name == "restart") {
            operations.restart = true;
            if (rest.empty()) continue;
            FB_TRY_ASSIGN(readers, number_of("op", rest, 1, right));
            operations.readers = readers;
        } else if (part == "write") operations.write = true;
        else if (part == "read") operations.read = true;
        else if (part == "read:cold") operations.read = operations.cold = true;
        else if (part == "kill") operations.kill = true;
        else if (part == "metadata") operations.metadata = true;
        else return wrong("op", word, right);
    }
    return {};
}

Result<> stage_from(const std::string& word, RowSetting& setting) {
    if (word == "none") return {};
    setting.staging_given = true;
    const auto parts = parts_of(word, ',');
    setting.staging = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto [key, value] = split(parts[i], '=');
        if (key == "slots") {
            FB_TRY_ASSIGN(slots, number_of("stage", value, 1, "slots=1 or more"));
            setting.slots = slots;
        } else if (key == "agent") {
            FB_TRY_ASSIGN(agent, one_of("stage", value,
                                        {OptionValue<AgentMode>{"process", AgentMode::process},
                                         {"thread", AgentMode::thread},
                                         {"dedicated", AgentMode::dedicated}}));
            setting.agent = agent;
        } else {
            return wrong("stage", word, "DIR,slots=2,agent=process");
        }
    }
    return {};
}

Result<> tree_from(const std::string& word, Tree& tree) {
    const std::string right = "n=1000:z=2:b=3:I=10:own";
    for (const auto& part : parts_of(word, ':')) {
        const auto [key, value] = split(part, '=');
        if (part == "own") {
            tree.own = true;
            continue;
        }
        FB_TRY_ASSIGN(number, number_of<std::uint64_t>("tree", value, 0, right));
        if (key == "n" && number > 0) tree.items = number;
        else if (key == "z" && number <= 8) tree.depth = static_cast<int>(number);
        else if (key == "b" && number > 0 && number <= 64) tree.branches = static_cast<int>(number);
        else if (key == "I") tree.items_per_directory = number;
        else return wrong("tree", word, right);
    }
    return {};
}

Result<> layout_from(const std::string& word, RowSetting& setting) {
    const auto [name, rest] = split(word, ':');
    if (name == "groups") {
        FB_TRY_ASSIGN(groups, number_of("layout", rest, 1, "groups:4"));
        setting.groups = groups;
        setting.layout = FileLayout::groups;
        return {};
    }
    FB_TRY_ASSIGN(layout, one_of("layout", word,
                                 {OptionValue<FileLayout>{"shared", FileLayout::shared},
                                  {"node", FileLayout::node},
                                  {"rank", FileLayout::rank},
                                  {"groups:N", FileLayout::groups}}));
    setting.layout = layout;
    return {};
}

Result<> words_of_how(const Words& words, RowSetting& setting) {
    FB_TRY_ASSIGN(via, one_of("via", word_of(words, "via"),
                              {OptionValue<Via>{"posix", Via::posix},
                               {"mmap", Via::mmap},
                               {"mpiio", Via::mpiio},
                               {"hdf5", Via::hdf5},
                               {"forebay", Via::forebay},
                               {"dfs", Via::dfs},
                               {"genericio", Via::genericio}}));
    setting.via = via;
    FB_TRY(layout_from(word_of(words, "layout"), setting));
    FB_TRY_ASSIGN(sync, one_of("sync", word_of(words, "sync"),
                               {OptionValue<Sync>{"independent", Sync::independent},
                                {"collective", Sync::collective},
                                {"collective:all", Sync::collective_all}}));
    setting.sync = sync;
    FB_TRY_ASSIGN(durable, one_of("durable", word_of(words, "durable"),
                                  {OptionValue<Durable>{"none", Durable::none},
                                   {"close", Durable::close},
                                   {"fsync", Durable::fsync},
                                   {"verified", Durable::verified}}));
    setting.durable = durable;
    for (const auto& hint : parts_of(word_of(words, "hint"), ','))
        if (const auto both = split(hint, '='); !both.second.empty()) setting.hints.push_back(both);
        else if (!hint.empty()) return wrong("hint", hint, "romio_cb_write=enable");
    FB_TRY(stage_from(word_of(words, "stage"), setting));
    return operations_from(word_of(words, "op"), setting.operations);
}

Result<> words_of_what(const Words& words, RowSetting& setting) {
    FB_TRY(data_from(word_of(words, "data"), setting));
    FB_TRY_ASSIGN(memory, one_of("mem", word_of(words, "mem"),
                                 {OptionValue<MemoryForm>{"soa", MemoryForm::soa},
                                  {"aos", MemoryForm::aos},
                                  {"block", MemoryForm::block}}));
    setting.memory = memory;
    auto size = word_of(words, "size");
    setting.size_is_total = size.starts_with("total:");
    FB_TRY_ASSIGN(bytes, cli::bytes_from("--size", setting.size_is_total ? size.substr(6) : size));
    setting.size_bytes = bytes;
    FB_TRY_ASSIGN(xfer, cli::bytes_from("--xfer", word_of(words, "xfer")));
    if (xfer == 0 || xfer > (1u << 30)) return wrong("xfer", word_of(words, "xfer"), "1 byte to 1 GiB");
    setting.xfer_bytes = xfer;
    FB_TRY(vary_from(word_of(words, "vary"), setting.vary));
    const auto [fill, ratio] = split(word_of(words, "fill"), ':');
    FB_TRY_ASSIGN(contents, one_of("fill", fill,
                                   {OptionValue<Fill>{"random", Fill::random},
                                    {"zero", Fill::zero},
                                    {"compressible", Fill::compressible}}));
    setting.contents = contents;
    if (contents == Fill::compressible) {
        FB_TRY_ASSIGN(number, number_of("fill", ratio, 1.0, "compressible:2.5"));
        setting.compressible = number;
    }
    return tree_from(word_of(words, "tree"), setting.tree);
}

Result<> words_of_when(const Words& words, RowSetting& setting) {
    FB_TRY_ASSIGN(dumps, number_of("dumps", word_of(words, "dumps"), 1, "1 or more"));
    setting.dumps = dumps;
    const auto [seconds, how] = split(word_of(words, "compute"), ':');
    FB_TRY_ASSIGN(compute, number_of("compute", seconds, 0.0, "0.5, 0.5:sleep or 0.5:burn"));
    setting.compute_seconds = compute;
    setting.burns = how == "burn";
    if (!how.empty() && how != "burn" && how != "sleep") return wrong("compute", how, "sleep or burn");
    FB_TRY_ASSIGN(stonewall, number_of("stonewall", word_of(words, "stonewall"), 0.0, "seconds"));
    setting.stonewall_seconds = stonewall;
    FB_TRY_ASSIGN(ranks, number_of("ranks", word_of(words, "ranks"), 0, "0 or more"));
    setting.ranks = ranks;
    FB_TRY_ASSIGN(nodes, number_of("nodes", word_of(words, "nodes"), 0, "0 or more"));
    setting.nodes = nodes;
    for (const auto& target : parts_of(word_of(words, "target"), ','))
        if (!target.empty()) setting.targets.push_back(target);
    return {};
}

}  // namespace

std::span<const OptionWords> matrix_options() { return options; }

void put_word(Words& words, const std::string& key, const std::string& value) {
    const auto place = std::ranges::find(words, key, &Words::value_type::first);
    if (place == words.end()) words.emplace_back(key, value);
    else place->second = value;
}

const std::string& word_of(const Words& words, const std::string& key) {
    static const std::string none;
    const auto word = std::ranges::find(words, key, &Words::value_type::first);
    return word == words.end() ? none : word->second;
}

Result<RowSetting> setting_from(const Words& words) {
    RowSetting setting;
    for (const auto& option : options)
        setting.words.emplace_back(option.key, std::ranges::count(words, option.key, &Words::value_type::first) > 0
                                                   ? word_of(words, option.key)
                                                   : option.value);
    FB_TRY(words_of_how(setting.words, setting));
    FB_TRY(words_of_what(setting.words, setting));
    FB_TRY(words_of_when(setting.words, setting));
    return setting;
}

Result<std::vector<Words>> rows_of(const Words& words, const std::vector<std::string>& sweeps) {
    std::vector<Words> rows{words};
    std::vector<std::string> keys;
    keys.reserve(options.size());
    for (const auto& option : options) keys.emplace_back(option.key);
    for (const auto& sweep : sweeps) {
        const auto [key, values] = split(sweep, '=');
        const bool known = std::ranges::find(keys, key) != keys.end();
        if (!known || values.empty()) {
            const auto near = nearest_word(key, keys);
            return Error{ErrorKind::refused, fmt::format("--sweep {} is not valid", sweep), "",
                         known || near.empty() ? "--sweep via=posix,mpiio. The keys are the options of --help"
                                               : fmt::format("--sweep {}={}", near, values.empty() ? "A,B" : values)};
        }
        std::vector<Words> more;
        for (const auto& row : rows)
            for (const auto& value : parts_of(values, values.find(';') == std::string::npos ? ',' : ';')) {
                more.push_back(row);
                put_word(more.back(), key, value);
            }
        rows = std::move(more);
    }
    return rows;
}

Result<Words> scaled(const Words& words, double scale) {
    auto result = words;
    for (auto& [key, value] : result) {
        if (key == "size") {
            const bool total = value.starts_with("total:");
            FB_TRY_ASSIGN(bytes, cli::bytes_from("--size", total ? value.substr(6) : value));
            value =
                fmt::format("{}{}", total ? "total:" : "",
                            std::max<std::uint64_t>(8, static_cast<std::uint64_t>(static_cast<double>(bytes) * scale)));
        } else if (key == "compute") {
            const auto [seconds, how] = split(value, ':');
            FB_TRY_ASSIGN(number, number_of("compute", seconds, 0.0, "seconds"));
            value = fmt::format("{:g}{}{}", number * scale, how.empty() ? "" : ":", how);
        } else if (key == "data" && value.starts_with("particles:")) {
            FB_TRY_ASSIGN(rows, cli::bytes_from("--data", value.substr(10)));
            value = fmt::format("particles:{}", std::max<std::uint64_t>(
                                                    1, static_cast<std::uint64_t>(static_cast<double>(rows) * scale)));
        } else if (key == "data" && value.starts_with("grid:")) {
            const auto [first, rest] = split(value.substr(5), 'x');
            FB_TRY_ASSIGN(extent, number_of<std::uint64_t>("data", first, 1, "grid:AxBxC"));
            const auto smaller = static_cast<std::uint64_t>(static_cast<double>(extent) * scale);
            value = fmt::format("grid:{}{}{}", std::max<std::uint64_t>(1, smaller), rest.empty() ? "" : "x", rest);
        }
    }
    return result;
}

}  // namespace forebay::bench
