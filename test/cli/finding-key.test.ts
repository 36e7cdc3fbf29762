import assert from "node:assert/strict";
import { fingerprint, keysOf, keyText } from "../../server/src/cli/finding-key";
import type { FindingKey } from "../../server/src/cli/finding-key";
import { message } from "../../server/src/messages/message";
import { parseModule } from "../../server/src/python/parse";
import type { Finding } from "../../server/src/rules/rule";
import { loadParser } from "../support/parser";

/** Keys of findings at every `@` of a text, which is taken out first. */
function keysAt(marked: string): FindingKey[] {
  const offsets: number[] = [];
  const text = marked.replace(/@/g, (_, offset: number) => {
    offsets.push(offset - offsets.length);
    return "";
  });
  const parsed = parseModule(text);
  const findings = offsets.map((start): Finding => {
    const empty = message({ en: "", "zh-cn": "" });
    const span = { start, end: start + 1 };
    return { rule: "rule", level: "error", span, message: empty, related: [], fixes: [] };
  });
  return keysOf(parsed.module, parsed.source, findings);
}

const keyAt = (marked: string): [string, string] => {
  const [key] = keysAt(marked);
  assert.ok(key);
  return [key.function, key.statement];
};

describe("the key of a finding", () => {
  before(loadParser);

  it("names the statement and what is around it", () => {
    assert.deepEqual(keyAt("x = @f(1)\n"), ["", "x=f(1)"]);
    assert.deepEqual(keyAt("class A:\n  def f(self):\n    def g():\n      return @x\n"), [
      "A.f.g",
      "return x",
    ]);
    assert.deepEqual(keyAt("async def f():\n  async with @g() as h:\n    pass\n"), [
      "f",
      "async with g()as h:",
    ]);
    assert.deepEqual(keyAt("@@d(1)\ndef f(x, y = 2):\n  pass\n".replace("@@", "@")), ["", "d(1)"]);
    assert.deepEqual(keyAt("if a:\n  pass\nelif @b:\n  c()\n"), ["", "elif b:"]);
  });

  it("leaves comments and layout out, but not what strings hold", () => {
    const one = keyAt("f(@a, b=[1, 2], c='x  # y', d=not e)\n");
    const other = keyAt("f( @a ,  # note\n  b = [\n    1, 2,\n  ],\n  c='x  # y', \\\n  d=not   e,\n)\n");
    assert.deepEqual(one, other);
    assert.equal(one[1], "f(a,b=[1,2],c='x  # y',d=not e)");
    assert.equal(keyAt('x = @"""a\n  b""" % f\'{y}\'\n')[1], 'x="""a\n  b"""%f\'{y}\'');
    assert.deepEqual(
      keyAt('x = @"""a\r\n  b"""\r\n'),
      keyAt('x = @"""a\n  b"""\n'),
      "git may change line ends",
    );
    assert.notEqual(keyAt("@return x\n")[1], keyAt("@returnx\n")[1]);
  });

  it("is the comment for a finding in one", () => {
    assert.deepEqual(keyAt("def f():\n  x = 1  # vram:   @ignore[a]\n")[1], "# vram: ignore[a]");
    assert.deepEqual(keyAt("# vram: @x=1\nimport torch\n"), ["", "# vram: x=1"]);
  });

  it("counts equals in order", () => {
    const keys = keysAt("@a()\nb()\n@a()\ndef f():\n  @a()\n  @a()\n");
    assert.deepEqual(
      keys.map(({ function: name, occurrence }) => [name, occurrence]),
      [
        ["", 1],
        ["", 2],
        ["f", 1],
        ["f", 2],
      ],
    );
    assert.equal(new Set(keys.map(keyText)).size, 4);
    assert.equal(new Set(keys.map((key) => fingerprint(key))).size, 4);
    assert.notEqual(fingerprint(keys[0]!, "a"), fingerprint(keys[0]!, "b"));
  });

  it("shortens long statements without mixing them up", () => {
    const long = (end: string): string => keyAt(`x = [@${"1, ".repeat(5000)}${end}]\n`)[1];
    assert.ok(long("2").length < 200);
    assert.notEqual(long("2"), long("3"));
    const huge = keyAt(`x = @f("""${"a b\n".repeat(300_000)}""")\n`)[1];
    assert.ok(huge.length < 200);
  });

  it("is there for broken source and empty places too", () => {
    for (const marked of ["@", "x = (@\n", "def @(:\n", "\n\n@\n", `${"(".repeat(20_000)}@`, "@)"]) {
      assert.equal(keysAt(marked).length, 1);
    }
  });
});
