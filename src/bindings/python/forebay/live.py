"""Sends snapshots to readers outside the run while it computes: openPMD over the network by ADIOS2's engine SST.
Needs the package openpmd_api. In a script of analyses
(docs/how-to/draw-with-your-libraries.md#send-to-a-program-elsewhere)::

    from forebay.insitu import every
    from forebay.live import OpenPmdStream

    stream = OpenPmdStream("/scratch/me/run7/live")

    @every(1, stream="fields", variables=["theta", "gas/*"])
    def send(snapshot):
        stream.write(snapshot)
"""

import atexit
import json

__all__ = ["OpenPmdStream"]

_AXES = ("x", "y", "z")


class OpenPmdStream:
    """One node's data as a stream. Readers open and leave it at any time, and it waits for no reader. Without a
    reader, or with slow readers, at most `queue` steps wait, and the oldest step is dropped.

    Each node writes its own stream, PATH.node-00000.sst, with its blocks in the global shape of arrays, and its rows
    of tables. A file of that name tells readers the address. It disappears with the stream.
    """

    def __init__(self, path, queue=2):
        if queue < 1:
            raise ValueError(f"queue={queue}: it must be 1 or more")
        self._path, self._queue = path, queue
        self._series = None

    def write(self, snapshot):
        """Sends every variable of the snapshot. Data are copied: the snapshot may go when this returns."""
        from openpmd_api import Mesh_Record_Component  # pylint: disable=import-outside-toplevel
        if snapshot.node is None:
            raise ValueError("only one node gets gathered data, but a stream belongs to one fixed node: "
                             "use variables=[...] with OpenPmdStream")
        if self._series is None:
            self._series = self._open(snapshot.node)
            atexit.register(self.close)  # at the end of the session
        iteration = self._series.write_iterations()[snapshot.step]
        iteration.time = snapshot.time
        for name, variable in snapshot.items():
            if variable.kind == "array":
                mesh = iteration.meshes[name.replace("/", "_")]
                mesh.axis_labels = list(variable.dimensions) or [f"dim_{dim}" for dim in range(len(variable.shape))]
                _describe(mesh, variable)
                _store(mesh[Mesh_Record_Component.SCALAR], variable)
            elif variable.kind == "particles":
                table, _, column = name.partition("/")
                species = iteration.particles[table]
                if column in _AXES:
                    record, component = species["position"], column
                else:
                    record, component = species[column], Mesh_Record_Component.SCALAR
                _describe(record, variable)
                _store(record[component], variable)
        iteration.close()

    def close(self):
        """Ends the stream. Readers see its end."""
        if self._series is not None:
            self._series.close()
            self._series = None

    def _open(self, node):
        import openpmd_api  # pylint: disable=import-outside-toplevel
        if not openpmd_api.variants.get("adios2") or "sst" not in openpmd_api.file_extensions:
            raise RuntimeError("this openpmd_api has no ADIOS2 with SST. Next: pip install openPMD-api")
        # By default SST waits for the first reader for ever, and keeps any number of steps. Only the marshal method BP
        # keeps lists of texts, such as the labels of axes.
        parameters = {"RendezvousReaderCount": "0", "QueueLimit": str(self._queue), "QueueFullPolicy": "Discard",
                      "MarshalMethod": "BP"}
        return openpmd_api.Series(f"{self._path}.node-{node:05}.sst", openpmd_api.Access.create_linear,
                                  json.dumps({"adios2": {"engine": {"type": "sst", "parameters": parameters}}}))


def _describe(record, variable):
    if variable.unit:
        record.set_attribute("unit", variable.unit)
    if variable.description:
        record.set_attribute("description", variable.description)


def _store(component, variable):
    from openpmd_api import Dataset  # pylint: disable=import-outside-toplevel
    component.reset_dataset(Dataset(variable.dtype, list(variable.shape)))
    for block in variable.blocks:
        if block.data.size:
            # A copy, since openPMD-api refuses read-only arrays.
            component.store_chunk(block.data.copy(order="C"), list(block.start), list(block.data.shape))
