// Exporter::run() has three parts. survey() opens every node file and counts its ranks' elements (survey.hpp). plan()
// makes the header of each output file and, without compression, places all blocks. write() copies node file after node
// file, then writes the headers and renames the files. Until then all names end in ".part". An error removes these
// files.
//
// A partitioned file is a list with the given name and a file NAME#NUMBER for each partition. Readers start at the
// list, so the old list is removed before the first partition is renamed. The new list comes after the last partition.

#include "insight/foreign/genericio/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/codec/codec.hpp"
#include "core/move/export_place.hpp"
#include "core/sys/machine.hpp"
#include "insight/foreign/genericio/copy.hpp"
#include "insight/foreign/genericio/encode.hpp"
#include "insight/foreign/genericio/survey.hpp"
#include "insight/foreign/limits.hpp"
#include "path/catalog/output.hpp"

namespace forebay::foreign::genericio {

namespace {

std::string part_of(const std::string& path) { return path + ".part"; }

class Exporter {
public:
    Exporter(sys::Store& store, const catalog::Snapshot& snapshot, const std::string& path,
             const GioExportOptions& options, const std::function<void(std::uint64_t, std::uint64_t)>& progress)
        : store_(store), directory_(snapshot.directory), path_(path), options_(options), progress_(progress) {}

    Result<GioExported> run() {
        FB_TRY(check_options());
        FB_TRY_ASSIGN(surveyed, survey(store_, directory_, options_));
        survey_ = std::move(surveyed);
        FB_TRY(plan());
        if (auto done = write(); !done) {
            // Only the first error is reported. The next export overwrites files that cannot be removed.
            for (const auto& output : outputs_) static_cast<void>(store_.remove(part_of(output.path)));
            if (is_split()) static_cast<void>(store_.remove(part_of(path_)));
            return done.error();
        }
        return std::move(out_);
    }

private:
    Error refusal(const std::string& why, const std::string& next) const {
        return {ErrorKind::refused, fmt::format("{} Nothing was written", why), "", next};
    }

    Result<> check_options() const {
        if (options_.compress && !codec::has_blosc())
            return Error{ErrorKind::unsupported,
                         "a file with compression needs Blosc, and this forebay was built without Blosc. Nothing was "
                         "written",
                         "", "export without --compress, or use a forebay that was built with Blosc"};
        if (options_.threads < 1 || options_.threads > limits::genericio_threads_max)
            return refusal(fmt::format("{} threads.", options_.threads),
                           fmt::format("--threads 1 to {}", limits::genericio_threads_max));
        if (options_.partitions < 0 || options_.partitions > limits::genericio_partitions_max)
            return refusal(fmt::format("{} partitions.", options_.partitions),
                           fmt::format("--partitions 1 to {}", limits::genericio_partitions_max));
        FB_TRY(catalog::check_output(store_, path_));
        return check_absent(path_);
    }

    Result<> check_absent(const std::string& path) const {
        FB_TRY_ASSIGN(exists, store_.exists(path));
        if (exists && !options_.replace) return refusal(fmt::format("{} exists.", path), "--force, or another name");
        return {};
    }

    Result<> plan() {
        FB_TRY(check_partitions());
        std::uint64_t bytes_all = 0;
        // By number; each partition has its ranks in order.
        std::map<std::int32_t, std::vector<std::uint32_t>> members;
        for (std::uint32_t rank = 0; rank < survey_.elements.size(); ++rank)
            members[partition_of(rank)].push_back(rank);
        ranks_.resize(survey_.elements.size());
        for (const auto& [number, ranks] : members) {
            GioOutput output;
            output.path = is_split() ? fmt::format("{}#{}", path_, number) : path_;
            FB_TRY(check_absent(output.path));
            output.header = header_of(ranks);
            for (std::uint32_t i = 0; i < ranks.size(); ++i)
                ranks_[ranks[i]] = {static_cast<std::uint32_t>(outputs_.size()), i};
            for (const auto& record : survey_.records) output.header.variables.push_back(record.variable);
            FB_TRY(place_plain(output.header));
            bytes_all += output.header.file_bytes;
            if (options_.compress) make_blocks(output);
            outputs_.push_back(std::move(output));
        }
        FB_TRY_ASSIGN(free, sys::free_bytes(directory_of(path_)));
        // The compressed size is not known yet.
        if (free >= bytes_all || options_.compress) return {};
        return Error{ErrorKind::full,
                     fmt::format("{} has {} bytes free, but {} needs {}. Nothing was written", directory_of(path_),
                                 free, path_, bytes_all),
                     "", "choose another directory"};
    }

    Result<> check_partitions() {
        const auto ranks = survey_.elements.size();
        if (options_.partitions > 0 && static_cast<std::size_t>(options_.partitions) > ranks)
            return refusal(fmt::format("{} ranks cannot be spread over {} partitions.", ranks, options_.partitions),
                           fmt::format("--partitions {}", ranks));
        // Numbers chosen by the ranks count if --partitions is not given. One number for all ranks means no partitions.
        if (options_.partitions > 0) survey_.partitions.clear();
        const std::set<std::int32_t> numbers(survey_.partitions.begin(), survey_.partitions.end());
        if (numbers.size() <= 1) survey_.partitions.clear();
        if (numbers.size() > static_cast<std::size_t>(limits::genericio_partitions_max))
            return refusal(fmt::format("the ranks chose {} partitions, at most {} can be open at once.", numbers.size(),
                                       limits::genericio_partitions_max),
                           fmt::format("--partitions {}", limits::genericio_partitions_max));
        return {};
    }
    bool is_split() const { return options_.partitions > 0 || !survey_.partitions.empty(); }
    std::int32_t partition_of(std::size_t rank) const {
        if (!survey_.partitions.empty()) return survey_.partitions[rank];
        const auto parts = static_cast<std::size_t>(options_.partitions);
        // The inverse of p -> p * ranks / parts; neighbours stay together.
        return parts == 0 ? 0 : static_cast<std::int32_t>(((rank + 1) * parts - 1) / survey_.elements.size());
    }

