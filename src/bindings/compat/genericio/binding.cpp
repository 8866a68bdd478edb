// The calls of gio::GenericIO that need no MPI.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "bindings/compat/genericio/binding.hpp"
#include "bindings/compat/genericio/pending.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"

namespace gio {

namespace own = forebay::genericio;
using forebay::Error;
using forebay::ErrorKind;

namespace {

const own::Opened& opened(const own::Data& data) {
    if (!data.opened)
        throw forebay::Exception(
            {ErrorKind::refused, fmt::format("{} is not open", data.file), "", "call openAndReadHeader() first"});
    return *data.opened;
}

// The rank's own file rank for -1, else `rank`. It must exist in the file.
int file_rank(own::Data& data, int rank) {
    const auto ranks = opened(data).set.ranks.size();
    const int wanted = rank == -1 ? data.ranks.world->rank() : rank;
    if (wanted >= 0 && static_cast<std::size_t>(wanted) < ranks) return wanted;
    throw forebay::Exception({ErrorKind::refused,
                              fmt::format("{} has {} ranks, but no rank {}", data.file, ranks, wanted), "",
                              "use an existing rank, or open it with MismatchRedistribute"});
}

bool takes_share(own::Data& data, int rank) { return rank == -1 && opened(data).redistributes; }

void print_rate(const own::Data& data, std::uint64_t bytes, double seconds) {
    std::printf("Read %zu variables from %s (%llu bytes) in %gs: %g MB/s\n", data.columns.size(),
                forebay::show_text(data.file).c_str(), static_cast<unsigned long long>(bytes), seconds,
                seconds > 0 ? static_cast<double>(bytes) / seconds / 1048576 : 0);
}

// Runs this rank's part of a read. `take` reads and counts bytes.
template <class Take>
void read_with_all(own::Data& data, bool print, bool collective, const Take& take) {
    const auto start = std::chrono::steady_clock::now();
    std::int64_t bytes = 0;
    forebay::Result<> done;
    try {
        done = take(bytes);
    } catch (const forebay::Exception& error) {
        done = error.error();  // reported below, after all ranks agree
    }
    if (collective) {
        forebay::comm::agree(*data.ranks.world, done).value();
        bytes = data.ranks.world->sum(bytes);
    }
    done.value();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (print && data.ranks.is_first()) print_rate(data, static_cast<std::uint64_t>(bytes), seconds.count());
}

std::size_t elements_of(own::Data& data, int file_rank) {
    return opened(data).set.rank(static_cast<std::size_t>(file_rank)).elements;
}

// Positions in this rank's share count through all of its file ranks.
forebay::Result<> read_of_share(own::Data& data, std::size_t first, std::size_t rows, std::int64_t& bytes) {
    std::size_t all = 0;
    for (const int source : opened(data).sources) all += elements_of(data, source);
    if (first > all || rows > all - first)
        return Error{
            ErrorKind::refused,
            fmt::format("this rank's share of {} has {} records, not {} from {} on", data.file, all, rows, first), "",
            "readNumElems() returns the number"};
    std::size_t at = 0;
    for (const int source : opened(data).sources) {
        const auto there = elements_of(data, source);
        const auto skipped = std::min(first, there);
        const auto taken = std::min(rows - at, there - skipped);
        first -= skipped;
        if (taken == 0) continue;
        FB_TRY_ASSIGN(some, own::read(data, source, skipped, taken, at));
        bytes += static_cast<std::int64_t>(some);
        at += taken;
    }
    return {};
}

}  // namespace

std::unique_ptr<own::Data> make_data(own::GridRanks ranks, const std::string& file) {
    auto data = std::make_unique<own::Data>();
    data->ranks = std::move(ranks);
    data->file = forebay::absolute_path(file, "the file").value();
    return data;
}

GenericIO::GenericIO(const GenericIO& other) : state_(new State{std::make_unique<own::Data>(*other.state_->data)}) {}
GenericIO& GenericIO::operator=(const GenericIO& other) {
    *state_->data = *other.state_->data;
    return *this;
}
GenericIO::~GenericIO() = default;

void GenericIO::setNumElems(std::size_t elements) { state_->data->elements = elements; }

void GenericIO::setPhysOrigin(double value, int dim) {
    auto& origin = state_->data->phys_origin;
    if (dim < 0) origin.fill(value);
    else origin.at(static_cast<std::size_t>(dim)) = value;
}

void GenericIO::setPhysScale(double value, int dim) {
    auto& scale = state_->data->phys_scale;
    if (dim < 0) scale.fill(value);
    else scale.at(static_cast<std::size_t>(dim)) = value;
}

void GenericIO::addVariable(const VariableInfo& info, void* data, unsigned flags) {
    namespace bits = forebay::foreign::genericio;
    std::uint64_t all = (info.IsFloat ? bits::is_float : 0) | (info.IsSigned ? bits::is_signed : 0);
    if (info.IsPhysCoordX || (flags & VarIsPhysCoordX) != 0) all |= bits::coordinate[0];
    if (info.IsPhysCoordY || (flags & VarIsPhysCoordY) != 0) all |= bits::coordinate[1];
    if (info.IsPhysCoordZ || (flags & VarIsPhysCoordZ) != 0) all |= bits::coordinate[2];
    if (info.MaybePhysGhost || (flags & VarMaybePhysGhost) != 0) all |= bits::maybe_ghost;
    state_->data->columns.push_back({{info.Name, all, info.Size, info.ElementSize}, static_cast<std::byte*>(data)});
}

void GenericIO::clearVariables() { state_->data->columns.clear(); }
int GenericIO::getNumberOfVariables() { return static_cast<int>(state_->data->columns.size()); }

void GenericIO::write() { own::write(*state_->data).value(); }

void GenericIO::openAndReadHeader(MismatchBehavior mismatch, int, bool check_partitions) {
    const auto how = mismatch == MismatchDisallowed     ? own::Mismatch::disallowed
                     : mismatch == MismatchRedistribute ? own::Mismatch::redistribute
                                                        : own::Mismatch::allowed;
    own::open(*state_->data, how, check_partitions).value();
}

int GenericIO::readNRanks() { return static_cast<int>(opened(*state_->data).set.ranks.size()); }

void GenericIO::readDims(int dims[3]) {
    const auto& cells = opened(*state_->data).set.header().dims;
    for (std::size_t d = 0; d < 3; ++d) dims[d] = static_cast<int>(cells[d]);
}

std::uint64_t GenericIO::readTotalNumElems() {
    const auto& set = opened(*state_->data).set;
    return set.list ? ~std::uint64_t{0} : set.elements();
}

void GenericIO::readPhysOrigin(double origin[3]) {
    std::ranges::copy(opened(*state_->data).set.header().phys_origin, origin);
}
void GenericIO::readPhysScale(double scale[3]) {
    std::ranges::copy(opened(*state_->data).set.header().phys_scale, scale);
}

void GenericIO::getVariableInfo(std::vector<VariableInfo>& info) {
    namespace bits = forebay::foreign::genericio;
    for (const auto& variable : opened(*state_->data).set.header().variables) {
        const auto has = [&](std::uint64_t flag) { return (variable.flags & flag) != 0; };
        info.emplace_back(variable.name, variable.record_bytes, has(bits::is_float), has(bits::is_signed),
                          has(bits::coordinate[0]), has(bits::coordinate[1]), has(bits::coordinate[2]),
                          has(bits::maybe_ghost), variable.element_bytes);
    }
}

std::string GenericIO::isCompressed(int variable) {
    const auto& header = opened(*state_->data).set.header();
    if (variable < 0 || static_cast<std::size_t>(variable) >= header.variables.size())
        throw forebay::Exception({ErrorKind::refused,
                                  fmt::format("{} has {} variables, but no number {}", state_->data->file,
                                              header.variables.size(), variable),
                                  "", "getVariableInfo() lists them"});
    return header.block(0, static_cast<std::size_t>(variable)).filter;
}

std::size_t GenericIO::readNumElems(int rank) {
    auto& data = *state_->data;
    if (!takes_share(data, rank))
        return opened(data).set.rank(static_cast<std::size_t>(file_rank(data, rank))).elements;
    std::size_t all = 0;
    for (const int source : opened(data).sources) all += readNumElems(source);
    return all;
}

void GenericIO::readCoords(int coords[3], int rank) {
    auto& data = *state_->data;
    std::fill(coords, coords + 3, 0);  // zeros for a share of several ranks, as in GenericIO
    if (takes_share(data, rank)) return;
    const auto& coordinates = opened(data).set.rank(static_cast<std::size_t>(file_rank(data, rank))).coords;
    for (std::size_t d = 0; d < 3; ++d) coords[d] = static_cast<int>(coordinates[d]);
}

int GenericIO::readGlobalRankNumber(int rank) {
    auto& data = *state_->data;
    return static_cast<int>(opened(data).set.rank(static_cast<std::size_t>(file_rank(data, rank))).global_rank);
}

void GenericIO::getSourceRanks(std::vector<int>& ranks) {
    auto& data = *state_->data;
    ranks = data.opened ? data.opened->sources : std::vector<int>{data.ranks.world->rank()};
}

void GenericIO::readData(int rank, bool print, bool collective) {
    auto& data = *state_->data;
    read_with_all(data, print, collective, [&](std::int64_t& bytes) -> forebay::Result<> {
        const auto sources = takes_share(data, rank) ? opened(data).sources : std::vector<int>{file_rank(data, rank)};
        std::uint64_t at = 0;
        for (const int source : sources) {
            const auto rows = readNumElems(source);
            FB_TRY_ASSIGN(some, own::read(data, source, 0, rows, at));
            bytes += static_cast<std::int64_t>(some);
            at += rows;
        }
        return {};
    });
}

void GenericIO::readDataSection(std::size_t first, std::size_t rows, int rank, bool print, bool collective) {
    auto& data = *state_->data;
    read_with_all(data, print, collective, [&](std::int64_t& bytes) -> forebay::Result<> {
        if (takes_share(data, rank)) return read_of_share(data, first, rows, bytes);
        FB_TRY_ASSIGN(some, own::read(data, file_rank(data, rank), first, rows, 0));
        bytes += static_cast<std::int64_t>(some);
        return {};
    });
}

void GenericIO::close() { state_->data->opened.reset(); }

void GenericIO::setPartition(int partition) { state_->data->partition = partition; }
void GenericIO::setDefaultPartition(int partition) { own::defaults().partition = partition; }
void GenericIO::setDefaultShouldCompress(bool compress) { own::defaults().compress = compress; }
void GenericIO::setDefaultFileIOType(unsigned) {}
void GenericIO::setCollectiveMPIIOThreshold(std::size_t) {}

}  // namespace gio

namespace forebay::genericio {

Defaults& defaults() {
    static Defaults all;
    return all;
}

bool Defaults::compresses() const {
    const char* text = std::getenv("GENERICIO_COMPRESS");
    return text != nullptr ? std::atoi(text) > 0 : compress;
}

}  // namespace forebay::genericio
