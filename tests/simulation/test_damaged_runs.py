"""Saved runs that are damaged: what comes out is a run whose numbers are there, or an error of kinetree."""

from __future__ import annotations

import copy
import io
import json
import resource
import zipfile

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import FileFormatError, KinetreeError
from kinetree.simulation.channels import STORED

DAMAGES = {".npz": 600, ".csv": 400, ".nc": 150}
WRONG = (None, True, -1, float("nan"), "x", ["x"], {"x": 1})


@pytest.fixture(scope="module")
def run():
    """With an event, an impact, a channel, a wrench, a disturbance and a energy balance; few samples."""
    event = kt.Event(lambda t, q, v: t - 0.015, name="bell")
    run = kt.simulate(
        kt.load("cart_pole").with_constraints(kt.constraints.HardLimits(0.5)),
        [1.79, 0.3],
        [1.0, 0.0],
        duration=0.02,
        record=kt.Record(period=2e-3),
        events=[event],
        inputs=kt.Inputs(disturbance=lambda t: [1.0, 0.0], f_ext={"pole": [0.0, 0.1, 0.0, 0.0, 0.0, 0.0]}),
    )
    assert len(run.events) == 2
    return run.with_channel("feet", np.ones((len(run), 2)), "N", labels=["left", "right"])


def saved(run, folder, suffix):
    """The bytes of the run in a file."""
    if suffix == ".nc":
        pytest.importorskip("h5netcdf")
    return run.save(folder / f"run{suffix}").read_bytes()


def use(back):
    """What is done with a run: nothing of it may fail but by an error of kinetree."""
    assert np.isfinite(back.time).all() and len(back) > 0
    assert back.q.shape == (len(back), len(back.coordinates.position_labels))
    assert repr(back) and back.events is not None
    try:
        names = list(back.channels)
        assert all(len(back.channels[name].values) == len(back) for name in names)
        back[:1].compare(back[:1])
    except KinetreeError:
        pass


@pytest.mark.parametrize("suffix", DAMAGES)
def test_damaged_bytes(run, tmp_path, suffix):
    """Bits flipped, bytes cut out, doubled and zeroed, files cut short: no error but those of kinetree."""
    whole, rng = saved(run, tmp_path, suffix), np.random.default_rng(20)
    path, refused = tmp_path / f"damaged{suffix}", 0
    for n in range(DAMAGES[suffix]):
        data, at = bytearray(whole), int(rng.integers(len(whole)))
        # The ends of a zip file hold its structure, the begin of an HDF5 file its own: every third damage is there.
        at = at if n % 3 else len(data) - 1 - at % 400 if suffix == ".npz" else at % 800
        size = int(rng.integers(1, 40))
        match n % 5:
            case 0:
                data[at] ^= 1 << int(rng.integers(8))
            case 1:
                data[at : at + size] = rng.bytes(min(size, len(data) - at))
            case 2:
                del data[at : at + size]
            case 3:
                data[at:at] = data[at : at + size]
            case 4:
                del data[at:]
        path.write_bytes(data)
        try:
            use(kt.Trajectory.load(path))
        except FileFormatError as error:
            refused += 1
            assert str(path) in str(error), (n, at)
    assert refused > DAMAGES[suffix] // 4


def leaves(value, way=()):
    """The way to every part of plain data, itself included."""
    yield way
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from leaves(entry, (*way, key))


def replaced(value, way, other):
    """A copy with another part at the end of a way; without it if that is ``...``."""
    if not way:
        return other
    value = copy.deepcopy(value)
    inside = value
    for key in way[:-1]:
        inside = inside[key]
    if other is ...:
        del inside[way[-1]]
    else:
        inside[way[-1]] = other
    return value


def written(path, meta, session, arrays):
    """A file of these parts, whether they make sense or not."""
    texts = {"meta": np.array(json.dumps(meta)), "session": np.array(json.dumps(session))}
    np.savez(path, **texts, **arrays)
    return path


def parts(run, folder):
    """What a saved run consists of."""
    with np.load(run.save(folder / "run.npz")) as file:
        arrays = dict(file)
    return json.loads(str(arrays.pop("meta"))), json.loads(str(arrays.pop("session"))), arrays


def test_damaged_settings(run, tmp_path):
    """Every entry of the settings and the session, of a wrong kind or missing: refused, or a run that can be used."""
    meta, session, arrays = parts(run, tmp_path)
    tried = refused = 0
    for which, data in (("meta", meta), ("session", session)):
        for way in leaves(data):
            if way and isinstance(way[-1], int) and way[-1] > 0:
                continue  # entries of a list are alike
            for other in (*WRONG, ...) if way else WRONG:
                damaged = {"meta": meta, "session": session} | {which: replaced(data, way, other)}
                path = written(tmp_path / "damaged.npz", **damaged, arrays=arrays)
                tried += 1
                try:
                    use(kt.Trajectory.load(path))
                except FileFormatError:
                    refused += 1
    assert tried > 600 and refused > 0.8 * tried