    static void make_blocks(GioOutput& output) {
        auto& header = output.header;
        header.filters = {"", "BLOSC"};
        header.stored.resize(header.ranks.size() * header.variables.size());
        header.filter_of.resize(header.stored.size());
        header.header_bytes = header_bytes(header.variables.size(), header.ranks.size(), true);
        output.end = header.header_bytes;
    }

    GioHeader header_of(const std::vector<std::uint32_t>& ranks) const {
        GioHeader header;
        const bool grid = survey_.is_grid();  // of all ranks, also in each partition
        header.big_endian = options_.big_endian;
        // Without a grid all ranks stand in a row.
        header.dims = grid ? survey_.dims : std::array<std::uint64_t, 3>{survey_.elements.size(), 1, 1};
        header.phys_origin = survey_.phys_origin;
        header.phys_scale = survey_.phys_scale;
        for (const auto rank : ranks) {
            header.ranks.push_back({.coords = {rank, 0, 0}, .elements = survey_.elements[rank], .global_rank = rank});
            if (grid) header.ranks.back().coords = survey_.coords[rank];
            header.elements += survey_.elements[rank];
        }
        return header;
    }

    Result<> write() {
        for (auto& output : outputs_) {
            FB_TRY_ASSIGN(file, store_.open(part_of(output.path), sys::Access::create));
            output.file = std::move(file);
        }
        std::uint64_t all = 0, done = 0;
        for (const auto elements : survey_.elements)
            for (const auto& record : survey_.records) all += elements * record.variable.record_bytes;
        for (const auto& line : survey_.manifest.nodes) {
            FB_TRY_ASSIGN(node, open_node(store_, directory_, line));
            FB_TRY(copy_node(node, survey_.records, outputs_, ranks_, options_, [&](std::uint64_t bytes) {
                if (progress_) progress_(done += bytes, all);
            }));
        }
        // The header comes last: it holds the places that compression has assigned.
        for (auto& output : outputs_) {
            const auto head = encode(output.header);
            FB_TRY(output.file->write(0, head));
            FB_TRY_ASSIGN(size, output.file->size());
            out_.bytes += size;
            FB_TRY(output.file->sync());
            FB_TRY(output.file->close());
            out_.files.push_back(output.path);
        }
        out_.ranks = survey_.elements.size();
        out_.elements = std::accumulate(survey_.elements.begin(), survey_.elements.end(), std::uint64_t{0});
        return is_split() ? publish_partitions() : move::put_in_place(store_, part_of(path_), path_);
    }

    // Readers start at the list: it vanishes before its partitions, and returns after all of them are in place.
    Result<> publish_partitions() {
        FB_TRY_ASSIGN(file, store_.open(part_of(path_), sys::Access::create));
        const auto list = encode_list();
        FB_TRY(file->write(0, list));
        FB_TRY(file->sync());
        FB_TRY(file->close());
        FB_TRY(store_.remove(path_));
        FB_TRY(store_.sync_directory(directory_of(path_)));
        for (const auto& output : outputs_) FB_TRY(store_.rename(part_of(output.path), output.path));
        FB_TRY(store_.sync_directory(directory_of(path_)));
        out_.files.insert(out_.files.begin(), path_);
        out_.bytes += list.size();
        return move::put_in_place(store_, part_of(path_), path_);
    }

    std::vector<std::byte> encode_list() const {
        const bool grid = survey_.is_grid();
        GioHeader header;  // of one rank, with all elements
        header.big_endian = options_.big_endian;
        header.elements = survey_.elements.size();
        header.dims = {1, 1, 1};
        header.ranks.push_back({.elements = header.elements});
        std::vector<std::vector<std::int32_t>> columns(grid ? 5 : 2);
        for (std::size_t rank = 0; rank < survey_.elements.size(); ++rank) {
            columns[0].push_back(static_cast<std::int32_t>(rank));
            columns[1].push_back(partition_of(rank));
            for (std::size_t d = 0; grid && d < 3; ++d)
                columns[2 + d].push_back(static_cast<std::int32_t>(survey_.coords[rank][d]));
        }
        std::vector<std::vector<std::byte>> bytes;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            constexpr std::array<const char*, 5> names{"$rank", "$partition", "$x", "$y", "$z"};
            header.variables.push_back({.name = names[i], .flags = is_signed, .record_bytes = 4, .element_bytes = 4});
            const auto values = std::as_bytes(std::span(columns[i]));
            bytes.emplace_back(values.begin(), values.end());
        }
        return encode_small(std::move(header), bytes);
    }

    sys::Store& store_;
    std::string directory_;
    const std::string& path_;
    const GioExportOptions& options_;
    const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
    GioSurvey survey_;
    std::vector<Destined> ranks_;
    std::vector<GioOutput> outputs_;
    GioExported out_;
};

}  // namespace

Result<GioExported> export_file(sys::Store& store, const catalog::Snapshot& snapshot, const std::string& path,
                                const GioExportOptions& options,
                                const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    return Exporter(store, snapshot, path, options, progress).run();
}

}  // namespace forebay::foreign::genericio
