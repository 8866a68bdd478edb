import pathlib
import sys
import time

import numpy as np

import forebay

steps = int(sys.argv[1])
config = "forebay.toml" if pathlib.Path("forebay.toml").exists() else None
u = np.zeros((400, 600))
u[150:250, 250:350] = 100.0  # a hot plate in a cold room

with forebay.Session("heat1", config=config) as session:
    stream = session.stream("field")
    stream.array("temperature", u, shape=u.shape, unit="K", dimensions=("y", "x"))
    restart = stream.restore()
    first = restart.step if restart else 0
    for step in range(first + 1, first + steps + 1):
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        time.sleep(0.02)
        if step % 50 == 0:
            stream.save(step, float(step))
