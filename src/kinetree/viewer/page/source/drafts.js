// Materials of moving pictures without a graphics card, where the program of each pixel counts: lights and the colors of
// the screen are computed at corners. They show nearly what those of pictures at rest do.

import * as THREE from "three";

const VERTEX = `
#include <common>
#include <colorspace_pars_fragment>
uniform vec3 color, sky, ground, sun, toward;
varying vec3 vFront, vBack;
varying vec2 vPlace;
vec3 lit(vec3 n) {
  vec3 light = mix(ground, sky, 0.5 * n.y + 0.5) + sun * max(dot(n, toward), 0.0);
  return sRGBTransferOETF(vec4(RECIPROCAL_PI * light * color, 1.0)).rgb;
}
void main() {
  vec3 n = normalize(mat3(modelMatrix) * normal);
  vFront = lit(n);
  vBack = lit(-n);
#ifdef IMAGE
  vPlace = uv;
#endif
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

const FRAGMENT = `
uniform float opacity;
varying vec3 vFront, vBack;
varying vec2 vPlace;
uniform sampler2D image;
void main() {
  vec3 shade = gl_FrontFacing ? vFront : vBack;
#ifdef IMAGE
  shade *= sqrt(texture2D(image, vPlace).rgb); // nearly the curve of sRGB
#endif
  gl_FragColor = vec4(shade, opacity);
}`;

// Like a material of a shape, under the lights of a stage.
export function draftOf(material, { sky, sun }) {
  const strong = (color, light) => ({ value: color.clone().multiplyScalar(light.intensity) });
  return new THREE.ShaderMaterial({
    uniforms: {
      color: { value: material.color },
      opacity: { value: material.opacity },
      image: { value: material.map },
      sky: strong(sky.color, sky),
      ground: strong(sky.groundColor, sky),
      sun: strong(sun.color, sun),
      toward: { value: sun.position.clone().sub(sun.target.position).normalize() },
    },
    defines: material.map ? { IMAGE: "" } : {},
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    side: material.side,
    transparent: material.transparent,
    depthWrite: material.depthWrite,
  });
}
