/** Takes pictures of the window and presses keys in it when the suite, which sees no window, asks over HTTP. */
import { mkdirSync } from "node:fs";
import http from "node:http";
import path from "node:path";

/** Milliseconds to wait for something in the window. */
const timeout = 15_000;

export class PictureService {
  #page;
  #server;
  #folder;

  constructor(folder) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** The address that the suite asks. */
  async start() {
    this.#server = http.createServer((request, response) => {
      this.#answer(new URL(request.url, "http://localhost").searchParams).then(
        () => response.end(),
        (error) => response.writeHead(500).end(String(error)),
      );
    });
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${this.#server.address().port}/`;
  }

  use(page) {
    this.#page = page;
  }

  stop() {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  async #answer(wanted) {
    const page = this.#page;
    if (page === undefined) return;
    const size = wanted.get("size");
    if (size !== null) {
      const [width, height] = size.split("x").map(Number);
      await page.setViewportSize({ width, height });
      // Beside the line numbers, where nothing shows a tooltip.
      await page.mouse.move(30, height - 40);
    }
    const target = wanted.get("click");
    if (target !== null && (await page.locator(target).count()) > 0)
      await page.locator(target).first().click();
    const key = wanted.get("press");
    if (key !== null) await page.keyboard.press(key);
    const visible = (selector) => page.locator(selector).filter({ visible: true }).first();
    const selector = wanted.get("wait");
    if (selector !== null) await visible(selector).waitFor({ state: "visible", timeout });
    const gone = wanted.get("gone");
    if (gone !== null) await visible(gone).waitFor({ state: "hidden", timeout });
    const name = wanted.get("picture");
    if (name === null) return;
    await page.screenshot({
      path: path.join(this.#folder, `${path.basename(name)}.png`),
      animations: "disabled",
      caret: "hide",
    });
  }
}
