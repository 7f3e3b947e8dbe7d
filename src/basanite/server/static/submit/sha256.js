// SHA-256 of a file in pieces, in a worker of its own, so that a file of gigabytes is never held in memory.
const K = new Uint32Array(64);
const START = new Uint32Array(8);

function primes(count) {
  const found = [];
  for (let number = 2; found.length < count; number++) {
    if (found.every((prime) => number % prime)) found.push(number);
  }
  return found;
}

primes(64).forEach((prime, index) => {
  if (index < 8) START[index] = (Math.sqrt(prime) % 1) * 2 ** 32;
  K[index] = (Math.cbrt(prime) % 1) * 2 ** 32;
});

export class Sha256 {
  constructor() {
    this.state = START.slice();
    this.words = new Uint32Array(64);
    this.rest = new Uint8Array(64);
    this.filled = 0;
    this.size = 0;
  }

  update(bytes) {
    this.size += bytes.length;
    let at = 0;
    if (this.filled) {
      at = Math.min(64 - this.filled, bytes.length);
      this.rest.set(bytes.subarray(0, at), this.filled);
      this.filled += at;
      if (this.filled < 64) return this;
      this.block(this.rest, 0);
      this.filled = 0;
    }
    for (; at + 64 <= bytes.length; at += 64) this.block(bytes, at);
    this.rest.set(bytes.subarray(at));
    this.filled = bytes.length - at;
    return this;
  }

  block(bytes, at) {
    const words = this.words;
    for (let index = 0; index < 16; index++, at += 4) {
      words[index] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
    for (let index = 16; index < 64; index++) {
      const early = words[index - 15], late = words[index - 2];
      const small = ((early >>> 7) | (early << 25)) ^ ((early >>> 18) | (early << 14)) ^ (early >>> 3);
      const large = ((late >>> 17) | (late << 15)) ^ ((late >>> 19) | (late << 13)) ^ (late >>> 10);
      words[index] = words[index - 16] + small + words[index - 7] + large;
    }
    let [a, b, c, d, e, f, g, h] = this.state;
    for (let index = 0; index < 64; index++) {
      const mixed = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const first = (h + mixed + ((e & f) ^ (~e & g)) + K[index] + words[index]) | 0;
      const turned = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const second = (turned + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + first) | 0;
      d = c; c = b; b = a; a = (first + second) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((value, index) => { this.state[index] += value; });
  }

  hex() {
    const bits = this.size * 8, tail = new Uint8Array(this.filled < 56 ? 64 : 128);
    tail.set(this.rest.subarray(0, this.filled));
    tail[this.filled] = 0x80;
    const view = new DataView(tail.buffer);
    view.setUint32(tail.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(tail.length - 4, bits >>> 0);
    for (let at = 0; at < tail.length; at += 64) this.block(tail, at);
    return Array.from(this.state, (word) => word.toString(16).padStart(8, "0")).join("");
  }
}

const PIECE = 4 * 2 ** 20;

if (typeof WorkerGlobalScope !== "undefined") {
  self.addEventListener("message", async ({ data: file }) => {
    const digest = new Sha256();
    for (let at = 0; at < file.size; at += PIECE) {
      digest.update(new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer()));
      self.postMessage({ read: Math.min(at + PIECE, file.size) });
    }
    self.postMessage({ digest: digest.hex() });
  });
}
