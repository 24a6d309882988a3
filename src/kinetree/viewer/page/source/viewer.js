// The page: reads its data, builds the scene, and connects the controls.

import * as THREE from "three";
import { unpack } from "./arrays.js";
import { coarsened, MOST } from "./coarse.js";
import { KINDS } from "./overlays.js";
import { Plot } from "./plot.js";
import { Robot } from "./robot.js";
import { Stage } from "./stage.js";

const element = (id) => document.getElementById(id);

// While a picture moves and frames are late: coarse shapes, then fewer pixels. A picture at rest has all of both.
const DRAFTS = [{ coarse: false, pixels: 1 }, ...[1, 0.75, 0.5].map((pixels) => ({ coarse: true, pixels }))];
const LATE = { card: 1 / 28, software: 1 / 38 }; // s of a frame; displays of 30 Hz are in time
const WRITTEN = 100; // ms between times in numbers in moving drafts: without a graphics card letters cost, too
const [LOOKED_AT, LEFT_OUT] = [12, 2]; // frames, the longest of which do not count

class Viewer {
  constructor(data, array) {
    Object.assign(this, { data, array, time: 0, playing: false, speed: 1, robots: [], overlays: [] });
    Object.assign(this, { level: 0, moving: 0, steps: [] }); // of drafts: the present one, that of moving pictures
    this.stage = new Stage(element("canvas"), data.view);
    this.start = Math.min(...data.runs.map((run) => array(run.time)[0]));
    this.end = Math.max(...data.runs.map((run) => array(run.time).at(-1)));
    [this.time, this.following] = [this.start, data.view.follow];
  }

  async build() {
    const { data, array } = this;
    const shared = { meshes: data.meshes, images: data.images, geometries: [], textures: [] };
    for (const run of data.runs) {
      const robot = await Robot.build(run, array, shared);
      this.robots.push(robot);
      this.stage.scene.add(robot.root);
    }
    const sum = this.triangles.reduce((a, b) => a + b, 0);
    if (this.stage.software && sum > MOST) this.moving = 1;
    for (const entry of data.overlays) {
      const overlay = new KINDS[entry.kind](entry, array, data.view.radius);
      overlay.root.visible = entry.visible;
      this.overlays.push(overlay);
      this.stage.scene.add(overlay.root);
    }
    if (data.channels.length) this.plot = new Plot(element("plot"), element("now"), data.channels, array);
  }

  set(t) {
    this.time = Math.min(Math.max(t, this.start), this.end);
    for (const robot of this.robots) robot.set(this.time);
    for (const overlay of this.overlays) if (overlay.root.visible) overlay.set(this.time);
    if (this.following) this.stage.follow(this.robots[0].bodies[1].position); // the first one is the world
    if (!(this.playing && this.level)) this.write();
    this.changed = true;
  }

  // The time in numbers and on the slider.
  write() {
    element("scrub").value = String(this.time);
    element("time").textContent = this.time.toFixed(2) + " s";
    this.written = performance.now();
  }

  play(on = true) {
    if (on && !this.playing && this.time >= this.end) this.set(this.start);
    this.playing = on;
    element("play").textContent = on ? "❚❚" : "▶";
    element("play").setAttribute("aria-label", on ? "pause" : "play");
    this.write();
    this.draft(on ? this.moving : 0);
  }

  draft(level) {
    if (level === this.level) return;
    [this.level, this.steps] = [level, []];
    const { coarse } = DRAFTS[level];
    if (coarse) this.copies ??= coarsened(this.robots.flatMap((robot) => robot.shapes));
    for (const robot of this.robots) robot.draft(coarse ? this.copies : null, this.stage);
    this.resize();
  }

  // A step of the clock while the picture moves [s]; the mean of some decides.
  pace(step) {
    this.steps.push(step);
    if (this.steps.length < LOOKED_AT) return;
    const most = LATE[this.stage.software ? "software" : "card"] * (LOOKED_AT - LEFT_OUT);
    const sum = this.steps.sort((a, b) => a - b).slice(0, -LEFT_OUT).reduce((a, b) => a + b);
    this.steps = [];
    if (sum > most && this.moving + 1 < DRAFTS.length) this.draft(++this.moving);
  }

  tick(now) {
    const step = Math.min((now - (this.last ?? now)) / 1000, 0.25); // a tab that slept goes on where it was
    this.last = now;
    if (this.playing) {
      this.pace(step);
      const t = this.time + this.speed * step;
      this.set(t > this.end ? (this.looping ? this.start : this.end) : t);
      if (t > this.end && !this.looping) this.play(false);
    }
    if (this.playing && now - this.written > WRITTEN) this.write();
    if (this.changed) this.draw();
    requestAnimationFrame((x) => this.tick(x));
  }

  draw() {
    this.changed = false;
    this.stage.draw();
    this.plot?.draw(this.time);
    if (this.naming) this.label();
  }

  resize() {
    const canvas = element("canvas");
    const ratio = Math.min(window.devicePixelRatio || 1, 2) * DRAFTS[this.level].pixels;
    this.stage.resize(canvas.clientWidth, canvas.clientHeight, ratio);
    this.changed = true;
  }

  // Names of joints, at the origins of their bodies.
  label() {
    const layer = element("names");
    const { joints } = this.data.runs[0];
    if (!layer.children.length) {
      layer.append(...joints.map(([name]) => Object.assign(document.createElement("span"), { textContent: name })));
    }
    const at = new THREE.Vector3();
    joints.forEach(([, body], k) => {
      at.copy(this.robots[0].bodies[body].position).project(this.stage.camera);
      const [x, y] = [(at.x + 1) / 2, (1 - at.y) / 2];
      layer.children[k].style.transform =
        `translate(${(x * layer.clientWidth).toFixed(1)}px, ${(y * layer.clientHeight).toFixed(1)}px)`;
    });
  }

