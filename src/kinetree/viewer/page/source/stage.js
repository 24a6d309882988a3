// Camera, light, floor and the picture.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const FIELD = 32; // degrees, vertical
const FREE = 1.04; // space around the box in the picture
const SKY = 0xf3f5f8;

// Lines on the floor in short pieces: long ones that pass the camera are not drawn everywhere.
function gridOf(half, step) {
  const points = [];
  for (let i = -half; i <= half; i++) {
    for (let k = -half; k < half; k++) points.push(i, k, 0, i, k + 1, 0, k, i, 0, k + 1, i, 0);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points.map((x) => x * step), 3));
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: 0xc4ccd4 }));
}

// Without a graphics card; shadows and smooth edges are slow then.
function drawnBySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

export class Stage {
  constructor(canvas, view) {
    this.software = drawnBySoftware();
    // Smooth edges take half of the time there; pictures have them all the same.
    const antialias = !this.software || Boolean(window.kinetreePictures);
    // An opaque canvas need not be mixed with the page behind it.
    const context = canvas.getContext("webgl2", { alpha: false, antialias, powerPreference: "high-performance" });
    this.renderer = new THREE.WebGLRenderer({ canvas, context });
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(SKY);
    this.camera = new THREE.PerspectiveCamera(FIELD, 1, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.light(view);
    this.view = view;
    this.shade.visible = false; // without shadows it would cost its pixels for nothing
    this.shadows(!this.software);
  }

  light({ center, radius, floor, step }) {
    this.center = new THREE.Vector3(...center);
    this.radius = radius;
    this.sky = new THREE.HemisphereLight(0xffffff, 0xb9b4ac, 1.75);
    this.sun = new THREE.DirectionalLight(0xfffaf2, 2.1);
    this.sun.position.set(0.9, -1.3, 2.4).multiplyScalar(3 * radius).add(this.center);
    this.sun.target.position.copy(this.center);
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 3;
    this.sun.shadow.normalBias = 0.006 * radius;
    this.sun.shadow.bias = -0.0004;
    const shadow = this.sun.shadow.camera;
    [shadow.left, shadow.right, shadow.top, shadow.bottom] = [-2, 2, 2, -2].map((x) => x * radius);
    [shadow.near, shadow.far] = [0.1 * radius, 20 * radius];
    this.scene.add(this.sky, this.sun, this.sun.target);
    this.floor = new THREE.Group();
    this.shade = new THREE.Mesh(
      new THREE.CircleGeometry(20 * radius, 64), new THREE.ShadowMaterial({ opacity: 0.22, color: 0x1d2733 })
    );
    const plane = this.shade;
    plane.receiveShadow = true;
    plane.material.depthWrite = false;
    plane.renderOrder = -1;
    const grid = gridOf(Math.ceil((8 * radius) / step), step);
    plane.position.z = -1e-3 * radius; // below soles that touch the floor, and below the lines
    this.floor.add(plane, grid);
    this.floor.position.set(
      Math.round(center[0] / step) * step, Math.round(center[1] / step) * step, floor - 1e-3 * radius
    );
    this.scene.add(this.floor);
  }

  // The camera so far away that the box of everything that moves is in the picture.
  look({ center, low, high, radius, direction, zoom }) {
    const back = new THREE.Vector3(...direction).normalize();
    const right = new THREE.Vector3().crossVectors(this.camera.up, back).normalize();
    const up = new THREE.Vector3().crossVectors(back, right);
    const half = Math.tan((FIELD * Math.PI) / 360);
    let distance = radius;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(...low.map((x, axis) => ((k >> axis) & 1 ? high[axis] : x))).sub(this.center);
      const across = Math.max(Math.abs(corner.dot(up)), Math.abs(corner.dot(right)) / this.camera.aspect);
      distance = Math.max(distance, (FREE * across) / half + corner.dot(back));
    }
    this.controls.target.set(...center);
    this.camera.position.copy(back).multiplyScalar(distance / zoom).add(this.controls.target);
    [this.camera.near, this.camera.far] = [0.01 * radius, 60 * radius];
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.scene.fog = new THREE.Fog(SKY, distance + 2 * radius, distance + 9 * radius);
  }

  // Move camera, light and target along with a point.
  follow(point) {
    if (this.last) {
      const step = point.clone().sub(this.last);
      for (const x of [this.camera.position, this.controls.target, this.sun.position, this.sun.target.position]) {
        x.add(step);
      }
    }
    this.last = point.clone();
  }

  shadows(on) {
    if (this.renderer.shadowMap.enabled === on && this.sun.castShadow === on) return;
    this.renderer.shadowMap.enabled = this.sun.castShadow = this.shade.visible = on;
    this.scene.traverse((x) => x.material && (x.material.needsUpdate = true));
  }

  resize(width, height, ratio) {
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.looked) this.look(this.view);
    this.looked = true;
  }

  draw() {
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
  }
}
