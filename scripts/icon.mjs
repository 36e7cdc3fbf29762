/**
 * `npm run icon`: renders `docs/images/icon.svg` to the `icon.png` of the marketplace, with the browser of the editor
 * tests. `--sheet FILE` leaves a picture of it at 32, 64 and 128 pixels on light and on dark instead.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { chromium, installRuntime, requireFromRuntime } from "../test/editor/install.mjs";
import { root } from "./tasks.mjs";

/** The marketplace shows it at 128; screens with two pixels for one want twice that. */
const size = 256;

const { values: options } = parseArgs({ options: { sheet: { type: "string" } } });
const svg = readFileSync(path.join(root, "docs/images/icon.svg"), "utf8");

await installRuntime(console.log);
const { executable, env } = chromium();
const { chromium: browserType } = requireFromRuntime("playwright-core");
const browser = await browserType.launch({
  executablePath: executable,
  env: { ...process.env, ...env },
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const page = await browser.newPage();
  if (options.sheet === undefined) await renderIcon(page, path.join(root, "icon.png"));
  else await renderSheet(page, options.sheet);
} finally {
  await browser.close();
}

async function renderIcon(page, file) {
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${svg}`);
  await page.screenshot({ path: file, omitBackground: true });
}

async function renderSheet(page, file) {
  const row = (background) =>
    `<div style="background: ${background}; padding: 24px; display: flex; gap: 24px; align-items: center">` +
    [32, 64, 128].map((width) => `<div style="width: ${width}px">${svg}</div>`).join("") +
    "</div>";
  await page.setViewportSize({ width: 360, height: 352 });
  await page.setContent(
    `<style>body { margin: 0 } svg { display: block }</style>${row("#fff")}${row("#1e1e1e")}`,
  );
  await page.screenshot({ path: file });
}
