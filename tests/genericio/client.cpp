// A code that uses GenericIO by its public calls: writes particles, or reads them on another number of ranks and
// compares.
//
//   genericio_client write FILE [compress] [partition] [natural] [grid]
//   genericio_client read FILE allowed|disallowed|redistribute
//   genericio_client twice FILE     two writes to one name, buffers reused at once
//   genericio_client many FILE      FILE-0, FILE-1, FILE-2; what their writes throw is printed

#include <GenericIO.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

struct float4 {
    float x, y, z, w;
};

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

std::size_t elements_of(int rank) { return rank == 1 ? 0 : 100 + 7 * static_cast<std::size_t>(rank); }

struct Particles {
    std::vector<float> x, y, z;
    std::vector<float4> vel;
    std::vector<double> moments;  // three a particle
    std::vector<int64_t> id;
    std::vector<uint16_t> mask;

    void resize(std::size_t n, std::size_t extra) {
        x.resize(n + extra / 4);
        y.resize(n + extra / 4);
        z.resize(n + extra / 4);
        vel.resize(n + extra / sizeof(float4) + 1);
        moments.resize(3 * n + extra / 8);
        id.resize(n + extra / 8);
        mask.resize(n + extra / 2);
    }
    void set(std::size_t i, int rank, float more) {
        const auto value = static_cast<float>(i) + 1000 * static_cast<float>(rank) + more;
        x[i] = value, y[i] = -value, z[i] = value / 2;
        vel[i] = {value, 1, 2, 3};
        for (std::size_t k = 0; k < 3; ++k) moments[3 * i + k] = value / 7 + static_cast<double>(k);
        id[i] = static_cast<int64_t>(i) - 1000000000000 * rank;
        mask[i] = static_cast<uint16_t>(i + static_cast<std::size_t>(rank));
    }
    void add_to(gio::GenericIO& file) {
        const unsigned extra = gio::GenericIO::VarHasExtraSpace;
        file.addVariable("x", x, gio::GenericIO::VarIsPhysCoordX | extra);
        file.addVariable("y", y, gio::GenericIO::VarIsPhysCoordY | extra);
        file.addVariable("z", z.data(), gio::GenericIO::VarIsPhysCoordZ | gio::GenericIO::VarMaybePhysGhost | extra);
        file.addVariable("vel", vel, extra);
        file.addScalarizedVariable("moments", moments, 3, extra);
        file.addVariable("id", id, extra);
        file.addVariable(gio::GenericIO::VariableInfo("mask", 2, false, false, false, false, false, false), mask.data(),
                         extra);
    }
    bool holds(std::size_t at, std::size_t i, int rank, float more) const {
        Particles expected;
        expected.resize(i + 1, 0);
        expected.set(i, rank, more);
        return x[at] == expected.x[i] && y[at] == expected.y[i] && z[at] == expected.z[i] &&
               std::memcmp(&vel[at], &expected.vel[i], sizeof(float4)) == 0 &&
               std::memcmp(&moments[3 * at], &expected.moments[3 * i], 24) == 0 && id[at] == expected.id[i] &&
               mask[at] == expected.mask[i];
    }
};

void write_to(MPI_Comm comm, const std::string& name, int partition, float more) {
    const int rank = rank_in(comm);
    const auto n = elements_of(rank);
    Particles particles;
    particles.resize(n, gio::GenericIO::requestedExtraSpace());
    for (std::size_t i = 0; i < n; ++i) particles.set(i, rank, more);
    gio::GenericIO file(comm, name, gio::GenericIO::FileIOMPI);
    file.setNumElems(n);
    file.setPhysOrigin(0.5);
    file.setPhysScale(256);
    file.setPhysScale(128, 2);
    if (partition >= 0) file.setPartition(partition);
    particles.add_to(file);
    file.write();
    particles = Particles();  // copied when write() returns
}

void require(bool promise, const char* what) {
    if (!promise) throw std::logic_error(what);
}

// Each third of this rank's share, which begins and ends within file ranks.
void read_sections(gio::GenericIO& file, const Particles& all, std::size_t n) {
    for (std::size_t part = 0; part < 3; ++part) {
        const auto first = n * part / 3, rows = n * (part + 1) / 3 - first;
        Particles some;
        some.resize(rows, 8);
        file.clearVariables();
        some.add_to(file);
        file.readDataSection(first, rows, -1, false);
        for (std::size_t i = 0; i < rows; ++i)
            require(some.x[i] == all.x[first + i] && some.id[i] == all.id[first + i] &&
                        some.moments[3 * i + 2] == all.moments[3 * (first + i) + 2],
                    "a section of a share");
    }
    bool is_refused = false;
    try {
        file.readDataSection(n, 1, -1, false, false);
    } catch (const std::runtime_error&) {
        is_refused = true;
    }
    require(is_refused, "a section past the share");
}

