// The arrays of the file: gzip in base64, at offsets that the description names.

const TYPES = { f4: Float32Array, u2: Uint16Array, u4: Uint32Array, i2: Int16Array, u1: Uint8Array };

export async function unpack(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = characters.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  return (entry) => {
    const raw = new TYPES[entry.type](buffer, entry.offset, entry.length);
    if (!entry.scale) return raw;
    // Quantized columns: value = origin + scale * integer.
    const n = entry.scale.length;
    const values = new Float32Array(raw.length);
    for (let k = 0; k < raw.length; k++) values[k] = entry.origin[k % n] + entry.scale[k % n] * raw[k];
    return values;
  };
}
