// A code that reads and writes GenericIO's files without MPI. Usage: genericio_client_serial IN OUT

#include <GenericIO.h>

#include <cstdio>
#include <exception>

int main(int, char** arguments) {
    try {
        gio::GenericIO in(arguments[1], gio::GenericIO::FileIOPOSIX);
        in.openAndReadHeader(gio::GenericIO::MismatchAllowed);
        std::vector<float> x;
        std::vector<int64_t> id;
        std::size_t n = 0;
        for (int rank = 0; rank < in.readNRanks(); ++rank) {
            const auto more = in.readNumElems(rank);
            x.resize(n + more);
            id.resize(n + more);
            in.clearVariables();
            in.addVariable("x", x.data() + n, gio::GenericIO::VarIsPhysCoordX);
            in.addVariable("id", id.data() + n);
            in.readData(rank, false);
            n += more;
        }
        gio::GenericIO::setNaturalDefaultPartition();  // without MPI: as it was
        gio::GenericIO out(arguments[2]);
        out.setNumElems(n);
        out.addVariable("x", x, gio::GenericIO::VarIsPhysCoordX);
        out.addVariable("id", id);
        out.write();
        std::printf("%zu elements of %d ranks\n", n, in.readNRanks());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
    return 0;
}
