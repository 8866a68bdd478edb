"""One call of a session at a time, whichever thread makes it; and the function that hears its log."""

import atexit
import functools
import os
import threading
import weakref

from ._forebay import RefusedError, error_text, show_leaks

_all = weakref.WeakSet()


class Turns:
    """A session and everything that it gave share it: calls of several threads come one after another.

    The thread that has the turn may call again, as a function given to restore() does. The function that hears the log
    may not: the call that writes the line is in the middle of its work."""

    def __init__(self, log):
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._log = log
        self._thread = threading.local()
        self._owners = weakref.WeakSet()
        _all.add(self)

    def join(self, owner):
        """What holds things of the library and lets go of them at the end of the process, by let_go()."""
        self._owners.add(owner)

    def __enter__(self):
        if getattr(self._thread, "hears", False):
            raise RefusedError(error_text(
                "the log function of a session calls this session. Nothing was done",
                "", "keep the line, and call the session after the log function has returned"))
        if os.getpid() == self._process:  # a forked child has the lock of a thread that it does not have
            self._lock.acquire()  # other threads run meanwhile, and Ctrl-C ends the wait

    def __exit__(self, kind, value, trace):
        if os.getpid() == self._process:
            self._lock.release()

    def hear(self, line):
        """Hands one line to the application."""
        if self._log is None:
            return
        self._thread.hears = True
        try:
            self._log(line)
        finally:
            self._thread.hears = False

    def listener(self):
        """A function for the library, which keeps nothing alive: the log may hold the session, and Python's collector
        does not see what the library holds."""
        if self._log is None:
            return None
        known = weakref.ref(self)

        def hear(line):
            turns = known()
            if turns is not None:
                turns.hear(line)
        return hear

    def keep(self):
        """Takes the last turn: other threads wait for the end of the process. What they hold is let go of."""
        self.__enter__()
        for owner in list(self._owners):
            owner.let_go()


class Owner:
    """What holds a thing of the library as `_held`, and shares the turns of its session."""

    def __init__(self, turns, held):
        self._turns = turns
        self._held = held
        turns.join(self)

    def let_go(self):
        """At the end of the process: a thread that never ends may hold this object."""
        self._held = None


def in_turn(method):
    """A method of an Owner."""
    @functools.wraps(method)
    def call(self, /, *given, **named):
        with self._turns:  # pylint: disable=protected-access
            return method(self, *given, **named)
    return call


@atexit.register
def _keep_all():
    # Python ends a daemon thread that comes back from a call into a library, and with it the process by a signal. So
    # the call under way ends first, and no other one begins.
    for turns in list(_all):
        turns.keep()
    # What such a thread holds is never freed. That is no mistake of anybody.
    show_leaks(threading.active_count() == 1)
