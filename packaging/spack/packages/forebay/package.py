# spack repo add packaging/spack && spack install forebay

import pathlib

from spack.package import *


class Forebay(CMakePackage):
    """Checkpoint and output software for simulations: a save costs one memory copy into a mapped file on the node; an
    agent drains it to storage while the simulation computes, commits it, and restores it on any number of ranks."""

    # What is committed in the tree that holds this recipe.
    git = pathlib.Path(__file__).resolve().parents[4].as_uri()
    version("main", branch="main")

    license("Apache-2.0", checked_by="forebay")

    # The libraries, their least versions and what is missing without them: cmake/dependencies.txt.
    variant("mpi", default=True, description="Build forebay_mpi, the distributed engine")
    variant("fortran", default=True, when="+mpi", description="Build the modules for Fortran")
    variant("hdf5", default=True, description="Build the views")
    variant("blosc", default=True, description="Compress by lz4 and zstd")
    variant("zfp", default=True, description="Compress by zfp")
    variant("isal", default=True, description="Compute the checksum of GenericIO files faster")
    variant("png", default=True, description="Draw pictures and movies")
    variant("cairo", default=False, when="+png", description="Draw text and axes in pictures")
    variant("fft", default="off", values=("off", "fftw", "mkl"), description="Transform of spectra. fftw is GPL")
    variant("s3", default=False, description="Reach s3://")
    variant("curses", default=True, description="Draw the screens of forebay top")
    variant("httplib", default=False, description="Build forebay watch")
    variant("transfer", default=True, description="Build forebay-transfer, which works on trees of files")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("fmt@9.0:")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("tomlplusplus@3.0:", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("mpi@3:", when="+mpi")
    # Its views are made outside the simulation, by one process.
    depends_on("hdf5@1.10:", when="+hdf5")
    depends_on("c-blosc@1.21:", when="+blosc")
    depends_on("zfp@1.0:", when="+zfp")
    depends_on("isa-l@2.30:", when="+isal")
    depends_on("libpng@1.6:", when="+png")
    depends_on("cairo@1.16: +ft +fc", when="+cairo")
    depends_on("fftw@3.3: precision=float,double", when="fft=fftw")
    depends_on("intel-oneapi-mkl", when="fft=mkl")
    depends_on("curl@7.85:", when="+s3")
    depends_on("openssl@3.0:", when="+s3")
    depends_on("pugixml@1.12:", when="+s3")
    depends_on("ncurses@6.0:", when="+curses")
    depends_on("cpp-httplib@0.11:", when="+httplib")

    conflicts("%gcc@:10", msg="C++20 as gcc 11 has it")
    conflicts("%clang@:13", msg="C++20 as clang 14 has it")
    conflicts("platform=darwin", msg="The agent and the staging need Linux")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("FOREBAY_MPI", "mpi"),
            self.define("FOREBAY_FORTRAN", self.spec.satisfies("+fortran")),
            self.define_from_variant("FOREBAY_HDF5", "hdf5"),
            self.define_from_variant("FOREBAY_BLOSC", "blosc"),
            self.define_from_variant("FOREBAY_ZFP", "zfp"),
            self.define_from_variant("FOREBAY_ISAL", "isal"),
            self.define_from_variant("FOREBAY_PNG", "png"),
            self.define("FOREBAY_CAIRO", self.spec.satisfies("+cairo")),
            self.define_from_variant("FOREBAY_FFT", "fft"),
            self.define_from_variant("FOREBAY_S3", "s3"),
            self.define_from_variant("FOREBAY_CURSES", "curses"),
            self.define_from_variant("FOREBAY_HTTPLIB", "httplib"),
            self.define("FOREBAY_BUNDLED", False),
            self.define("FOREBAY_PYTHON", False),  # pip install . builds the package for Python
            self.define_from_variant("FOREBAY_TRANSFER", "transfer"),
            self.define("FOREBAY_DAOS", False),  # libdfs of the site, which Spack does not know
            self.define("FOREBAY_JUMBO", True),
            self.define("FOREBAY_TESTS", False),
            self.define("FOREBAY_APPS", False),
        ]
