"""Reads PALM's restart files from PALM's layout only, and reports what each array is. For tests, in plain words.

Types and shapes are PALM 25.10's declarations, by name. An unlisted name is a real field over the grid.
"""

import struct

import numpy as np

# Numbers without a grid. The last two dimensions of hom and hom_sum are PALM's first two.
REAL_LINES = set("""dpdxy dz dz_stretch_factor_array dz_stretch_level_end dz_stretch_level_start pt_init
    pt_vertical_gradient pt_vertical_gradient_level q_init q_vertical_gradient q_vertical_gradient_level ref_state s_init
    s_vertical_gradient s_vertical_gradient_level subs_vertical_gradient subs_vertical_gradient_level time_domask tsc
    u_init ug ug_vertical_gradient ug_vertical_gradient_level v_init vg vg_vertical_gradient vg_vertical_gradient_level
    volume_flow_area volume_flow_initial wall_heatflux wall_humidityflux wall_scalarflux z_i hom hom_sum""".split())
INTEGER_LINES = set("""pt_vertical_gradient_level_ind q_vertical_gradient_level_ind s_vertical_gradient_level_ind
    subs_vertical_gradient_level_i ug_vertical_gradient_level_ind vg_vertical_gradient_level_ind u_max_ijk v_max_ijk
    w_max_ijk random_iv ns_on_file""".split())
INTEGER_PLANES = {"id_random_array"} | {f"seq_random_array{i:02}" for i in range(1, 6)}
PLANES = set("""qsws_av shf_av ghf_av tsurf_av rad_lw_in rad_lw_in_av rad_lw_out rad_lw_out_av rad_lw_in_diff
    rad_sw_in_diff rad_sw_in_dir rad_sw_in rad_sw_in_av rad_sw_out rad_sw_out_av""".split())
SOIL = {"m_soil_av": 8, "t_soil_av": 8}
# Names, or beginnings of names, of surface data, with the planes that hold the number of values of each column.
SURFACES = {"surf%": ("global_start_index", "global_end_index"),
            "t_soil m_soil m_liq t_surface": ("lsm_global_start_index", "lsm_global_end_index"),
            "surf_lsm%": ("rad_lsm_global_start", "rad_lsm_global_end"),
            "surf_usm%": ("rad_usm_global_start", "rad_usm_global_end"),
            "t_surf_wall t_surf_window t_surf_green m_liq_usm": ("usm_global_start", "usm_global_end"),
            "swc t_wall t_window t_green": ("usm_global_start_2", "usm_global_end_2")}
INDEXES = {name for pair in SURFACES.values() for name in pair}


def index_of(name):
    """The two index planes of a surface array, or None."""
    for names, pair in SURFACES.items():
        if name in names.split() or (names.endswith("%") and name.startswith(names)):
            return pair
    return None


class MpiFile:
    """Integers, reals, texts: lists of name and value. Arrays: name, first and last byte. All in PALM's order."""

    def __init__(self, data):
        self.data = data
        assert struct.unpack_from("<i", data)[0] == 1
        _, self.ghosts, arrays, texts, integers, reals, _, _, self.total_x, self.total_y = struct.unpack_from("<10i", data)

        def names(at, count, step=32):
            return [data[at + i * step:at + i * step + 32].decode().rstrip() for i in range(count)]

        self.integers = list(zip(names(40, integers), struct.unpack_from(f"<{integers}i", data, 8232)))
        self.texts = [(name, data[9256 + 128 * i + 32:9256 + 128 * (i + 1)].rstrip() or b" ")
                      for i, name in enumerate(names(9256, texts, 128))]
        self.reals = list(zip(names(25640, reals), struct.unpack_from(f"<{reals}d", data, 33832)))
        begins = struct.unpack_from(f"<{arrays}q", data, 55080)
        ends = (*begins[1:], len(data))
        self.arrays = list(zip(names(35880, arrays), begins, ends))
        first = dict(reversed(self.integers))
        self.nx, self.ny, self.nz = first["nx"], first["ny"], first["nz"]

    def array(self, name):
        """The first array of that name, as PALM declares it, in C order: the last index is the fastest."""
        data = next(self.data[begin:end] for one, begin, end in self.arrays if one == name)
        plane = (self.ny + 1, self.nx + 1)
        stored = (self.total_y, self.total_x)
        levels = self.nz + 2
        if name in INTEGER_LINES:
            return np.frombuffer(data, "<i4")
        if name in REAL_LINES:
            line = np.frombuffer(data, "<f8")
            return line.reshape({"hom": (-1, 2, levels), "hom_sum": (-1, levels)}.get(name, -1))
        if name in INTEGER_PLANES:
            return np.frombuffer(data, "<i4").reshape(plane)
        if name in INDEXES:
            return np.frombuffer(data, "<i8").reshape(plane)
        values = np.frombuffer(data, "<f8")
        if pair := index_of(name):
            elements = int(self.array(pair[1]).max())
            return values if values.size == elements else values.reshape(-1, elements)
        return values.reshape(stored if name in PLANES else (*stored, SOIL.get(name, levels)))

    def surfaces(self, name):
        """The values of each column of surface data; those of (y, x) for all runs."""
        start, end = (self.array(plane) for plane in index_of(name))
        runs = np.atleast_2d(self.array(name))
        found = {}
        at = 0
        for x in range(self.nx + 1):
            for y in range(self.ny + 1):
                count = int(end[y, x] - start[y, x]) + 1
                assert start[y, x] == at + 1 and (runs[:, at] == count).all(), (name, y, x)
                found[y, x] = runs[:, at + 1:at + count]
                at += count
        assert at == runs.shape[1]
        return found


