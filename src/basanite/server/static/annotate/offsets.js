// Browsers count UTF-16 units; records count code points, as Python does. This is the one place where they meet.
export class Offsets {
  constructor(text) {
    this.pairs = [];
    for (let at = 0; at < text.length - 1; at += 1) {
      if (isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1))) this.pairs.push(at++);
    }
  }

  // How many code points stand before a UTF-16 offset; inside a pair this is where the pair begins.
  points(unit) {
    return unit - below(this.pairs.length, (at) => this.pairs[at] < unit);
  }

  // Where in UTF-16 a code point begins.
  units(point) {
    return point + below(this.pairs.length, (at) => this.pairs[at] - at < point);
  }
}

// The number of leading places for which something holds that holds for no later one.
function below(length, holds) {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1; else high = middle;
  }
  return low;
}

const isHigh = (code) => code >= 0xd800 && code <= 0xdbff;
const isLow = (code) => code >= 0xdc00 && code <= 0xdfff;
