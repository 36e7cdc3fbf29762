import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { render } from "../../../server/src/messages/message";
import { discoverFiles } from "../../../server/src/workspace/discover";
import { TemporaryFolder } from "./folder";

describe("discovery of files", () => {
  let folder: TemporaryFolder;

  afterEach(() => folder.remove());

  async function found(paths: readonly string[], extensions?: readonly string[]): Promise<readonly string[]> {
    const { files, problems } = await discoverFiles(paths, {
      cwd: folder.path,
      ...(extensions ? { extensions } : {}),
    });
    assert.deepEqual(
      problems.map(({ message }) => render(message, "en")),
      [],
    );
    return files;
  }

  async function problems(paths: readonly string[]): Promise<string[]> {
    const result = await discoverFiles(paths, { cwd: folder.path });
    return result.problems.map(({ message }) => render(message, "en"));
  }

  it("walks folders in a stable order and takes Python only", async () => {
    folder = new TemporaryFolder({
      "b.py": "",
      "a/z.py": "",
      "a/B.py": "",
      "a/a.py": "",
      "notes.txt": "",
      "A.py": "",
    });
    assert.deepEqual(await found(["."]), ["A.py", "b.py", "a/B.py", "a/a.py", "a/z.py"]);
    assert.deepEqual(
      await found([folder.path]),
      ["A.py", "b.py", "a/B.py", "a/a.py", "a/z.py"].map((name) => folder.join(name)),
    );
  });

  it("takes what is named, whatever its ending, each file once", async () => {
    folder = new TemporaryFolder({ train: "", "a.py": "", "x/b.py": "" });
    assert.deepEqual(await found(["train", "a.py", "./a.py", ".", "x"]), ["train", "a.py", "x/b.py"]);
  });

  it("takes other endings when asked", async () => {
    folder = new TemporaryFolder({ "a.py": "", "b.ipynb": "" });
    assert.deepEqual(await found(["."], [".py", ".ipynb"]), ["a.py", "b.ipynb"]);
  });

  it("leaves virtual environments, installed packages, caches and hidden folders out", async () => {
    folder = new TemporaryFolder({
      "a.py": "",
      "env/pyvenv.cfg": "",
      "env/lib/x.py": "",
      "lib/site-packages/y.py": "",
      "node_modules/z.py": "",
      "__pycache__/c.py": "",
      ".hidden/h.py": "",
      ".dot.py": "",
    });
    assert.deepEqual(await found(["."]), ["a.py"]);
  });

  it("takes them when they are named themselves", async () => {
    folder = new TemporaryFolder({ "env/pyvenv.cfg": "", "env/x.py": "", ".hidden/h.py": "" });
    assert.deepEqual(await found(["env", ".hidden"]), ["env/x.py", ".hidden/h.py"]);
  });

  it("follows .gitignore, deeper files and exceptions included", async () => {
    folder = new TemporaryFolder({
      ".git/info/exclude": "excluded.py\n",
      ".gitignore": "build/\n*_generated.py\n/only_root.py\n",
      "a.py": "",
      "a_generated.py": "",
      "excluded.py": "",
      "only_root.py": "",
      "build/b.py": "",
      "sub/.gitignore": "local.py\n!keep_generated.py\n",
      "sub/keep_generated.py": "",
      "sub/local.py": "",
      "sub/only_root.py": "",
      "sub/deep/local.py": "",
    });
    assert.deepEqual(await found(["."]), ["a.py", "sub/keep_generated.py", "sub/only_root.py"]);
    assert.deepEqual(await found(["sub"]), ["sub/keep_generated.py", "sub/only_root.py"]);
    assert.deepEqual(await found(["a_generated.py"]), ["a_generated.py"], "what is named counts");
  });

  it("expands patterns as folders do", async () => {
    folder = new TemporaryFolder({
      ".git/HEAD": "",
      ".gitignore": "c.py\n",
      "x/a.py": "",
      "x/b.txt": "",
      "x/c.py": "",
      "y/a.py": "",
    });
    assert.deepEqual(await found(["**/*.py"]), ["x/a.py", "y/a.py"]);
    assert.deepEqual(await found([`${folder.path}/*/a.py`]), [folder.join("x/a.py"), folder.join("y/a.py")]);
    assert.deepEqual(await found(["[xy]"]), ["x/a.py", "y/a.py"]);
    assert.deepEqual(await found(["./{y,x}/a.*"]), ["x/a.py", "y/a.py"]);
    const below = await discoverFiles(["../y/*.py"], { cwd: folder.join("x") });
    assert.deepEqual(below.files, ["../y/a.py"]);
  });

  it("takes files whose names look like patterns", async () => {
    folder = new TemporaryFolder({ "a[1].py": "", "a1.py": "", "*.py": "" });
    assert.deepEqual(await found(["a[1].py", "*.py"]), ["a[1].py", "*.py"]);
  });

  it("does not follow links to folders, and takes a linked file once", async () => {
    folder = new TemporaryFolder({ "a/x.py": "" });
    symlinkSync("..", folder.join("a/loop"));
    symlinkSync("a", folder.join("again"));
    symlinkSync("a/x.py", folder.join("y.py"));
    assert.deepEqual(await found(["."]), ["y.py"]);
    assert.deepEqual(await found(["again"]), ["again/x.py"]);
  });

  it("walks a folder that is called like a file", async () => {
    folder = new TemporaryFolder({ "x.py/a.py": "", "empty.py/": "" });
    assert.deepEqual(await found(["."]), ["x.py/a.py"]);
    assert.deepEqual(await found(["empty.py"]), []);
  });

  it("reports what is missing and goes on", async () => {
    folder = new TemporaryFolder({ "a.py": "" });
    symlinkSync("nowhere.py", folder.join("dangling.py"));
    symlinkSync("self.py", folder.join("self.py"));
    const { files, problems: reported } = await discoverFiles(
      ["missing.py", "a.py", "none*.py", "dangling.py", "self.py"],
      {
        cwd: folder.path,
      },
    );
    assert.deepEqual(files, ["a.py"]);
    assert.deepEqual(
      reported.map(({ path: at, severity }) => [at, severity]),
      [
        ["missing.py", "error"],
        ["none*.py", "error"],
        ["dangling.py", "error"],
        ["self.py", "error"],
      ],
    );
    assert.match((await problems(["missing.py"]))[0] ?? "", /^missing\.py: there is no such file/);
    assert.match((await problems(["none*.py"]))[0] ?? "", /no Python file matches/);
    assert.match((await problems(["dangling.py"]))[0] ?? "", /link leads to a file that does not exist/);
    assert.deepEqual(await problems(["."]), [], "below a folder a link to nowhere hides no code");
  });

  it("writes hostile names out", async () => {
    folder = new TemporaryFolder();
    const [text] = await problems(["\u001b[31mred\n\u202e.py"]);
    assert.ok(text?.startsWith("\\x1b[31mred\\x0a\\u{202e}.py: "), text);
  });

  it("names what no text can name, and goes on", async () => {
    folder = new TemporaryFolder({ "a.py": "", "z.py": "" });
    for (const name of ["bad\xff.py", "dir\xff"]) {
      const bytes = Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from(name, "latin1")]);
      try {
        if (name.endsWith(".py")) writeFileSync(bytes, "");
        else mkdirSync(bytes);
      } catch {
        return; // A file system that has no such names.
      }
    }
    const { files, problems } = await discoverFiles(["."], { cwd: folder.path });
    assert.deepEqual(files, ["a.py", "z.py"]);
    const reasons = problems.map(({ message }) => render(message, "en"));
    assert.equal(reasons.length, 2);
    for (const reason of reasons) assert.match(reason, /a name that is not valid UTF-8 cannot be opened/);
  });

  it("takes names of any letters", async () => {
    folder = new TemporaryFolder({ "训练 скрипт.py": "", "a\nb.py": "", "-x.py": "" });
    assert.deepEqual(await found(["."]), ["-x.py", "a\nb.py", "训练 скрипт.py"]);
  });

  it("goes down deep folders", async () => {
    folder = new TemporaryFolder();
    const deep = Array.from({ length: 300 }, () => "d").join("/");
    folder.write(`${deep}/a.py`, "");
    assert.deepEqual(await found(["."]), [`${deep}/a.py`]);
  });
});
