#define PARALLEL_IO  // of the header

// The calls of Fortran 77 with a communicator, as an integer handle of Fortran's MPI.

#include <sstream>

#include "bindings/compat/h5part/fortran_text.hpp"
#include "bindings/compat/h5part/mpi_binding.hpp"

using namespace forebay::h5part;

namespace {

// "fs_lustre,vfd_mpio_ind": like H5Part, it ignores unknown words.
char flags_of(const char* text, std::size_t length) {
    int flags = 0;
    std::istringstream words(text_of(text, length));
    for (std::string word; std::getline(words, word, ',');) {
        if (word == "vfd_mpiposix") flags |= H5PART_VFD_MPIPOSIX;
        if (word == "vfd_mpio_ind") flags |= H5PART_VFD_MPIIO_IND;
        if (word == "vfd_core") flags |= H5PART_VFD_CORE;
        if (word == "fs_lustre") flags |= H5PART_FS_LUSTRE;
    }
    return static_cast<char>(flags);
}

}  // namespace

extern "C" {

h5part_int64_t h5pt_openr_par_(const char* name, const MPI_Fint* comm, std::size_t length) {
    return handle_of(open_over(text_of(name, length).c_str(), H5PART_READ, MPI_Comm_f2c(*comm), 0));
}

h5part_int64_t h5pt_openr_par_align_(const char* name, const MPI_Fint* comm, const h5part_int64_t* align,
                                     const char* flags, std::size_t name_length, std::size_t flags_length) {
    const auto all = static_cast<char>(H5PART_READ | flags_of(flags, flags_length));
    return handle_of(open_over(text_of(name, name_length).c_str(), all, MPI_Comm_f2c(*comm), *align));
}

h5part_int64_t h5pt_openw_par_(const char* name, const MPI_Fint* comm, std::size_t length) {
    return handle_of(open_over(text_of(name, length).c_str(), H5PART_WRITE, MPI_Comm_f2c(*comm), 0));
}

h5part_int64_t h5pt_openw_par_align_(const char* name, const MPI_Fint* comm, const h5part_int64_t* align,
                                     const char* flags, std::size_t name_length, std::size_t flags_length) {
    const auto all = static_cast<char>(H5PART_WRITE | flags_of(flags, flags_length));
    return handle_of(open_over(text_of(name, name_length).c_str(), all, MPI_Comm_f2c(*comm), *align));
}

h5part_int64_t h5pt_opena_par_(const char* name, const MPI_Fint* comm, std::size_t length) {
    return handle_of(open_over(text_of(name, length).c_str(), H5PART_APPEND, MPI_Comm_f2c(*comm), 0));
}

h5part_int64_t h5pt_opena_par_align_(const char* name, const MPI_Fint* comm, const h5part_int64_t* align,
                                     const char* flags, std::size_t name_length, std::size_t flags_length) {
    const auto all = static_cast<char>(H5PART_APPEND | flags_of(flags, flags_length));
    return handle_of(open_over(text_of(name, name_length).c_str(), all, MPI_Comm_f2c(*comm), *align));
}

}  // extern "C"