// Copies of an object whose header was read have variables of their own, and read without it.
void read_by_cursors(gio::GenericIO& file, const Particles& all, std::size_t n) {
    file.clearVariables();
    std::vector<gio::GenericIO> cursors(2, file);
    file.close();
    std::vector<float> x(n + 2);
    std::vector<int64_t> id(n + 1);
    cursors[0].addVariable("x", x, gio::GenericIO::VarIsPhysCoordX);
    cursors[1].addVariable("id", id);
    require(file.getNumberOfVariables() == 0 && cursors[0].getNumberOfVariables() == 1, "a cursor's own variables");
    for (auto& cursor : cursors) cursor.readData(-1, false);
    for (std::size_t i = 0; i < n; ++i) require(x[i] == all.x[i] && id[i] == all.id[i], "a value by a cursor");
    file = cursors[0];
    x.assign(x.size(), 0);
    file.readData(-1, false);
    require(std::equal(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n), all.x.begin()), "a value by a copy back");
}

void read_from(MPI_Comm comm, const std::string& name, const std::string& how) {
    gio::GenericIO file(comm, name);
    const auto mismatch = how == "redistribute" ? gio::GenericIO::MismatchRedistribute
                          : how == "allowed"    ? gio::GenericIO::MismatchAllowed
                                                : gio::GenericIO::MismatchDisallowed;
    file.openAndReadHeader(mismatch);
    double scale[3];
    file.readPhysScale(scale);
    require(scale[0] == 256 && scale[2] == 128, "scale");
    std::vector<gio::GenericIO::VariableInfo> info;
    file.getVariableInfo(info);
    require(info.size() == 7 && info[3].Size == 16 && info[3].ElementSize == 4 && info[2].MaybePhysGhost, "variables");
    std::vector<int> sources;
    file.getSourceRanks(sources);
    if (how == "allowed") {  // every rank reads all, one file rank after the other
        sources.clear();
        for (int rank = 0; rank < file.readNRanks(); ++rank) sources.push_back(rank);
    }
    std::size_t n = 0;
    for (const int source : sources) n += file.readNumElems(source);
    if (how == "redistribute") require(n == file.readNumElems(), "elements");
    Particles all;
    all.resize(n, 8);
    std::size_t at = 0;
    if (how == "allowed") {
        for (const int source : sources) {
            Particles some;
            some.resize(file.readNumElems(source), 8);
            file.clearVariables();
            some.add_to(file);
            file.readData(source, false, false);
            for (std::size_t i = 0; i < file.readNumElems(source); ++i)
                require(some.holds(i, i, source, 0), "a value of one file rank");
            const auto half = file.readNumElems(source) / 2;
            file.readDataSection(half, 1 - (half == 0 ? 1 : 0), source, false, false);
            if (half > 0) require(some.holds(0, half, source, 0), "a section");
        }
    } else {
        all.add_to(file);
        file.readData(-1, true);
        for (const int source : sources)
            for (std::size_t i = 0; i < file.readNumElems(source); ++i, ++at)
                require(all.holds(at, i, source, 0), "a value");
        if (how == "redistribute") read_sections(file, all, n);
        if (how == "redistribute") read_by_cursors(file, all, n);
    }
    int64_t own_count = static_cast<int64_t>(at), sum = 0;
    MPI_Allreduce(&own_count, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
    if (rank_in(comm) == 0 && how != "allowed") std::printf("%lld elements\n", static_cast<long long>(sum));
}

void run(int count, char** arguments) {
    const std::string verb = arguments[1], name = arguments[2];
    MPI_Comm comm = MPI_COMM_WORLD;
    int partition = -1;
    for (int i = 3; i < count; ++i) {
        const std::string word = arguments[i];
        if (word == "compress") gio::GenericIO::setDefaultShouldCompress(true);
        if (word == "partition") partition = 10 + rank_in(comm) % 2;
        if (word == "natural") gio::GenericIO::setNaturalDefaultPartition();
        if (word == "grid") {
            const int dims[3] = {1, 3, 1}, periods[3] = {1, 1, 1};
            MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &comm);
        }
    }
    if (verb == "write") write_to(comm, name, partition, 0);
    for (int i = 0; verb == "many" && i < 3; ++i) try {
            write_to(comm, name + "-" + std::to_string(i), -1, 0);
        } catch (const std::runtime_error& error) {
            if (rank_in(comm) == 0) std::printf("write %d: %s\n", i, error.what());
        }
    if (verb == "twice") {
        write_to(comm, name, -1, 5);
        write_to(comm, name, -1, 0);
        read_from(comm, name, "disallowed");  // waits for the second
    }
    if (verb == "read") read_from(comm, name, arguments[3]);
}

}  // namespace

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    int status = 0;
    try {
        run(count, arguments);
    } catch (const std::runtime_error& error) {
        if (rank_in(MPI_COMM_WORLD) == 0) std::fprintf(stderr, "%s\n", error.what());
        status = 3;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "wrong: %s\n", error.what());
        status = 4;
    }
    MPI_Finalize();
    return status;
}
