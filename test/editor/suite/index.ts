/** VS Code calls `run` inside its extension host. The result goes to a file: a window's log is not for people. */
import { writeFileSync } from "node:fs";
import Mocha from "mocha";
import { setting } from "./editor";

export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: "bdd", timeout: 60_000, reporter: Collected });
  const wanted = process.env["VRAMLINT_SUITE_GREP"] ?? "";
  if (wanted !== "") mocha.fgrep(wanted);
  mocha.suite.emit("pre-require", globalThis, "", mocha);
  // In the browser VS Code saves by itself after a second: a test could not take its edits back.
  mocha.suite.beforeAll(() => setting("files.autoSave", "off"));
  // VS Code's own chat offers a "Fix" beside ours, sooner or later. An older VS Code does not know the setting.
  mocha.suite.beforeAll(() => setting("chat.disableAIFeatures", true).then(undefined, () => undefined));
  if (process.env["VRAMLINT_SUITE_PART"] === "smoke") await import("./smoke");
  else if (process.env["VRAMLINT_SUITE_LOCALE"] === "zh-cn") await import("./chinese");
  else await import("./english");
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  if (failures > 0) throw new Error(`${failures} failed`);
}

class Collected extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const lines: string[] = [];
    const failures: string[] = [];
    runner.on("pass", (test) => lines.push(`  ✔ ${test.fullTitle()} (${test.duration ?? 0} ms)`));
    runner.on("pending", (test) => lines.push(`  - ${test.fullTitle()}`));
    runner.on("fail", (test, error: Error) => {
      failures.push(test.fullTitle());
      lines.push(`  ✖ ${test.fullTitle()}\n${error.stack ?? error.message}`.replaceAll("\n", "\n      "));
    });
    runner.once("end", () => {
      const file = process.env["VRAMLINT_SUITE_RESULT"];
      if (file === undefined) return;
      const { passes, pending } = this.stats;
      const report = lines.join("\n");
      writeFileSync(
        file,
        JSON.stringify({ passed: passes, failed: failures.length, skipped: pending, failures, report }),
      );
    });
  }
}
