/** What the extension's package is made of, by size: printed by `npm run package`, held by a test. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { deflateRawSync } from "node:zlib";

/** Bytes that a ZIP archive keeps about each file beside its name, which it keeps twice. */
const entryOverhead = 46 + 30 + 16;

const parts = [
  ["language server", /^dist\/(server|launch)\.js$/],
  ["extension", /^dist\/extension\.js$/],
  ["parser (WebAssembly)", /\.wasm$/],
  ["rules' pages", /^dist\/pages\//],
  ["memory timeline", /^dist\/panel\./],
  ["walkthrough's pictures", /^client\/walkthrough\//],
  ["everything else", /./],
];

/**
 * @param {string} root the folder that is packed
 * @param {readonly string[]} files paths in it
 * @returns {{ title: string, bytes: number }[]} packed sizes as a ZIP archive has them, largest first
 */
export function packageParts(root, files) {
  const sizes = new Map();
  for (const file of files) {
    const [title] = parts.find(([, pattern]) => pattern.test(file.replaceAll(path.sep, "/")));
    const packed = deflateRawSync(readFileSync(path.join(root, file))).length;
    const bytes = packed + entryOverhead + 2 * Buffer.byteLength(`extension/${file}`);
    sizes.set(title, (sizes.get(title) ?? 0) + bytes);
  }
  return [...sizes].map(([title, bytes]) => ({ title, bytes })).sort((a, b) => b.bytes - a.bytes);
}

/** @param {readonly { title: string, bytes: number }[]} sizes */
export function printParts(sizes) {
  for (const { title, bytes } of sizes) console.log(`${(bytes / 1024).toFixed(0).padStart(6)} KiB  ${title}`);
}
