// One run: its bodies with their parts, and their poses over time.

import * as THREE from "three";
import { draftOf } from "./drafts.js";
import { geometryOf, materialOf, srgb, textureOf } from "./meshes.js";

const TINT = 0.55; // of the colors of runs beside the first

// The frame before a time and the fraction of the way to the next one.
export function frameAt(time, t) {
  let [low, high] = [0, time.length - 1];
  if (t >= time[high]) return [high, high, 0];
  if (t <= time[0]) return [0, 0, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle] <= t) low = middle;
    else high = middle;
  }
  return [low, high, (t - time[low]) / (time[high] - time[low])];
}

export class Robot {
  constructor(run, array) {
    this.name = run.name;
    this.time = array(run.time);
    this.positions = array(run.positions);
    this.rotations = array(run.rotations);
    this.bodies = run.bodies.map((name) => Object.assign(new THREE.Group(), { name }));
    this.root = new THREE.Group();
    this.root.add(...this.bodies);
    [this.materials, this.shapes] = [[], []];
  }

  // Geometries are shared by all parts, and by all runs of one model.
  static async build(run, array, shared) {
    const robot = new Robot(run, array);
    for (const part of run.parts) {
      for (const k of part.meshes) {
        const mesh = shared.meshes[k];
        shared.geometries[k] ??= geometryOf(mesh, array);
        if (mesh.image != null) shared.textures[mesh.image] ??= await textureOf(shared.images[mesh.image]);
        robot.add(part, shared.geometries[k], mesh, shared.textures[mesh.image], run.tint);
      }
    }
    robot.set(robot.time[0]);
    return robot;
  }

  add(part, geometry, mesh, texture, tint) {
    const material = materialOf(texture ? [1, 1, 1, 1] : mesh.color ?? part.color, texture, tint ? 0.5 : 1);
    if (tint) material.color.lerp(srgb(tint), TINT);
    material.userData.opacity = material.opacity;
    this.materials.push(material);
    const object = new THREE.Mesh(geometry, material);
    object.name = part.name;
    object.userData = { geometry, material };
    this.shapes.push(object);
    object.castShadow = object.receiveShadow = true;
    object.matrixAutoUpdate = false;
    object.matrix.fromArray(part.pose);
    (part.body < 0 ? this.root : this.bodies[part.body]).add(object);
  }

  set(t) {
    const [i, j, s] = frameAt(this.time, t);
    const n = this.bodies.length;
    const [r, q] = [new THREE.Vector3(), new THREE.Quaternion()];
    this.bodies.forEach((body, b) => {
      body.position.fromArray(this.positions, 3 * (i * n + b));
      body.quaternion.fromArray(this.rotations, 4 * (i * n + b)).normalize();
      if (s > 0) {
        body.position.lerp(r.fromArray(this.positions, 3 * (j * n + b)), s);
        body.quaternion.slerp(q.fromArray(this.rotations, 4 * (j * n + b)).normalize(), s);
      }
    });
  }

  fade(transparent) {
    for (const material of this.materials) {
      material.opacity = material.userData.opacity * (transparent ? 0.3 : 1);
      material.transparent = material.opacity < 1;
      material.depthWrite = material.opacity > 0.6;
      material.needsUpdate = true;
    }
    for (const { userData } of this.shapes) {
      userData.draft?.dispose();
      userData.draft = null; // it is made of the material anew
    }
    this.draft(this.copies, this.stage);
  }

  // Draw copies of the geometries where there are some, with light materials, or the geometries themselves.
  draft(copies, stage) {
    [this.copies, this.stage] = [copies, stage];
    for (const shape of this.shapes) {
      const { geometry, material } = shape.userData;
      shape.geometry = copies?.get(geometry) ?? geometry;
      shape.material = copies ? (shape.userData.draft ??= draftOf(material, stage)) : material;
    }
  }

  get triangles() {
    return this.shapes.reduce((sum, shape) => sum + shape.userData.geometry.index.count / 3, 0);
  }
}
