/** The built programs with the compiled code of earlier runs: whatever is in its folder, they do the same. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { TemporaryFolder } from "../unit/workspace/folder";
import { flawed } from "./run";

const program = path.join(process.env["VRAMLINT_DIST"] ?? path.join(__dirname, "../../dist"), "cli.js");

describe("compiled code", function () {
  let folder: TemporaryFolder;

  before(function () {
    if (!existsSync(program)) this.skip();
  });
  beforeEach(() => (folder = new TemporaryFolder({ "a.py": flawed })));
  afterEach(() => folder.remove());

  /** Its output, which is that of a run that keeps nothing. */
  function checked(env: Readonly<Record<string, string>>): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, "check", "--format", "json"], {
      cwd: folder.path,
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", ...env },
    });
    assert.equal(status, 1, stderr);
    assert.equal(stderr, "");
    return stdout;
  }

  const home = (): Readonly<Record<string, string>> => ({
    HOME: folder.join("home"),
    LOCALAPPDATA: folder.join("home"),
  });
  const kept = (): string[] =>
    readdirSync(folder.path, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".bin"))
      .map((file) => folder.join(file));

  /** The only file. */
  function keptFile(): string {
    const [file, ...others] = kept();
    assert.ok(file !== undefined && others.length === 0, `${others.length} others`);
    return file;
  }

  it("is kept by the first run and taken by the second", () => {
    const alone = checked({});
    assert.deepEqual(kept(), []);
    assert.equal(checked(home()), alone);
    const file = keptFile();
    if (process.platform !== "win32") {
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700);
    }
    const written = readFileSync(file);
    assert.ok(written.length > 500_000, `${written.length} bytes`);
    assert.equal(checked(home()), alone);
    // What V8 refuses is written anew, never byte for byte the same: the head has the run's time.
    assert.ok(readFileSync(keptFile()).equals(written));
  });

  it("that is damaged is left alone and written anew", () => {
    const alone = checked(home());
    const file = keptFile();
    const whole = readFileSync(file);
    const damages: Readonly<Record<string, () => void>> = {
      "cut off": () => truncateSync(file, whole.length / 2),
      empty: () => truncateSync(file, 0),
      "one byte changed": () => {
        const damaged = Buffer.from(whole);
        damaged[whole.length - 1_000] = (damaged[whole.length - 1_000] ?? 0) ^ 0xff;
        writeFileSync(file, damaged);
      },
      "something else": () => writeFileSync(file, "no code"),
    };
    for (const [name, damage] of Object.entries(damages)) {
      damage();
      const damaged = readFileSync(file);
      assert.equal(checked(home()), alone, name);
      assert.ok(!readFileSync(keptFile()).equals(damaged), name);
    }
  });

  it("is not kept where Node's variable forbids it", () => {
    checked({ ...home(), NODE_DISABLE_COMPILE_CACHE: "1" });
    assert.deepEqual(kept(), []);
  });

  it("that cannot be kept is not spoken of", () => {
    const alone = checked({});
    folder.write("home", "a file");
    assert.equal(checked(home()), alone);
  });

  it("is kept for some versions only", () => {
    for (let index = 0; index < 12; index++) folder.write(`home/.cache/vramlint/${index}.bin`, "old");
    checked({ HOME: folder.join("home"), XDG_CACHE_HOME: folder.join("home/.cache") });
    const left = kept();
    if (process.platform === "linux") assert.equal(left.length, 8);
    assert.ok(left.some((file) => statSync(file).size > 500_000));
  });

  it("is of no use to another version of the program", () => {
    const copy = folder.join("dist");
    cpSync(path.dirname(program), copy, { recursive: true });
    const version = (): string => {
      const { stdout } = spawnSync(process.execPath, [path.join(copy, "cli.js"), "--version"], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", ...home() },
      });
      return stdout.trim();
    };
    const first = version();
    const bundle = path.join(copy, "program.js");
    const source = readFileSync(bundle, "utf8");
    // Of the same length, which is all that V8 looks at.
    const other = first.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10));
    assert.ok(source.includes(`"${first}"`), "the version stands in the bundle");
    writeFileSync(bundle, source.replaceAll(`"${first}"`, `"${other}"`));
    assert.equal(version(), other);
  });
});
