// Arrows, paths, lines, surfaces, points, frames and ellipsoids over time: those of kinetree/viewer/overlays.py. All arrays
// are in world axes, one row for each frame.

import * as THREE from "three";
import { srgb } from "./meshes.js";
import { frameAt } from "./robot.js";

const UP = new THREE.Vector3(0, 1, 0);
const CYLINDER = new THREE.CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0);
const CONE = new THREE.ConeGeometry(1, 1, 20).translate(0, 0.5, 0);
const SPHERE = new THREE.SphereGeometry(1, 24, 16);

// Overlays glow a little, so that their colors can be read in the shade.
function paint(material, color) {
  material.color.copy(srgb(color));
  material.emissive.copy(material.color).multiplyScalar(0.35);
}

function instances(geometry, color, count) {
  const material = new THREE.MeshPhongMaterial({ specular: 0x3a3a3a, shininess: 30 });
  paint(material, color ?? [1, 1, 1]);
  const mesh = new THREE.InstancedMesh(geometry, material, Math.max(count, 1));
  mesh.count = count;
  mesh.frustumCulled = false; // its bounds are those of one instance
  mesh.castShadow = true;
  return mesh;
}

// Things inside of bodies are drawn over them.
function throughBodies(...meshes) {
  for (const mesh of meshes) {
    [mesh.renderOrder, mesh.material.depthTest, mesh.material.transparent] = [1, false, true];
  }
}

// A stick from a point along a vector; hidden where the vector is zero.
const scratch = [new THREE.Matrix4(), new THREE.Quaternion(), new THREE.Vector3(), new THREE.Vector3()];
function stick(mesh, k, from, along, length, radius) {
  const [matrix, turn, direction, size] = scratch;
  const norm = along.length();
  if (norm > 0) turn.setFromUnitVectors(UP, direction.copy(along).divideScalar(norm));
  size.set(radius, length, radius).multiplyScalar(norm > 0 ? 1 : 0);
  mesh.setMatrixAt(k, matrix.compose(from, turn, size));
}

class Overlay {
  constructor(data, array, size) {
    this.data = data;
    this.size = size; // of the scene, for radii
    this.time = array(data.time);
    this.root = new THREE.Group();
    this.root.name = data.name;
  }

  // Row t of an array over time with `width` numbers in a row; a single row stays.
  row(values, width, t) {
    const [i, j, s] = values.length > width ? frameAt(this.time, t) : [0, 0, 0];
    const row = values.slice(i * width, (i + 1) * width);
    if (s > 0) for (let k = 0; k < width; k++) row[k] += s * (values[j * width + k] - row[k]);
    return row;
  }
}

class Arrows extends Overlay {
  constructor(data, array, size) {
    super(data, array, size);
    [this.points, this.vectors] = [array(data.points), array(data.vectors)];
    this.count = data.count;
    this.shafts = instances(CYLINDER, data.color, this.count);
    this.tips = instances(CONE, data.color, this.count);
    this.root.add(this.shafts, this.tips);
  }

  set(t) {
    const width = 3 * this.count;
    const [points, vectors] = [this.row(this.points, width, t), this.row(this.vectors, width, t)];
    const [from, along] = [new THREE.Vector3(), new THREE.Vector3()];
    const radius = 0.01 * this.size;
    for (let k = 0; k < this.count; k++) {
      from.fromArray(points, 3 * k);
      along.fromArray(vectors, 3 * k);
      if (along.length() < 1e-3 * this.size) along.set(0, 0, 0);
      const tip = Math.min(5 * radius, 0.5 * along.length());
      const shaft = along.length() - tip;
      stick(this.shafts, k, from, along, shaft, radius);
      from.addScaledVector(along, along.length() > 0 ? shaft / along.length() : 0);
      stick(this.tips, k, from, along, tip, 2.4 * radius);
    }
    this.shafts.instanceMatrix.needsUpdate = this.tips.instanceMatrix.needsUpdate = true;
  }
}

// Lines of points, whose number may change; each with its color over time.
class Paths extends Overlay {
  constructor(data, array, size) {
    super(data, array, size);
    [this.points, this.starts, this.colors] = [array(data.points), array(data.starts), array(data.colors)];
    const counts = Array.from(this.starts.subarray(1), (end, k) => end - this.starts[k]);
    this.most = Math.max(2, ...counts);
    this.segments = instances(CYLINDER, null, this.most - 1);
    this.knots = instances(SPHERE, null, this.most);
    this.root.add(this.segments, this.knots);
  }

  set(t) {
    const [i, j, s] = frameAt(this.time, t);
    const row = this.starts.length > 2 ? (s > 0.5 ? j : i) : 0;
    const [first, end] = [this.starts[row], this.starts[row + 1]];
    const shade = this.colors.length > 3 ? 3 * row : 0;
    const color = this.colors.subarray(shade, shade + 3);
    for (const mesh of [this.segments, this.knots]) paint(mesh.material, color);
    const radius = 0.006 * this.size;
    const [from, to] = [new THREE.Vector3(), new THREE.Vector3()];
    for (let k = 0; k < end - first; k++) {
      from.fromArray(this.points, 3 * (first + k));
      this.knots.setMatrixAt(k, scratch[0].makeScale(radius, radius, radius).setPosition(from));
      if (k + 1 === end - first) break;
      to.fromArray(this.points, 3 * (first + k + 1)).sub(from);
      stick(this.segments, k, from, to, to.length(), radius);
    }
    [this.knots.count, this.segments.count] = [end - first, Math.max(end - first - 1, 0)];
    this.knots.instanceMatrix.needsUpdate = this.segments.instanceMatrix.needsUpdate = true;
  }
}

