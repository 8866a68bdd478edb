"""Pictures with PyVista on nodes without a display, for scripts of forebay.insitu::

    from forebay.off_screen import plotter
    scene = plotter(window_size=(800, 600))  # a pyvista.Plotter; keep it: a new window costs more than a picture
"""

import functools
import os
import shutil
import subprocess
import sys

PROBE = "import pyvista; scene = pyvista.Plotter(off_screen=True); scene.add_mesh(pyvista.Sphere()); scene.screenshot()"
PROBE_SECONDS_MAX = 120  # the first import of VTK from a parallel file system; a picture takes less than a second


def plotter(**options):
    """A pyvista.Plotter that draws off-screen. RuntimeError with the reasons if this node has nothing to draw with."""
    if why := _why_not():
        raise RuntimeError(why)
    import pyvista  # pylint: disable=import-outside-toplevel
    return pyvista.Plotter(off_screen=True, **options)


@functools.lru_cache(maxsize=None)
def _why_not():
    """Tries EGL, OSMesa and its own X server, each in another process, since a broken library may crash. The first
    that draws is used by this process from now on. Returns the reasons if none draws."""
    told = []
    for name, environment in [("EGL", {"VTK_DEFAULT_OPENGL_WINDOW": "vtkEGLRenderWindow"}),
                              ("OSMesa", {"VTK_DEFAULT_OPENGL_WINDOW": "vtkOSOpenGLRenderWindow"}), ("Xvfb", None)]:
        environment = _virtual_display() if environment is None else environment
        why = _try(environment) if environment else "it is not installed"
        if not why:
            os.environ.update(environment)
            return ""
        told.append(f"{name}: {why}")
    return "PyVista cannot draw on this node. " + "; ".join(told)


def _try(environment):
    """Draws once. Returns the reason if that fails."""
    try:
        done = subprocess.run([sys.executable, "-c", PROBE], env=os.environ | environment, capture_output=True, text=True,
                              check=False, timeout=PROBE_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return f"no picture after {PROBE_SECONDS_MAX} s"
    return done.returncode and (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]


def _virtual_display():
    """Starts Xvfb, which is killed with the worker and its session. Returns {} without Xvfb."""
    if not shutil.which("Xvfb"):
        return {}
    read, write = os.pipe()
    subprocess.Popen(["Xvfb", "-displayfd", str(write)], pass_fds=[write], stdout=subprocess.DEVNULL,  # pylint: disable=consider-using-with
                     stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as answer:
        number = answer.readline().strip()
    return {"VTK_DEFAULT_OPENGL_WINDOW": "vtkXOpenGLRenderWindow", "DISPLAY": f":{number}"} if number else {}
