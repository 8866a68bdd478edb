"""Goal: no installed library or program links GPL code, so that the whole stays Apache-2.0.

Method: installs the build, and reads the dynamic section of every installed binary. Each library named there must be in
the list below with its licence. The libraries that come with those must not be GPL code that a program may link by
accident. The example nbody, which is never installed, links FFTW: the test must find that, if nbody is built.
"""

import pathlib
import re
import sys
import tempfile

from forebay_test import BUILD, expect, output_of, run

# Names as in NEEDED, without what follows the first "."; the system's own are exempt by the GPL's exceptions.
KNOWN = {
    "libc": "system", "libm": "system", "libdl": "system", "libpthread": "system", "librt": "system",
    "ld-linux-x86-64": "system", "ld-linux-aarch64": "system", "libstdc++": "GPL with the exception of gcc's runtime",
    "libgcc_s": "GPL with the exception of gcc's runtime", "libgfortran": "GPL with the exception of gcc's runtime",
    "libquadmath": "LGPL", "libatomic": "GPL with the exception of gcc's runtime", "libc++": "Apache-2.0",
    "libomp": "Apache-2.0", "libfmt": "MIT", "libisal": "BSD-3-Clause", "libblosc": "BSD-3-Clause",
    "libzfp": "BSD-3-Clause", "libpng16": "libpng", "libz": "Zlib", "libcairo": "LGPL-2.1 or MPL-1.1",
    "libcurl": "curl", "libcurl-gnutls": "curl", "libcrypto": "Apache-2.0", "libssl": "Apache-2.0",
    "libpugixml": "MIT", "libtomlplusplus": "MIT", "libcpp-httplib": "MIT", "libncursesw": "X11", "libtinfo": "X11",
    "libdfs": "BSD-2-Clause",
    "libdaos": "BSD-2-Clause", "libhdf5": "BSD-3-Clause", "libhdf5_serial": "BSD-3-Clause", "libmpi": "BSD-3-Clause",
    "libmpi_mpifh": "BSD-3-Clause", "libmpi_usempif08": "BSD-3-Clause", "libmpi_usempi_ignore_tkr": "BSD-3-Clause",
    "libopen-pal": "BSD-3-Clause", "libopen-rte": "BSD-3-Clause", "libmpich": "mpich2", "libmpichfort": "mpich2",
    "libmkl_rt": "Intel's own; the user chose it",
}
# GPL libraries of science and terminals, wherever in the tree of needs.
GPL = re.compile(r"^lib(fftw3\w*|gsl\w*|readline|history|gmsh|hypre_gpl|lammps\w*|cpgplot)\b")


def needed(binary):
    """Libraries that the dynamic section of a binary names."""
    names = re.findall(r"\(NEEDED\).*\[([^\]]+)\]", output_of("readelf", "-d", binary))
    return [re.split(r"\.so\b|\.\d", name)[0] for name in names]


def loaded(binary):
    """All libraries that the loader brings with a binary."""
    done = run("ldd", binary, code=None)
    return [line.split()[0] for line in done.stdout.splitlines() if line.strip()]


def problems_of(binary):
    """The reasons to refuse a binary."""
    problems = [f"{binary.name} links {name}, whose licence is not in this test" for name in needed(binary)
                if name not in KNOWN and not name.startswith("libforebay")]
    problems += [f"{binary.name} loads {name}, which is GPL" for name in loaded(binary) if GPL.match(name)]
    return problems


def main():
    cache = (BUILD / "CMakeCache.txt").read_text()
    if re.search(r"^FOREBAY_FFT:\w+=fftw$", cache, re.MULTILINE):
        print("skipped: this build was configured with FOREBAY_FFT=fftw, and so it is GPL as a whole")
        sys.exit(77)
    nbody = BUILD / "bin/nbody"
    if nbody.exists():
        expect(any("fftw3" in problem for problem in problems_of(nbody)), "FFTW is found in nbody", problems_of(nbody))
    with tempfile.TemporaryDirectory() as folder:
        run("cmake", "--install", BUILD, "--prefix", folder)
        binaries = [path for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file() and not path.is_symlink()
                    and path.read_bytes()[:4] == b"\x7fELF"]
        problems = [problem for path in binaries for problem in problems_of(path)]
        expect(any(path.name == "forebay" for path in binaries), "the program is installed", binaries)
    print("\n".join(problems) or f"{len(binaries)} installed binaries link no GPL code")
    sys.exit(1 if problems else 0)


main()