// Straight lines between pairs of points.
class Lines extends Overlay {
  constructor(data, array, size) {
    super(data, array, size);
    [this.points, this.pairs] = [array(data.points), array(data.pairs)];
    this.segments = instances(CYLINDER, data.color, this.pairs.length / 2);
    this.root.add(this.segments);
  }

  set(t) {
    const points = this.row(this.points, 3 * this.data.count, t);
    const [from, to] = [new THREE.Vector3(), new THREE.Vector3()];
    for (let k = 0; k < this.pairs.length / 2; k++) {
      from.fromArray(points, 3 * this.pairs[2 * k]);
      to.fromArray(points, 3 * this.pairs[2 * k + 1]).sub(from);
      stick(this.segments, k, from, to, to.length(), 0.004 * this.size);
    }
    this.segments.instanceMatrix.needsUpdate = true;
  }
}

class Surfaces extends Overlay {
  constructor(data, array, size) {
    super(data, array, size);
    this.vertices = array(data.vertices);
    this.width = 3 * data.count;
    this.geometry = new THREE.BufferGeometry();
    this.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(this.width), 3));
    this.geometry.setIndex(new THREE.BufferAttribute(array(data.faces), 1));
    const material = new THREE.MeshStandardMaterial({
      color: srgb(data.color), roughness: 0.75, side: THREE.DoubleSide,
    });
    const mesh = new THREE.Mesh(this.geometry, material);
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = true;
    this.root.add(mesh);
  }

  set(t) {
    this.geometry.attributes.position.array.set(this.row(this.vertices, this.width, t));
    this.geometry.attributes.position.needsUpdate = true;
    this.geometry.computeVertexNormals();
  }
}

class Points extends Overlay {
  constructor(data, array, size) {
    super(data, array, size);
    this.points = array(data.points);
    this.spheres = instances(SPHERE, data.color, data.count);
    throughBodies(this.spheres);
    this.root.add(this.spheres);
  }

  set(t) {
    const points = this.row(this.points, 3 * this.data.count, t);
    const { radius } = this.data;
    for (let k = 0; k < this.data.count; k++) {
      const matrix = scratch[0].makeScale(radius, radius, radius);
      this.spheres.setMatrixAt(k, matrix.setPosition(points[3 * k], points[3 * k + 1], points[3 * k + 2]));
    }
    this.spheres.instanceMatrix.needsUpdate = true;
  }
}

// Axes x, y, z in red, green, blue at frames (positions, then quaternions w x y z).
class Frames extends Overlay {
  constructor(data, array, size) {
    super(data, array, size);
    this.poses = array(data.poses);
    this.axes = [[0.84, 0.15, 0.16], [0.17, 0.63, 0.17], [0.12, 0.47, 0.85]].map((color) =>
      instances(CYLINDER, color, data.count)
    );
    throughBodies(...this.axes);
    this.root.add(...this.axes);
  }

  set(t) {
    const poses = this.row(this.poses, 7 * this.data.count, t);
    const [from, along, turn] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Quaternion()];
    this.axes.forEach((mesh, axis) => {
      for (let k = 0; k < this.data.count; k++) {
        const [w, x, y, z] = poses.subarray(7 * k + 3, 7 * k + 7);
        from.fromArray(poses, 7 * k);
        along.setComponent((axis + 1) % 3, 0).setComponent((axis + 2) % 3, 0).setComponent(axis, 1);
        along.applyQuaternion(turn.set(x, y, z, w).normalize());
        stick(mesh, k, from, along, this.data.length, 0.05 * this.data.length);
      }
      mesh.instanceMatrix.needsUpdate = true;
    });
  }
}

// Semiaxes along the axes of poses, as of `Frames`.
class Ellipsoids extends Overlay {
  constructor(data, array, size) {
    super(data, array, size);
    [this.poses, this.semiaxes] = [array(data.poses), array(data.semiaxes)];
    this.shapes = instances(SPHERE, data.color, data.count);
    throughBodies(this.shapes);
    Object.assign(this.shapes.material, { opacity: 0.45, depthWrite: false });
    this.root.add(this.shapes);
  }

  set(t) {
    const poses = this.row(this.poses, 7 * this.data.count, t);
    const [from, turn, size] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3()];
    for (let k = 0; k < this.data.count; k++) {
      const [w, x, y, z] = poses.subarray(7 * k + 3, 7 * k + 7);
      size.fromArray(this.semiaxes, 3 * k);
      this.shapes.setMatrixAt(
        k, scratch[0].compose(from.fromArray(poses, 7 * k), turn.set(x, y, z, w).normalize(), size)
      );
    }
    this.shapes.instanceMatrix.needsUpdate = true;
  }
}

export const KINDS = { Arrows, Paths, Lines, Surfaces, Points, Frames, Ellipsoids };
