// Coarse copies of shapes, for moving pictures without a graphics card: the corners within a cell of a grid become one.

import * as THREE from "three";

export const MOST = 12000; // triangles of all shapes together
const FEW = 200; // triangles of a shape that stays as it is

function area(geometry) {
  const [{ position }, index] = [geometry.attributes, geometry.index];
  const triangle = new THREE.Triangle();
  let sum = 0;
  for (let k = 0; k < index.count; k += 3) {
    sum += triangle.setFromAttributeAndIndices(position, ...index.array.subarray(k, k + 3)).getArea();
  }
  return sum;
}

// Corners in a cell have one place, that of the first of them; with one for each direction of normals edges stay sharp.
function clustered(geometry, size) {
  const { position, normal, uv } = geometry.attributes;
  geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox;
  const [ny, nz] = [1 + Math.floor((max.y - min.y) / size), 1 + Math.floor((max.z - min.z) / size)];
  const [cells, corners] = [new Map(), new Map()];
  const [cellOf, cornerOf] = [new Uint32Array(position.count), new Uint32Array(position.count)];
  const [places, normals, images] = [[], [], []];
  const at = (x, low) => Math.floor((x - low) / size);
  for (let v = 0; v < position.count; v++) {
    const [x, y, z] = [position.getX(v), position.getY(v), position.getZ(v)];
    const cell = (at(x, min.x) * ny + at(y, min.y)) * nz + at(z, min.z);
    if (!cells.has(cell)) cells.set(cell, [cells.size, x, y, z]);
    const [number, ...place] = cells.get(cell);
    const n = [normal.getX(v), normal.getY(v), normal.getZ(v)];
    const corner = number * 27 + n.reduce((sum, c) => 3 * sum + Math.round(c) + 1, 0);
    if (!corners.has(corner)) {
      corners.set(corner, corners.size);
      places.push(...place);
      normals.push(...n);
      if (uv) images.push(uv.getX(v), uv.getY(v));
    }
    [cellOf[v], cornerOf[v]] = [number, corners.get(corner)];
  }
  const [faces, known] = [[], new Set()];
  for (let k = 0; k < geometry.index.count; k += 3) {
    const face = geometry.index.array.subarray(k, k + 3);
    const [a, b, c] = Array.from(face, (v) => cellOf[v]).sort((one, other) => one - other);
    const key = (a * cells.size + b) * cells.size + c;
    if (a === b || b === c || known.has(key)) continue;
    known.add(key);
    for (const v of face) faces.push(cornerOf[v]);
  }
  const coarse = new THREE.BufferGeometry();
  coarse.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
  coarse.setAttribute("normal", new THREE.Float32BufferAttribute(normals, 3));
  if (uv) coarse.setAttribute("uv", new THREE.Float32BufferAttribute(images, 2));
  coarse.setIndex(faces);
  return coarse;
}

// The copy of each geometry of the objects, with cells so large that few enough triangles remain.
export function coarsened(objects) {
  const uses = new Map();
  for (const { geometry } of objects) uses.set(geometry, (uses.get(geometry) ?? 0) + 1);
  const large = [...uses.keys()].filter((geometry) => geometry.index.count > 3 * FEW);
  let size = Math.sqrt((2.3 * large.reduce((sum, geometry) => sum + uses.get(geometry) * area(geometry), 0)) / MOST);
  const copies = new Map();
  for (let turn = 0; turn < 6 && large.length; turn++, size *= 1.25) {
    let count = 0;
    for (const geometry of large) {
      copies.get(geometry)?.dispose();
      copies.set(geometry, clustered(geometry, size));
      count += (uses.get(geometry) * copies.get(geometry).index.count) / 3;
    }
    if (count <= MOST) break;
  }
  return copies;
}
