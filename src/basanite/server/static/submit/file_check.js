// Looks at a file before it is uploaded: what its first bytes are against what the task takes. It never blocks what the
// server would take: it refuses only empty and too large files, which the server refuses whatever they hold.
const START = 65536, WHOLE_JSON = 2 ** 22;
const MAGIC = [
  ["gzip", [0x1f, 0x8b]], ["zip", [0x50, 0x4b, 0x03, 0x04]], ["zip", [0x50, 0x4b, 0x05, 0x06]],
  ["bzip2", [0x42, 0x5a, 0x68]], ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a]], ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["seven", [0x37, 0x7a, 0xbc, 0xaf]], ["rar", [0x52, 0x61, 0x72, 0x21]], ["pdf", [0x25, 0x50, 0x44, 0x46]],
  ["picture", [0x89, 0x50, 0x4e, 0x47]], ["picture", [0xff, 0xd8, 0xff]], ["office", [0xd0, 0xcf, 0x11, 0xe0]],
  ["parquet", [0x50, 0x41, 0x52, 0x31]], ["numpy", [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]], ["hdf5", [0x89, 0x48, 0x44, 0x46]],
  ["utf16", [0xff, 0xfe]], ["utf16", [0xfe, 0xff]],
];
const FINE = { text: ["", "gzip", "zip", "parquet", "numpy"], archive: ["gzip"] };
const ENDINGS = { ".gz": "gzip", ".tgz": "gzip", ".zip": "zip", ".npz": "zip", ".parquet": "parquet", ".npy": "numpy" };

// What is wrong with a file: {refused: code} where the server is sure to refuse it, else {cautions: [[code, values]]}.
export async function checkFile(file, { largest, content }) {
  if (!file.size) return { refused: "empty", cautions: [] };
  if (file.size > largest) return { refused: "large", cautions: [] };
  const bytes = new Uint8Array(await file.slice(0, START).arrayBuffer());
  const kind = kindOf(bytes);
  const unfit = ofKind(kind, content, bytes);
  const cautions = unfit.length ? unfit : ofEnding(file.name, kind, bytes);
  if (!cautions.length && kind === "" && content === "text") cautions.push(...await ofText(file, bytes));
  return { cautions };
}

function kindOf(bytes) {
  const found = MAGIC.find(([, magic]) => magic.every((byte, at) => bytes[at] === byte))?.[0] ?? "";
  const first = found === "zip" ? new TextDecoder("latin1").decode(bytes.slice(30, 49)) : "";
  return first === "[Content_Types].xml" ? "office" : found;
}

function ofEnding(name, kind, bytes) {
  const ending = /\.[A-Za-z0-9]+$/.exec(name)?.[0].toLowerCase() ?? "", promised = ENDINGS[ending];
  return promised && promised !== kind && kind !== "office" ? [["ending", { ending, kind: shown(kind, bytes) }]] : [];
}

function ofKind(kind, content, bytes) {
  if (!FINE[content] || FINE[content].includes(kind)) return [];
  return [[content === "archive" ? "archive" : "kind", { kind: shown(kind, bytes) }]];
}

function shown(kind, bytes) {
  return kind === "" && !bytes.includes(0) && decoded(bytes, true) !== null ? "text" : kind;
}

async function ofText(file, bytes) {
  if (bytes.includes(0)) return [["binary", {}]];
  const text = decoded(bytes, bytes.length < file.size);
  if (text === null) return [["utf8", { line: brokenLine(bytes) }]];
  if (!text.trim()) return file.size > START ? [] : [["blank", {}]];
  return ofJson(file, text, bytes.length === file.size);
}

function decoded(bytes, cut) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut });
  } catch {
    return null;
  }
}

// The line of the first bytes that are no UTF-8: the decoder puts U+FFFD there.
function brokenLine(bytes) {
  return new TextDecoder().decode(bytes).split("\ufffd", 1)[0].split("\n").length;
}

async function ofJson(file, text, whole) {
  const lines = /\.(jsonl|ndjson)$/i.test(file.name), one = /\.json$/i.test(file.name);
  const [first, ...rest] = text.trimStart().split("\n");
  if (lines) return rest.length || whole ? faultIn(first, "json-line") : [];
  if (!one || isJson(first) || file.size > WHOLE_JSON) return [];
  return faultIn(await file.text(), "json");
}

function isJson(text) {
  return !faultIn(text, "").length;
}

function faultIn(text, code) {
  try {
    JSON.parse(text.replace(/^\ufeff/, ""));
    return [];
  } catch (error) {
    return /\b(NaN|Infinity)\b/.test(text) ? [] : [[code, { fault: error.message }]];
  }
}
