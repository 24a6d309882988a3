"""The live viewer: frames per second of a humanoid with meshes, and the cost of watching a simulation.

``python -m benchmarks.viewer`` verifies the poses that are sent against Pinocchio's placements, prints the table and
writes ``benchmarks/results/viewer.json``. The client is another process that reads the websocket and draws nothing;
then Chromium, which draws by software, of the full and of the coarse scene, and of one without floor and robot: a frame
counts if WebGL drew something in it.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import importlib.metadata
import pathlib
import subprocess
import sys
import time

import numpy as np
import pinocchio as pin

import kinetree as kt
from benchmarks.machine import machine
from benchmarks.store import write
from kinetree.viewer.chromium import chromium
from kinetree.viewer.live import advance_watched
from tests.engines.robots import robot_path

SECONDS = 8.0
TOLERANCE = 1e-6
READER = """
import sys, time
from websockets.sync.client import connect
with connect(sys.argv[1], subprotocols=[sys.argv[2]], max_size=None) as socket:
    print("first", len(socket.recv()), flush=True)
    end, first = time.perf_counter() + 3.0, 0
    while time.perf_counter() < end:  # the scene
        try: first += len(socket.recv(timeout=0.5))
        except TimeoutError: pass
    print("ready", first, flush=True)
    start, count, size = time.perf_counter(), 0, 0
    while (passed := time.perf_counter() - start) < float(sys.argv[3]):
        try: size, count = size + len(socket.recv(timeout=0.5)), count + 1
        except TimeoutError: pass
    print("read", count / passed, size / passed, flush=True)
"""


def humanoid():
    """Talos with 38 velocities, 52 shapes and 159,000 triangles, in free flight for ten seconds."""
    path = robot_path("talos_reduced")
    share = str(pathlib.Path(robot_path("panda")).parents[4])
    model = kt.load(path, floating_base=True, package_dirs=[share]).replace(gravity=(0.0, 0.0, 0.0))
    v = 0.3 * np.random.default_rng(1).standard_normal(model.nv)
    return path, kt.simulate(model, v0=v, duration=10.0, dt=2e-3, record=kt.Record(every=10))


def verify(path: str, run, stage) -> float:
    """Largest difference of a body's position and the origin of its frame in Pinocchio [m]."""
    there = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
    data, to = there.createData(), kt.conventions.Pinocchio(run.model, there)
    actor, worst = stage.actors[0], 0.0
    for k in (0, len(actor.time) // 2, len(actor.time) - 1):
        q, _ = run.state(actor.time[k])
        pin.framesForwardKinematics(there, data, to.q_to(q))
        for i in range(1, run.model.nb):
            frame = data.oMf[there.getFrameId(run.model.body_names[i], pin.FrameType.BODY)]
            worst = max(worst, float(np.abs(frame.translation - actor.poses[k, i, :3]).max()))
    return worst


def replay(run, path: str) -> dict:
    """Frames drawn per second while another process reads, and the time that the server takes for one."""
    with kt.view(run, play=False, quiet=True, port=18700) as viewer:
        worst = verify(path, run, viewer.stage)
        assert worst < TOLERANCE, worst
        protocol = f"viser-v{importlib.metadata.version('viser')}"
        given = [sys.executable, "-c", READER, f"ws://127.0.0.1:{viewer.port}", protocol, str(SECONDS)]
        reader = subprocess.Popen(given, stdout=subprocess.PIPE, text=True)
        while not (line := reader.stdout.readline()).startswith("ready"):
            assert line, "the reader ended"
        viewer.watched_by(1)  # a browser also sends its camera, by which it counts
        viewer.stage.play()
        frames, cpu, start = viewer.stage.frames, time.process_time(), time.perf_counter()
        received = reader.stdout.readline().split()
        passed, cpu = time.perf_counter() - start, time.process_time() - cpu
        frames = viewer.stage.frames - frames
        parts = viewer.stage.actors[0].scene.parts
        return {
            "robot": run.model_name, "nv": run.model.nv, "shapes": len(parts),
            "triangles": sum(len(x.faces) for part in parts for x in part.triangles()), "deviation": worst,
            "scene_MB": float(line.split()[1]) / 1e6, "frames_per_second": frames / passed,
            "cpu_ms_per_frame": 1e3 * cpu / frames, "messages_per_second": float(received[1]),
            "kB_per_second": float(received[2]) / 1e3,
        }  # fmt: skip


COUNTER = """
window.drawings = window.frames_drawn = 0;
for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) {
  const own = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...given) { window.drawings++; return own.apply(this, given); };
}
let last = 0;
const look = () => {
  if (window.drawings !== last) window.frames_drawn++;
  last = window.drawings;
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def in_a_browser(run, detail: str, empty: bool = False) -> float:
    """Frames per second that Chromium draws of a replay, in software at 1280 x 720."""
    with kt.view(run, play=False, quiet=True, port=18700, detail=detail) as viewer, chromium() as browser:
        if empty:
            viewer._ground = None
            viewer.lay_ground(True)
            for nodes in viewer.stage.actors[0].bodies._shapes.values():
                for node in nodes:
                    node.visible = False
        sheet = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
        sheet.add_init_script(COUNTER)
        sheet.goto(viewer.url)
        while not viewer.watched:
            sheet.wait_for_timeout(100)
        sheet.wait_for_timeout(5000)
        viewer.stage.play()
        sheet.wait_for_timeout(3000)
        look = "[window.frames_drawn, performance.now()]"
        before = sheet.evaluate(look)
        sheet.wait_for_timeout(1e3 * SECONDS)
        after = sheet.evaluate(look)
        assert after[0] > before[0]
        return 1e3 * (after[0] - before[0]) / (after[1] - before[1])


def watching(repeats: int = 7) -> dict:
    """Wall time of ten simulated seconds with a viewer that nobody looks at, and without; medians."""
    model, q = kt.load("arm7"), np.array([0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    times: dict[str, list[float]] = {"without": [], "with": []}
    with kt.view(model, quiet=True, port=18700) as viewer:
        for _ in range(repeats):
            runs = {what: kt.Simulation(model, q) for what in times}
            for what, run in runs.items():
                start = time.perf_counter()
                if what == "without":
                    run.advance(10.0)
                else:
                    advance_watched(run, 10.0, viewer, False)
                times[what].append(time.perf_counter() - start)
            assert np.array_equal(*(run.q for run in runs.values()))
    return {what: float(np.median(x)) for what, x in times.items()}


def main() -> None:
    """Verify, measure, print and write."""
    path, run = humanoid()
    result = {"machine": machine(), "viser": importlib.metadata.version("viser"), "replay": replay(run, path),
              "software_fps": {"full": in_a_browser(run, "full"), "coarse": in_a_browser(run, "coarse"),
                               "empty": in_a_browser(run, "coarse", empty=True)},
              "watched_run_s": watching()}  # fmt: skip
    for name, value in (x for part in ("replay", "software_fps", "watched_run_s") for x in result[part].items()):
        print(f"{name:22} {value if isinstance(value, str) else format(value, '.4g')}")
    print(write("viewer", result))


if __name__ == "__main__":
    main()
