// Geometries and materials of the parts.

import * as THREE from "three";

export function geometryOf(mesh, array) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(array(mesh.vertices), 3));
  geometry.setIndex(new THREE.BufferAttribute(array(mesh.faces), 1));
  geometry.computeVertexNormals(); // corners are shared by smooth surfaces only
  if (mesh.uv) geometry.setAttribute("uv", new THREE.BufferAttribute(array(mesh.uv), 2));
  return geometry;
}

export const srgb = (c) => new THREE.Color().setRGB(c[0], c[1], c[2], THREE.SRGBColorSpace);

export function materialOf(color, texture, opacity = 1) {
  const alpha = (color[3] ?? 1) * opacity;
  return new THREE.MeshPhongMaterial({
    color: srgb(color),
    map: texture ?? null,
    specular: 0x3a3a3a, // 0.04, of plastics
    shininess: 11.5, // a roughness of 0.62
    transparent: alpha < 1,
    opacity: alpha,
    depthWrite: alpha > 0.6,
    side: THREE.DoubleSide, // meshes of robot files are often open or turned inside out
  });
}

export async function textureOf(url) {
  const texture = await new THREE.TextureLoader().loadAsync(url);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  return texture;
}
