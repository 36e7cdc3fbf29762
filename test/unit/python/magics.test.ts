import assert from "node:assert/strict";
import { blankCell, blankMagics } from "../../../server/src/python/magics";

describe("IPython's lines", () => {
  const same = (text: string): void => assert.equal(blankMagics(text), text);

  it("become comments of the same length", () => {
    assert.equal(
      blankMagics("%matplotlib inline\n!pip install torch\r\n?print\nmodel?\nmodel.fit??\nx = 1\n"),
      "#                 \n#                 \r\n#     \n#     \n#          \nx = 1\n",
    );
    assert.equal(
      blankMagics("files = !ls\nt = %timeit -o f()\n"),
      `#${" ".repeat(10)}\n#${" ".repeat(17)}\n`,
    );
  });

  it("leave a block that they are all of with a statement", () => {
    assert.equal(blankMagics("if colab:\n    !pip install x\n"), "if colab:\n    pass          \n");
  });

  it("go on over lines joined by a backslash", () => {
    assert.equal(
      blankMagics("!pip install \\\n  torch \\\n  numpy\nx = 1\n")
        .match(/[a-z]+/g)
        ?.join(),
      "pass,pass,x",
    );
  });

  it("are looked for at the beginning of a statement only", () => {
    same('print("%d"\n      % x)\n');
    same('text = """\n%s\n!no\nreally?\n"""\n');
    same("y = x \\\n  % 3\n");
    same("d = {\n  'a': 1,  # it's (\n}\nz = 5 % 3\n");
    same("s = 'it\\'s ('\nx != y\na = b == c\n");
    assert.equal(blankMagics("s = '('  # (\n%time x\n"), "s = '('  # (\n#      \n");
    assert.equal(blankMagics("''' a '''\n!ls\n"), "''' a '''\n#  \n");
  });

  it("take a cell magic's Python for Python and anything else for none", () => {
    assert.equal(blankCell("%%time\nx = 1\n"), "#     \nx = 1\n");
    assert.equal(blankCell("%%bash\nif x; then\n  y\nfi"), "#     \n#         \n  #\n# ");
    assert.equal(blankCell("\n%%writefile a.py\nimport torch\n"), "\n#               \n#           \n");
  });

  it("keep the length of any text", () => {
    for (const text of ["", "\n\n", "%", "  !", "\t%x\n", "\r\n%a\r%b\n", "((((\n%x", "'''\n%x"]) {
      assert.equal(blankCell(text).length, text.length, JSON.stringify(text));
      assert.equal(blankMagics(text).length, text.length, JSON.stringify(text));
    }
  });
});
