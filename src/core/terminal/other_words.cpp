#include "core/terminal/other_words.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace forebay::cli {

namespace {

struct OtherWord {
    std::string_view verbs, words;  // each between blanks; empty verbs: all tree verbs
    const char* meant;
};

constexpr std::string_view all_verbs = " walk copy sync compare delete archive restore-archive migrate ";

// The first match counts; this list comes before the general list.
constexpr OtherWord options_of_verbs[] = {
    {" copy ", " --delete --del --delete-before --delete-during --delete-after --delete-delay ",
     "copy removes nothing. Use forebay sync SOURCE TARGET --delete, first with --dry-run"},
    {" sync ", " --del --delete-before --delete-during --delete-after --delete-delay ",
     "use --delete, which removes at the end, and not after an error"},
    {" copy ", " -c --checksum ",
     "use forebay sync SOURCE TARGET --checksum, which compares the bytes of files that look equal"},
    {" sync ", " -c ", "--checksum"},
    {" copy sync ", " -f --force ", "leave it out: files that differ are replaced, and TARGET is the copy itself"},
    {" delete ", " -r -R -f -rf -fr --recursive --force ",
     "leave it out: delete removes all entries of DIRECTORY. --dry-run lists them"},
    {" archive ", " -c -f -cf -cvf -cpf -p --create --file ", "leave it out: forebay archive SOURCE FILE.tar"},
    {" archive ", " -z -j -J -a -czf -cjf -cJf --gzip --bzip2 --xz --zstd --auto-compress ",
     "leave it out: archives are not compressed. Use forebay archive SOURCE FILE.tar"},
    {" archive ", " -C --directory ", "leave it out: forebay archive SOURCE FILE.tar, with the path SOURCE"},
    {" restore-archive ", " -x -f -p -xf -xvf -xpf --extract --get --file ",
     "leave it out: forebay restore-archive FILE.tar TARGET"},
    {" restore-archive ", " -z -j -J -xzf -xjf -xJf --gzip --bzip2 --xz --zstd ",
     "decompress it first, as with gunzip FILE.tar.gz"},
    {" restore-archive ", " -C --directory ",
     "write TARGET after the archive: forebay restore-archive FILE.tar TARGET"},
    {" restore-archive ", " -t -tf -tvf ", "use --dry-run --list ENTRIES.jsonl"},
    {" restore-archive ", " --strip-components ", "restore to a directory, and rename its entries"},
    {" archive restore-archive ", " --hosts ",
     "leave it out: one process makes and restores archives, with all cores. forebay copy has --hosts"},
};

constexpr OtherWord options_of_all[] = {
    {"", " -r -R -a -p -av -avz --recursive --archive ",
     "leave it out: the command takes the whole tree with all attributes"},
    {" copy sync delete archive restore-archive migrate ", " -n --just-print ", "--dry-run"},
    {"", " -v -vv -vvv --verbose ", "use --report FILE, which gets a line for each entry with an event"},
    {"", " -i --itemize-changes --log-file --out-format ",
     "use --dry-run --report FILE, which gets a line for each entry that would be copied, adjusted or removed"},
    {"", " -P --progress --info --stats -h --human-readable ",
     "leave it out: the output shows progress and results, and --json prints all counts"},
    {"", " -q --quiet ", "use > /dev/null: the exit code shows if the work is complete"},
    {" copy sync delete restore-archive ", " --partial --partial-dir --append --append-verify --inplace ",
     "leave it out: after an interruption the same command continues, within large files too"},
    {"", " --bwlimit --max-rate ", "use --rate BYTES, a second, as in --rate 100M"},
    {"", " -j --jobs --transfers --checkers --parallel --nthreads ", "--threads"},
    {"", " -x ", "--one-file-system"},
    {"", " -0 --from0 ", "use --null, with --files-from LIST"},
    {"", " -T --files-from-raw ", "use --files-from LIST"},
    {" walk copy sync compare archive restore-archive ",
     " --exclude-from --include-from --filter --filter-from -f -F -C --cvs-exclude ",
     "use --exclude 'PATTERN' and --include 'PATTERN', also several times"},
    {"", " --delete-excluded ",
     "leave it out: entries that patterns exclude stay at TARGET. forebay delete DIRECTORY removes a directory"},
    {" compare ", " --size-only ", "--no-bytes"},
    {" copy sync restore-archive ",
     " -u --update --ignore-existing --existing --size-only --ignore-times -I --modify-window ",
     "leave it out: equal files are skipped, and differing files are replaced, even if TARGET has a newer file. "
     "--dry-run lists them"},
    {"", " --max-size --min-size --max-age --min-age ",
     "make a list with find: (cd SOURCE && find . -type f -size -9M -printf '%P\\n') > LIST; then --files-from LIST"},
    {"", " -b --backup --backup-dir --suffix ",
     "leave it out: replaced and removed files are lost. Another TARGET keeps both"},
    {"", " --link-dest --compare-dest --copy-dest ", "leave it out: each TARGET is a whole copy"},
    {"", " --remove-source-files ",
     "use forebay copy SOURCE TARGET && forebay compare SOURCE TARGET && forebay delete SOURCE"},
    {" walk copy sync compare archive restore-archive ",
     " -L -k --copy-links --copy-dirlinks --copy-unsafe-links --dereference --safe-links ",
     "leave it out: symbolic links in the tree are copied as links, and not followed"},
    {"", " --no-owner --no-group --no-perms --no-times --no-o --no-g --no-p --no-t --no-links --no-preserve ",
     "use --preserve, with a list of owner,group,permissions,times,attributes,hard-links"},
    {"", " --chown --chmod --usermap --groupmap --owner-map ",
     "leave it out: owners and permissions are those of SOURCE. Choose with --preserve"},
    {"", " -z -zz --compress --compress-level --zc --zl ", "leave it out: nothing is compressed in transit"},
    {"", " --timeout --contimeout --retries ",
     "leave it out: a file system that hangs is waited for, and S3 servers are asked up to ten times"},
    {"", " -e --rsh --rsync-path ",
     "use paths of this machine, s3:// or daos:// addresses. --hosts and --ssh take helpers that see the same paths"},
    {"", " --sha256 --sha1 --md5 --hash --checksum-choice ",
     "leave it out: compare reads the bytes of both, and walk --checksums FILE writes the CRC32C of each file"},
    {" copy sync compare archive restore-archive ",
     " -l -H -A -X -S -t -o -g -D -E -U -N -d --links --hard-links --acls --xattrs --sparse --perms --times --owner "
     "--group --devices --specials --numeric-ids --same-owner --same-permissions --atimes --crtimes -W --whole-file "
     "--executability --metadata ",
     "leave it out: all of that is preserved (transfer/docs/reference/what-is-kept.md). --preserve takes a smaller "
     "list"},
};

constexpr OtherWord verbs[] = {
    {"", " cp scp dcp ", "use forebay copy SOURCE TARGET"},
    {"", " rsync rclone dsync mirror ", "use forebay sync SOURCE TARGET. --delete removes further entries of TARGET"},
    {"", " mv move dmv ", "use forebay copy SOURCE TARGET && forebay compare SOURCE TARGET && forebay delete SOURCE"},
    {"", " rm drm remove rmdir purge unlink ", "use forebay delete DIRECTORY, first with --dry-run"},
    {"", " diff cmp dcmp check ", "use forebay compare SOURCE TARGET"},
    {"", " du find dwalk count size tree ", "use forebay walk DIRECTORY"},
    {"", " tar dtar zip ", "use forebay archive SOURCE FILE.tar, or forebay restore-archive FILE.tar TARGET"},
    {"", " untar unzip ", "use forebay restore-archive FILE.tar TARGET"},
    {"", " help ", "forebay --help, or forebay VERB --help"},
    {"", " version ", "forebay --version"},
};

bool holds(std::string_view words, std::string_view word) {
    const auto at = words.find(" " + std::string(word) + " ");
    return at != words.npos;
}

std::string meant_by(std::span<const OtherWord> all, std::string_view verb, std::string_view word) {
    const auto match = std::ranges::find_if(all, [&](const OtherWord& known) {
        return (known.verbs.empty() || holds(known.verbs, verb)) && holds(known.words, word);
    });
    return match == all.end() ? "" : match->meant;
}

// The number of letters to insert, delete or change.
std::size_t edits_between(std::string_view word, std::string_view other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < word.size(); ++i) {
        auto diagonal = std::exchange(row[0], i + 1);
        for (std::size_t k = 0; k < other.size(); ++k) {
            const auto changed = diagonal + (word[i] == other[k] ? 0 : 1);
            diagonal = row[k + 1];
            row[k + 1] = std::min({changed, row[k] + 1, row[k + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

// Only the first of several letters behind one dash counts, unless they are a known word themselves: -aHAX.
std::string option_meant(std::string_view verb, std::string_view option, const std::vector<std::string>& known) {
    if (!holds(all_verbs, verb)) return "";
    const auto meant_of = [&](std::string_view word) {
        auto meant = meant_by(options_of_verbs, verb, word);
        return meant.empty() ? meant_by(options_of_all, verb, word) : meant;
    };
    auto meant = meant_of(option);
    const bool are_letters = option.size() > 2 && option[0] == '-' && option[1] != '-';
    if (meant.empty() && are_letters) meant = meant_of(option.substr(0, 2));
    // "--threads", or "use --rate BYTES, ...": a verb without that option gets no such advice.
    const std::size_t at = meant.starts_with("use ") ? 4 : 0;
    const bool is_option = meant.compare(at, 2, "--") == 0;
    const auto name = is_option ? meant.substr(at + 2, meant.find_first_of(" ,:", at + 2) - at - 2) : "";
    return is_option && std::ranges::find(known, name) == known.end() ? "" : meant;
}

std::string verb_meant(std::string_view word) { return meant_by(verbs, "", word); }

std::string slip_of(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t letters_max = 64, begun_min = 3;
    if (word.size() > letters_max) return "";
    auto best = std::clamp<std::size_t>(word.size() / 3, 1, 2) + 1;  // fewer than the letters of "no-"
    std::string nearest;
    for (const auto& candidate : known) {
        const bool is_begun = word.size() >= begun_min && candidate.starts_with(word);
        const auto edits = is_begun ? 0 : edits_between(word, candidate);
        if (edits < best) best = edits, nearest = candidate;
    }
    return nearest;
}

}  // namespace forebay::cli