SPOILED = {
    "missing": None,
    "a row less": lambda x: x[:-1],
    "a column more": lambda x: np.column_stack((x, x)),
    "no rows": lambda x: x[:0],
    "a number": lambda x: np.array(1.0),
    "texts": lambda x: x.astype(str),
    "whole numbers": lambda x: x.astype(int),
    "complex": lambda x: x.astype(complex),
    "dates": lambda x: x.astype("M8[s]"),
    "NaN": lambda x: x * np.nan,
}


@pytest.mark.parametrize("spoil", SPOILED)
def test_damaged_arrays(run, tmp_path, spoil):
    """Every array, missing or of another kind: refused by name. NaN is refused where it is never right."""
    meta, session, arrays = parts(run, tmp_path)
    free = {name for name in arrays if name.startswith(("power", "work."))}
    free |= {"metadata.wrenches", *meta["energy_balance"]["others"]}
    for name in arrays:
        change = SPOILED[spoil]
        if spoil == "a column more" and name in free:
            continue
        damaged = {key: x for key, x in arrays.items() if key != name}
        if change is not None:
            damaged[name] = change(arrays[name])
        path = written(tmp_path / "damaged.npz", meta, session, damaged)
        if spoil == "NaN" and name not in STORED:
            use(kt.Trajectory.load(path))
        elif name.startswith("metadata.") and spoil == "missing":
            use(kt.Trajectory.load(path))  # a run without wrenches
        else:
            with pytest.raises(FileFormatError, match=f"not a trajectory.*({name}|samples)"):
                kt.Trajectory.load(path)


def test_files_are_not_unfolded_to_more_than_they_say(run, tmp_path):
    """Zeros of which a thousand take a byte are refused by their headers, in the memory that a run takes."""
    meta, session, arrays = parts(run, tmp_path)
    path = written(tmp_path / "bomb.npz", meta, session, {x: y for x, y in arrays.items() if x != "q"})
    header = io.BytesIO()
    shape = (25_000_000, 2)
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file, file.open("q.npy", "w", force_zip64=True) as entry:
        entry.write(header.getvalue())
        for _ in range(2):
            entry.write(bytes(2 * 10**8))
    assert path.stat().st_size < 2**22
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileFormatError, match=r"array 'q' has shape \(25000000, 2\) of float64, expected \(1"):
        kt.Trajectory.load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**16  # KiB: 64 MiB of 400 MiB


def test_more_than_there_is_memory_for_is_refused(run, tmp_path, monkeypatch):
    """A run that is what it says, and too long for this machine."""
    from kinetree.simulation import run_content

    monkeypatch.setattr(run_content, "available_memory", lambda: 1000.0)
    with pytest.raises(FileFormatError, match="the run unfolds to .* GiB, and .* GiB of memory are left"):
        kt.Trajectory.load(run.save(tmp_path / "run.npz"))


@pytest.mark.parametrize(
    ("change", "message"),
    [  # of the header and the rows, as lists of words
        (lambda rows: rows[:3] + [[*rows[3][:-1], "zero"]], ":4: not a table .*could not convert"),
        (lambda rows: rows[:3] + [[*rows[3][:1], "nan", *rows[3][2:]]], r":4: .*'q slider \[m\]' is 'nan', expected"),
        (lambda rows: [rows[0], rows[2], rows[1]], ":3: .*time goes back"),
        (lambda rows: [[*rows[0][:-1], rows[0][-2]], *rows[1:]], ":1: .*two columns have one name"),
        (lambda rows: [[x.replace("tau ", "f ") for x in rows[0]], *rows[1:]], ":1: .*columns of tau are not those of"),
    ],
)
def test_damaged_tables(run, tmp_path, change, message):
    """The line and the column are named."""
    path = run.save(tmp_path / "run.csv")
    rows = change([line.split(",") for line in path.read_text().splitlines()])
    path.write_text("\n".join(map(",".join, rows)))
    with pytest.raises(FileFormatError, match=f"csv{message}"):
        kt.Trajectory.load(path)


@pytest.mark.parametrize("suffix", DAMAGES)
def test_folders_are_no_runs(tmp_path, suffix):
    """Nor are pipes and devices, which could be read for ever."""
    (tmp_path / f"run{suffix}").mkdir()
    with pytest.raises(FileFormatError, match="it is no regular file"):
        kt.Trajectory.load(tmp_path / f"run{suffix}")


def test_a_model_of_a_wrong_kind(run, tmp_path):
    """The name of a robot is no model."""
    with pytest.raises(KinetreeError, match="model"):
        kt.Trajectory.load(run.save(tmp_path / "run"), "cart_pole")