  // A picture of a time from the first place of the camera, as the URL of a PNG; the page keeps its size.
  picture(t, width, height) {
    const { level } = this;
    this.draft(0);
    this.stage.resize(width, height, 1);
    this.stage.look(this.data.view);
    this.stage.last = null;
    this.set(this.start); // from where a picture that follows moves along
    this.set(t);
    this.stage.shadows(true);
    this.stage.draw();
    const url = element("canvas").toDataURL("image/png");
    this.stage.shadows(!this.stage.software);
    this.draft(level);
    this.resize();
    return url;
  }

  get triangles() {
    return this.robots.map((robot) => robot.triangles);
  }

  // World position of the origin of a body of one of the runs.
  position(name, run = 0) {
    return this.robots[run].bodies.find((body) => body.name === name).position.toArray();
  }
}

function toggle(label, on, change, tip = "") {
  const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: on });
  box.addEventListener("change", () => change(box.checked));
  const row = Object.assign(document.createElement("label"), { title: tip });
  row.append(box, label);
  element("toggles").append(row);
}

function connectToggles(viewer) {
  const names = [...new Set(viewer.data.overlays.map((entry) => entry.group))];
  for (const name of names) {
    const own = viewer.overlays.filter((overlay) => overlay.data.group === name);
    toggle(name, own[0].data.visible, (on) => {
      for (const overlay of own) overlay.root.visible = on;
      viewer.set(viewer.time);
    }, own.map(({ data }) => (data.scale ? `1 m of an arrow: ${(1 / data.scale).toPrecision(3)} ${data.unit}` : "")).join(" "));
  }
  toggle("joint names", false, (on) => {
    viewer.naming = on;
    element("names").hidden = !on;
    viewer.changed = true;
  });
  toggle("see-through", false, (on) => {
    for (const robot of viewer.robots) robot.fade(on);
    viewer.changed = true;
  });
  toggle("follow", viewer.following, (on) => {
    [viewer.following, viewer.stage.last] = [on, null];
    viewer.set(viewer.time);
  });
}

function connectPlayback(viewer) {
  const scrub = element("scrub");
  Object.assign(scrub, { min: viewer.start, max: viewer.end, step: "any" });
  scrub.addEventListener("input", () => viewer.set(Number(scrub.value)));
  element("play").addEventListener("click", () => viewer.play(!viewer.playing));
  element("speed").addEventListener("change", (event) => (viewer.speed = Number(event.target.value)));
  element("loop").addEventListener("change", (event) => (viewer.looping = event.target.checked));
  viewer.looping = element("loop").checked;
  document.addEventListener("keydown", (event) => {
    if (/INPUT|SELECT/.test(event.target.tagName) && event.key !== " ") return;
    const step = (viewer.end - viewer.start) / 100;
    if (event.key === " ") viewer.play(!viewer.playing);
    else if (event.key === "ArrowRight") viewer.set(viewer.time + step);
    else if (event.key === "ArrowLeft") viewer.set(viewer.time - step);
    else return;
    event.preventDefault();
  });
  viewer.stage.controls.addEventListener("change", () => (viewer.changed = true));
  const moved = [[scrub, "input", "change"], [element("plot"), "pointerdown", "pointerup"]];
  for (const [target, begin, end] of [...moved, [viewer.stage.controls, "start", "end"]]) {
    target.addEventListener(begin, () => viewer.draft(viewer.moving));
    target.addEventListener(end, () => viewer.draft(viewer.playing ? viewer.moving : 0));
  }
  new ResizeObserver(() => viewer.resize()).observe(element("canvas"));
}

function connectPlot(viewer) {
  if (!viewer.plot) return;
  const select = element("channel");
  viewer.data.channels.forEach((channel, k) => select.append(new Option(channel.name, k)));
  select.addEventListener("change", () => {
    viewer.plot.choose(Number(select.value));
    viewer.changed = true;
  });
  const seek = (event) => viewer.set(viewer.plot.timeAt(event.offsetX));
  element("plot").addEventListener("pointerdown", (event) => {
    event.target.setPointerCapture(event.pointerId);
    seek(event);
  });
  element("plot").addEventListener("pointermove", (event) => event.buttons && seek(event));
}

function describe(data) {
  element("title").textContent = data.title;
  element("notes").textContent = data.notes.join("\n");
  if (data.runs.length < 2) return;
  for (const run of data.runs) {
    const row = Object.assign(document.createElement("div"), { textContent: run.name });
    const dot = document.createElement("i");
    dot.style.background = run.tint ? `rgb(${run.tint.map((x) => Math.round(255 * x)).join(",")})` : "#8a949e";
    row.prepend(dot);
    element("runs").append(row);
  }
}

async function main() {
  const data = JSON.parse(element("description").textContent);
  const viewer = new Viewer(data, await unpack(element("arrays").textContent));
  await viewer.build();
  describe(data);
  element("bar").hidden = viewer.end <= viewer.start;
  element("below").hidden = !viewer.plot;
  connectToggles(viewer);
  connectPlayback(viewer);
  connectPlot(viewer);
  viewer.resize();
  viewer.set(viewer.start);
  viewer.draw();
  viewer.ready = true;
  window.kinetree = viewer;
  requestAnimationFrame((now) => viewer.tick(now));
}

main().catch((error) => {
  element("title").textContent = `This page cannot be drawn: ${error.message}`;
  throw error;
});
