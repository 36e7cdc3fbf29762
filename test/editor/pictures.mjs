/** Takes pictures of the window and presses keys in it when the suite, which sees no window, asks over HTTP. */
import { mkdirSync, writeFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { svgText, vectorPicture } from "./vector-picture.mjs";

/** Milliseconds to wait for something in the window. */
const timeout = 15_000;

export class PictureService {
  #page;
  #server;
  #folder;
  #walkthrough;
  #output;

  /** Folders of the documentation's pictures, of the walkthrough's, and of those that are for looking at after a run. */
  constructor({ folder, walkthrough, output }) {
    this.#folder = folder;
    this.#walkthrough = walkthrough;
    this.#output = output;
    for (const one of [folder, walkthrough, output]) mkdirSync(one, { recursive: true });
  }

  /** The address that the suite asks. */
  async start() {
    this.#server = http.createServer((request, response) => {
      this.#answer(new URL(request.url, "http://localhost").searchParams).then(
        (text) => response.end(text),
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

  /** A part of the window or of the panel, small enough to travel with the extension. */
  async #writeSmall(scope, name, clip) {
    const [x, y, width, height] = clip.split(",").map(Number);
    const picture = await scope.evaluate(vectorPicture, { x, y, width, height });
    writeFileSync(path.join(this.#walkthrough, `${path.basename(name)}.svg`), svgText(picture));
  }

  async #answer(wanted) {
    const page = this.#page;
    if (page === undefined) return undefined;
    const size = wanted.get("size");
    if (size !== null) {
      const [width, height] = size.split("x").map(Number);
      await page.setViewportSize({ width, height });
      // Beside the line numbers, where nothing shows a tooltip.
      await page.mouse.move(30, height - 40);
    }
    const content = { panel: "#panel > *", walkthrough: "body > svg, body h3" }[wanted.get("in")];
    const scope = content === undefined ? page : await this.#frameWith(content);
    const target = wanted.get("click");
    if (target !== null && (await scope.locator(target).count()) > 0)
      await scope.locator(target).first().click();
    await this.#handle(scope, wanted);
    const key = wanted.get("press");
    const watched = wanted.get("changed");
    if (watched !== null) return String(await this.#timeToChange(page, key, watched));
    if (key !== null) await page.keyboard.press(key);
    const visible = (selector) => scope.locator(selector).filter({ visible: true }).first();
    const selector = wanted.get("wait");
    if (selector !== null) await visible(selector).waitFor({ state: "visible", timeout });
    const gone = wanted.get("gone");
    if (gone !== null) await visible(gone).waitFor({ state: "hidden", timeout });
    const walkthrough = wanted.get("walkthrough");
    if (walkthrough !== null) await this.#writeSmall(scope, walkthrough, wanted.get("clip"));
    await this.#photograph(page, wanted);
    const read = wanted.get("read");
    if (read === null) return undefined;
    const attribute = wanted.get("attribute");
    const found = scope.locator(read).first();
    return attribute === null ? await found.innerText() : ((await found.getAttribute(attribute)) ?? "");
  }

  /** From the key's event in the window to the first frame with another number of what is watched; in milliseconds. */
  async #timeToChange(page, key, watched) {
    const waiting = await page.evaluateHandle(
      ([selector, limit]) => {
        const count = () => document.querySelectorAll(selector).length;
        const before = count();
        let start;
        addEventListener("keydown", () => (start ??= performance.now()), { capture: true, once: true });
        return {
          done: new Promise((resolve, reject) => {
            const end = performance.now() + limit;
            const look = () => {
              if (start !== undefined && count() !== before) resolve(performance.now() - start);
              else if (performance.now() > end) reject(new Error(`${selector} stay ${before}`));
              else requestAnimationFrame(look);
            };
            look();
          }),
        };
      },
      [watched, timeout],
    );
    await page.keyboard.press(key);
    return await waiting.evaluate(({ done }) => done);
  }

  /** What a person does to a control of the panel. */
  async #handle(scope, wanted) {
    const value = wanted.get("value") ?? "";
    const field = wanted.get("fill");
    if (field !== null) await scope.locator(field).fill(value);
    const list = wanted.get("select");
    if (list !== null) await scope.locator(list).selectOption(value);
    const focused = wanted.get("focus");
    if (focused !== null) await scope.locator(focused).focus();
    const pointed = wanted.get("hover");
    if (pointed === null) return;
    const [x, y] = value.split(",").map(Number);
    const box = await scope.locator(pointed).boundingBox();
    await scope.locator(pointed).hover({ position: { x: x * box.width, y: y * box.height } });
  }

  /** Pages of webviews lie in a frame of VS Code's frame; one that was hidden has a new one. */
  async #frameWith(content) {
    const end = Date.now() + timeout;
    while (Date.now() < end) {
      for (const frame of this.#page.frames().slice(1)) {
        const isMeant = await frame
          .locator(content)
          .filter({ visible: true })
          .count()
          .then(
            (count) => count > 0,
            () => false,
          );
        if (isMeant) return frame;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`no page has ${content}`);
  }

  async #photograph(page, wanted) {
    const name = wanted.get("picture") ?? wanted.get("look");
    if (name === null) return;
    const folder = wanted.has("picture") ? this.#folder : this.#output;
    await page.screenshot({
      path: path.join(folder, `${path.basename(name)}.png`),
      animations: "disabled",
      caret: "hide",
    });
  }
}
