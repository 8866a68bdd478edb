from collections.abc import Sequence

from forebay import (
    BrokenError as BrokenError,
    CorruptError as CorruptError,
    FullError as FullError,
    MissingError as MissingError,
    RefusedError as RefusedError,
    RetryError as RetryError,
    UnsupportedError as UnsupportedError
)


class Error(RuntimeError):
    pass

def error_text(what: str, safe: str = '', next: str = '') -> str: ...

class Options:
    @property
    def run(self) -> str: ...

    @run.setter
    def run(self, arg: str, /) -> None: ...

    @property
    def staging(self) -> str: ...

    @staging.setter
    def staging(self, arg: str, /) -> None: ...

    def set_log(self, log: object | None) -> None: ...

def options(config: str | None) -> Options: ...

class Saved:
    @property
    def step(self) -> int: ...

    @property
    def kept(self) -> bool: ...

    @property
    def replaced(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def blocked_seconds(self) -> float: ...

    @property
    def wait_seconds(self) -> float: ...

    @property
    def plan_seconds(self) -> float: ...

    @property
    def copy_seconds(self) -> float: ...

    def __repr__(self) -> str: ...

class Job:
    @property
    def save(self) -> bool: ...

    @property
    def stop(self) -> bool: ...

    @property
    def seconds_left(self) -> float: ...

    @property
    def reason(self) -> str: ...

    @property
    def condition(self) -> str: ...

    @property
    def value(self) -> float: ...

    @property
    def condition_step(self) -> int: ...

    def __repr__(self) -> str: ...

class Counters:
    @property
    def saves(self) -> int:
        """kept"""

    @property
    def skipped(self) -> int:
        """skipped by the policy"""

    @property
    def replaced(self) -> int:
        """dropped by newest_only before their drain began"""

    @property
    def commits(self) -> int:
        """snapshots of this session that are committed"""

    @property
    def aborts(self) -> int:
        """drains that ended with an error"""

    @property
    def bytes_saved(self) -> int:
        """bytes that this rank saved"""

    @property
    def bytes_drained(self) -> int:
        """bytes that this node's agent drained, as they were staged"""

    @property
    def bytes_stored(self) -> int:
        """
        bytes that this node's agent wrote for them: fewer if they were compressed
        """

    @property
    def blocked_seconds(self) -> float:
        """time of this rank in saves"""

    @property
    def wait_seconds(self) -> float:
        """the part of it that waited for free slots"""

    @property
    def copy_threads(self) -> int:
        """threads of this rank that copied its last save"""

    @property
    def drain_seconds(self) -> float:
        """time that this node's agent wrote and synced"""

    @property
    def drain_cpu_seconds(self) -> float:
        """CPU time of the drains on this node, the sum of all threads"""

    @property
    def newest_durable_step(self) -> int:
        """the newest committed step in this run's stream; -1: none"""

    @property
    def deadlines_missed(self) -> int:
        """snapshots that were not durable by their deadline"""

    @property
    def not_analysed(self) -> int:
        """snapshots that the analyses on this node missed"""

    @property
    def scripts_missed(self) -> int:
        """snapshots that the scripts on this node missed"""

    @property
    def overtakes(self) -> int:
        """drains of this node that overtook a drain under way"""

    @property
    def limits_overruled(self) -> int:
        """drains that ignored slowdown_percent_max to end in time"""

    @property
    def steps_counted(self) -> int:
        """steps of the computing, the basis of slowdown_percent"""

    @property
    def slowdown_percent(self) -> float:
        """
        slowdown of the computing while this node's agent drains; 0 also: unknown
        """

    @property
    def drain_rate_bytes_per_second(self) -> int:
        """the present limit; 0: none"""

    def __repr__(self) -> str: ...

class Particles:
    def bind(self, rows: int, columns: Sequence[tuple[int, int]]) -> None: ...

class Restart:
    @property
    def step(self) -> int: ...

    @property
    def time(self) -> float: ...

    @property
    def source(self) -> str: ...

    @property
    def same_ranks(self) -> bool: ...

    def rows(self, table: Particles) -> int: ...

    def read(self) -> None: ...

    def read_variables(self, names: Sequence[str]) -> None: ...

class Stream:
    def replicated(self, name: str, type: str, shape: Sequence[int], address: int, unit: str, description: str, first_rank: bool) -> None: ...

    def array(self, name: str, type: str, shape: Sequence[int], boxes: Sequence[tuple[Sequence[int], Sequence[int], int, Sequence[int], Sequence[int], Sequence[int]]], unit: str, description: str, dimensions: Sequence[str], partial: bool) -> None: ...

    def rebind_value(self, name: str, type: str, shape: Sequence[int], address: int) -> None: ...

    def rebind_array(self, name: str, type: str, boxes: Sequence[tuple[Sequence[int], Sequence[int], int, Sequence[int], Sequence[int], Sequence[int]]]) -> None: ...

    def forget(self, name: str) -> None: ...

    def particles(self, name: str, columns: Sequence[tuple[str, str, str]]) -> Particles: ...

    def prepare(self) -> None: ...

    def save(self, step: int, time: float) -> Saved: ...

    def restore(self, bind: object | None) -> Restart | None: ...

    def newest(self, below: int) -> Restart | None: ...

    def older(self) -> Restart | None: ...

    @property
    def notes(self) -> list[str]: ...

    def wait_committed(self, seconds: float) -> None: ...

    def counters(self) -> Counters: ...

class Session:
    def stream(self, name: str) -> Stream: ...

    def stream_with(self, name: str, options: str) -> Stream: ...

    @property
    def draining(self) -> bool: ...

    @property
    def spool(self) -> str: ...

    def job(self, stop_wanted: bool) -> Job: ...

    def close(self) -> None: ...

def read_values(directory: str, variables: Sequence[int]) -> list[bytes]: ...

def show_leaks(shown: bool) -> None: ...

def stream_options() -> list[tuple[str, str, str, str]]: ...

def open_alone(options: Options) -> Session: ...
