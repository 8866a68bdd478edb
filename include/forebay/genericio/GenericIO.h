// The class gio::GenericIO for codes that use GenericIO: the same calls and the same files, through Forebay.
//
// write() returns when the data of every rank are copied and sealed on its node. They drain to the directory
// FILE.forebay. A program in the background then makes FILE from them: complete or absent. Opening FILE, writing to it
// again and MPI_Finalize wait for that. Link forebay_genericio, or with GENERICIO_NO_MPI defined
// forebay_genericio_serial. docs/reference/genericio.md lists the differences.
//
// Errors are std::runtime_error. C++11.

#ifndef FOREBAY_GENERICIO_H
#define FOREBAY_GENERICIO_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#ifndef GENERICIO_NO_MPI
#include <mpi.h>
#endif

namespace gio {

namespace detail {

// The element type of a record: the type of [0] for an array or a vector type, the type of member x for a struct.
template <class T, class = void>
struct indexed : std::false_type {};
template <class T>
struct indexed<T, decltype(void(std::declval<T&>()[0]))> : std::true_type {};

template <class T, class = void>
struct has_member_x : std::false_type {};
template <class T>
struct has_member_x<T, decltype(void(std::declval<T&>().x))> : std::true_type {};

template <class T, bool Indexed = indexed<T>::value, bool HasX = has_member_x<T>::value>
struct element {
    using type = T;
};
template <class T, bool HasX>
struct element<T, true, HasX> {
    using type = typename std::remove_cv<typename std::remove_reference<decltype(std::declval<T&>()[0])>::type>::type;
};
template <class T>
struct element<T, false, true> {
    using type = typename std::remove_cv<typename std::remove_reference<decltype(std::declval<T&>().x)>::type>::type;
};

}  // namespace detail

class GenericIO {
public:
    enum VariableFlags {
        VarHasExtraSpace = 1,  // 8 spare bytes after the data; neither needed nor touched here
        VarIsPhysCoordX = 2,
        VarIsPhysCoordY = 4,
        VarIsPhysCoordZ = 8,
        VarMaybePhysGhost = 16
    };

    struct VariableInfo {
        VariableInfo(const std::string& name, std::size_t size, bool is_float, bool is_signed, bool x, bool y, bool z,
                     bool maybe_ghost, std::size_t element_size = 0)
            : Name(name),
              Size(size),
              IsFloat(is_float),
              IsSigned(is_signed),
              IsPhysCoordX(x),
              IsPhysCoordY(y),
              IsPhysCoordZ(z),
              MaybePhysGhost(maybe_ghost),
              ElementSize(element_size != 0 ? element_size : size) {}

        std::string Name;
        std::size_t Size;  // of a record
        bool IsFloat;
        bool IsSigned;
        bool IsPhysCoordX, IsPhysCoordY, IsPhysCoordZ;
        bool MaybePhysGhost;
        std::size_t ElementSize;
    };

    /// Accepted for compatibility, but ignored: writes are staged, and reads use POSIX.
    enum FileIO { FileIOMPI, FileIOPOSIX, FileIOMPICollective };
    enum MismatchBehavior { MismatchAllowed, MismatchDisallowed, MismatchRedistribute };

#ifndef GENERICIO_NO_MPI
    /// The constructor and the destructor are collective over `comm`, which the object duplicates.
    GenericIO(const MPI_Comm& comm, const std::string& file, unsigned file_io = unsigned(-1));
#else
    explicit GenericIO(const std::string& file, unsigned file_io = unsigned(-1));
#endif
    ~GenericIO();
    /// A cursor: a copy of an object with a header read. It has its own variables, and reads without opening the file
    /// again.
    GenericIO(const GenericIO& other);
    GenericIO& operator=(const GenericIO& other);

    static std::size_t requestedExtraSpace() { return 8; }
    void setNumElems(std::size_t elements);
    void setPhysOrigin(double value, int dim = -1);
    void setPhysScale(double value, int dim = -1);

    template <class T>
    void addVariable(const std::string& name, T* data, unsigned flags = 0) {
        add(name, sizeof(T), data, flags, static_cast<typename detail::element<T>::type*>(nullptr));
    }
    template <class T, class A>
    void addVariable(const std::string& name, std::vector<T, A>& data, unsigned flags = 0) {
        addVariable(name, data.data(), flags);
    }
    void addVariable(const VariableInfo& info, void* data, unsigned flags = 0);
    /// Adds records of `elements` values each.
    template <class T>
    void addScalarizedVariable(const std::string& name, T* data, std::size_t elements, unsigned flags = 0) {
        add(name, sizeof(T) * elements, data, flags, static_cast<T*>(nullptr));
    }
    template <class T, class A>
    void addScalarizedVariable(const std::string& name, std::vector<T, A>& data, std::size_t elements,
                               unsigned flags = 0) {
        addScalarizedVariable(name, data.data(), elements, flags);
    }
    void clearVariables();
    int getNumberOfVariables();

    /// Collective. When it returns, you may change the buffers.
    void write();

    /// Collective.
    void openAndReadHeader(MismatchBehavior mismatch = MismatchDisallowed, int rank = -1, bool check_partitions = true);
    int readNRanks();
    void readDims(int dims[3]);
    std::uint64_t readTotalNumElems();  // of partitioned files uint64_t(-1), as in GenericIO
    void readPhysOrigin(double origin[3]);
    void readPhysScale(double scale[3]);
    void getVariableInfo(std::vector<VariableInfo>& info);
    std::string isCompressed(int variable);  // the filter's name, or nothing
    std::size_t readNumElems(int rank = -1);
    void readCoords(int coords[3], int rank = -1);
    int readGlobalRankNumber(int rank = -1);
    void getSourceRanks(std::vector<int>& ranks);
    /// Collective unless `collective` is false.
    void readData(int rank = -1, bool print = true, bool collective = true);
    /// Reads `rows` records from `first` on: of a file rank, or with -1 after MismatchRedistribute of this rank's
    /// share.
    void readDataSection(std::size_t first, std::size_t rows, int rank = -1, bool print = true, bool collective = true);
    void close();

    void setPartition(int partition);
    static void setDefaultPartition(int partition);
    static void setNaturalDefaultPartition();  // by the node's name; without MPI it does nothing
    static void setDefaultFileIOType(unsigned file_io);
    static void setDefaultShouldCompress(bool compress);
    static void setCollectiveMPIIOThreshold(std::size_t elements);

private:
    struct State;

    template <class E>
    void add(const std::string& name, std::size_t record_bytes, void* data, unsigned flags, E*) {
        const bool x = (flags & VarIsPhysCoordX) != 0, y = (flags & VarIsPhysCoordY) != 0;
        const bool z = (flags & VarIsPhysCoordZ) != 0, ghost = (flags & VarMaybePhysGhost) != 0;
        addVariable(VariableInfo(name, record_bytes, !std::numeric_limits<E>::is_integer,
                                 std::numeric_limits<E>::is_signed, x, y, z, ghost, sizeof(E)),
                    data, flags);
    }

    std::unique_ptr<State> state_;
};

}  // namespace gio

#endif