class BinaryFile:
    """Names and records of one process in order, for the global and the local part (name, first byte, bytes)."""

    TWO = {"random_iv": ("random_iv", "random_iy"), "seq_random_array": ("id_random_array", "seq_random_array")}

    def __init__(self, data):
        records, at = [], 0
        while at < len(data):
            size, = struct.unpack_from("<i", data, at)
            assert size >= 0 and struct.unpack_from("<i", data, at + 4 + size)[0] == size
            records.append((at + 4, data[at + 4:at + 4 + size]))
            at += 8 + size
        taken = iter(records)
        part = self.global_part = []
        for _, length in taken:
            name = next(taken)[1].decode()
            assert struct.unpack("<i", length)[0] == len(name)
            if name == "*** end ***":
                break
            for variable in self.TWO.get(name, (name,)):
                part.append((variable, *next(taken)))
            if name == "binary_version_local":
                (self.processes, self.process, self.left, self.right, self.south, self.north, self.bottom,
                 self.top) = struct.unpack("<8i", next(taken)[1])
                part = self.local_part = []
        assert next(taken, None) is None

    def local(self, name):
        """The last record of that name."""
        return [record for one, _, record in self.local_part if one == name][-1]


class BinaryRun:
    """The files of all processes."""

    GHOSTS = 3

    def __init__(self, files):
        self.files = files
        self.nx = max(file.right for file in files)
        self.ny = max(file.north for file in files)
        self.levels = files[0].top - files[0].bottom + 2

    def globals(self):
        """Name to value; the last of equal names."""
        return {name: self.global_value(name, record) for name, _, record in self.files[0].global_part}

    def global_value(self, name, record):
        if name in REAL_LINES:
            line = np.frombuffer(record, "<f8")
            return line.reshape({"hom": (-1, 2, self.levels), "hom_sum": (-1, self.levels)}.get(name, -1))
        if name in INTEGER_LINES or name == "hor_index_bounds":
            return np.frombuffer(record, "<i4")
        if all(32 <= byte < 127 for byte in record):
            return record.rstrip() or b" "
        return np.frombuffer(record, {4: "<i4", 8: "<f8"}[len(record)])[0]

    def local_names(self):
        return list(dict.fromkeys(name for file in self.files for name, _, _ in file.local_part))

    def rows(self, name):
        """The rows of all processes; None for a field over the grid."""
        if name in INTEGER_LINES or name.startswith("ns_on_file") or name == "random_iy":
            kind = "<i4"
        elif index_of(name) and "_index" not in name or name.startswith("surf_top%") and "_index" not in name:
            kind = "<f8"
        else:
            return None
        return np.concatenate([np.frombuffer(file.local(name), kind) for file in self.files])

    def field(self, name):
        """An array over the grid as (x, y) or (x, y, z). Reals have ghost layers around it."""
        integers = "_index" in name or name in ("id_random_array", "seq_random_array")
        kind, ghosts = ("<i4", 0) if integers else ("<f8", self.GHOSTS)
        levels = {"seq_random_array": 5, "pcm_sensible_rate_av": 6}.get(name, SOIL.get(name, self.levels))
        if name in PLANES or (integers and name != "seq_random_array"):
            levels = 1
        whole = np.zeros((self.nx + 1 + 2 * ghosts, self.ny + 1 + 2 * ghosts, levels), kind)
        for file in self.files:
            # The border of a part belongs to its neighbour, except at the edges of the grid.
            west, south = (0 if at == 0 else ghosts for at in (file.left, file.south))
            east, north = (0 if at == end else ghosts for at, end in ((file.right, self.nx), (file.north, self.ny)))
            part = np.frombuffer(file.local(name), kind).reshape(
                file.right - file.left + 1 + 2 * ghosts, file.north - file.south + 1 + 2 * ghosts, levels)
            part = part[west:part.shape[0] - east, south:part.shape[1] - north]
            x, y = file.left + west, file.south + south
            whole[x:x + part.shape[0], y:y + part.shape[1]] = part
        return whole[..., 0] if levels == 1 else whole
