"""One call of a session at a time, from any thread; and the function that gets its log."""

import atexit
import functools
import os
import threading
import weakref

from ._forebay import RefusedError, error_text, show_leaks

_all = weakref.WeakSet()


class Turns:
    """The turns of a session and all of its objects: calls of several threads run one after another.

    The thread that has the turn may call again, as the function for restore() does. The function for the log may
    not: its line comes from the middle of a call.
    """

    def __init__(self, log):
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._log = log
        self._thread = threading.local()
        self._owners = weakref.WeakSet()
        _all.add(self)

    def join(self, owner):
        """Adds an owner of library objects. At the end of the process let_go() releases them."""
        self._owners.add(owner)

    def __enter__(self):
        if getattr(self._thread, "hears", False):
            raise RefusedError(error_text(
                "the log function of a session calls this session. Nothing was done",
                "", "keep the line, and call the session after the log function has returned"))
        if os.getpid() == self._process:  # in a forked child the lock may belong to a thread that does not exist there
            self._lock.acquire()  # other threads run meanwhile, and Ctrl-C ends the wait

    def __exit__(self, kind, value, trace):
        if os.getpid() == self._process:
            self._lock.release()

    def hear(self, line):
        """Gives one line to the application."""
        if self._log is None:
            return
        self._thread.hears = True
        try:
            self._log(line)
        finally:
            self._thread.hears = False

    def listener(self):
        """A function for the library that keeps nothing alive: the log may refer to the session, and Python's
        garbage collector does not see references in the library."""
        if self._log is None:
            return None
        known = weakref.ref(self)

        def hear(line):
            turns = known()
            if turns is not None:
                turns.hear(line)
        return hear

    def keep(self):
        """Takes the last turn: other threads wait until the process ends. Releases the library objects."""
        self.__enter__()
        for owner in list(self._owners):
            owner.let_go()


class Owner:
    """Base of the objects that own a library object, `_held`, and share the turns of its session."""

    def __init__(self, turns, held):
        self._turns = turns
        self._held = held
        turns.join(self)

    def let_go(self):
        """Releases the library object at the end of the process: a thread that never ends may refer to this object."""
        self._held = None


def in_turn(method):
    """Makes a method of an Owner take its turn."""
    @functools.wraps(method)
    def call(self, /, *given, **named):
        with self._turns:  # pylint: disable=protected-access
            return method(self, *given, **named)
    return call


@atexit.register
def _keep_all():
    # Python ends a daemon thread that returns from a call into a library, which kills the process by a signal. So the
    # call under way ends first, and no other call begins.
    for turns in list(_all):
        turns.keep()
    # Objects of such a thread are never freed, which is no leak to report.
    show_leaks(threading.active_count() == 1)
