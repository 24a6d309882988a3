"""Pages, pictures and films of a humanoid and an arm with meshes: sizes, times to write, and times to open.

``python -m benchmarks.viewer_export`` writes ``benchmarks/results/viewer_export.json``. A page counts as open when it
has drawn its first picture with all triangles; Chromium draws by software (SwiftShader), which is slower than any
graphics card. Verified first: the page has the triangles of the scene, and moves. Frames are counted from the third
second of the replay on, when the page has found out how coarse it has to be. ``empty_fps`` is of the same page without
anything in its picture, between the other measurements: what the machine has left for Chromium.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import kinetree as kt
from benchmarks.machine import machine, versions
from benchmarks.store import write
from kinetree.viewer.chromium import chromium
from kinetree.viewer.scene import Scene
from tests.engines.robots import robot_path

DURATION, REPEATS, FILM = 10.0, 3, 1.0
PACKAGES = ("kinetree", "numpy", "playwright", "imageio-ffmpeg", "matplotlib", "example-robot-data")
ROBOTS = {"talos_reduced": True, "talos_data/robots/talos_full_v2.urdf": True, "panda": False}
SETTLING, COUNTED = 2.0, 5.0  # s of the replay


def run_of(name: str, duration: float):
    """Ten seconds of a robot that falls from its neutral position, with dampers in its joints."""
    model = kt.load(robot_path(name), floating_base=ROBOTS[name])
    hinges = [model.joint_name(i) for i in model.outward() if model.joints[i].nv == 1]
    model = model.replace(damping=dict.fromkeys(hinges, 1.0))
    v = np.zeros(model.nv)
    v[-len(hinges) :] = np.linspace(-1.0, 1.0, len(hinges))
    if ROBOTS[name]:
        model = model.replace(gravity=(0.0, 0.0, 0.0))
    q, v = kt.kinematics.apply_couplings(model, model.neutral(), v)
    return kt.simulate(model, q, v, duration=duration, dt=2e-3, progress=False)


def seconds(call) -> float:
    """Wall time of a call [s]."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def opened(browser, path: Path, triangles: int, size=(1280, 720)) -> dict:
    """Seconds until a page is open, and frames per second while it plays; it is verified on the way."""
    sheet = browser.new_context(viewport={"width": size[0], "height": size[1]}, offline=True).new_page()
    messages = []
    sheet.on("console", lambda message: messages.append(message.text))

    def ready():
        sheet.goto(path.as_uri())
        sheet.wait_for_function("window.kinetree !== undefined")

    took = seconds(ready)
    assert sheet.evaluate("kinetree.triangles") == [triangles]
    assert not messages, messages
    first = sheet.evaluate("kinetree.robots[0].bodies.at(-1).position.toArray()")
    sheet.evaluate("kinetree.play()")
    sheet.wait_for_timeout(1e3 * SETTLING)
    fps = counted(sheet)
    assert sheet.evaluate("kinetree.robots[0].bodies.at(-1).position.toArray()") != first
    level = sheet.evaluate("kinetree.moving")
    sheet.evaluate("kinetree.stage.scene.visible = false")
    empty = counted(sheet)
    sheet.context.close()
    return {"open_s": took, "fps": fps, "empty_fps": empty, "level": level}


def counted(sheet) -> float:
    """Frames per second of a page that plays."""
    return sheet.evaluate("""(duration) => new Promise((done) => {
        const [draw, start] = [kinetree.draw, performance.now()];
        let frames = 0;
        kinetree.draw = function () { frames++; draw.call(kinetree); };
        setTimeout(() => {
            delete kinetree.draw;
            done((1000 * frames) / (performance.now() - start));
        }, 1000 * duration);
    })""", COUNTED)  # fmt: skip


def measured(name: str, browser, folder: Path, quick: bool) -> dict:
    """The numbers of one robot."""
    run = run_of(name, 1.0 if quick else DURATION)
    triangles = sum(len(x.faces) for part in Scene.of(run.model).parts for x in part.triangles())
    path = folder / f"{Path(name).stem}.html"
    run.save(path)  # meshes are read once
    times = [seconds(lambda: run.save(path)) for _ in range(1 if quick else REPEATS)]
    loads = [opened(browser, path, triangles) for _ in range(1 if quick else REPEATS)]
    found = {
        "nv": run.model.nv, "triangles": triangles, "duration_s": run.duration,
        "page_MB": path.stat().st_size / 1e6, "page_written_s": statistics.median(times),
        "page_open_s": statistics.median(x["open_s"] for x in loads),
        "page_open_worst_s": max(x["open_s"] for x in loads),
        "software_fps": statistics.median(x["fps"] for x in loads),
        "software_fps_worst": min(x["fps"] for x in loads),
        "software_empty_fps": statistics.median(x["empty_fps"] for x in loads),
        "software_level": max(x["level"] for x in loads),
        "software_fps_640": opened(browser, path, triangles, (640, 360))["fps"],
        "glb_MB": run.save(path.with_suffix(".glb")).stat().st_size / 1e6,
    }  # fmt: skip
    short = run.between(0.0, 0.2 if quick else FILM)
    for renderer in ("browser", "matplotlib"):
        frames = max(1, round(short.duration * 10))
        film = seconds(lambda r=renderer: short.save(folder / f"{r}.mp4", fps=10, renderer=r))
        found[f"{renderer}_film_s_per_frame"] = film / frames
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="check the harness, write nothing")
    quick = parser.parse_args().quick
    results = {}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name in ("panda",) if quick else ROBOTS:
            results[Path(name).stem] = found = measured(name, browser, Path(folder), quick)
            print(name, {key: round(x, 3) for key, x in found.items()})
    if not quick:
        write("viewer_export", {"machine": machine(), "versions": versions(PACKAGES), "robots": results})


if __name__ == "__main__":
    main()
