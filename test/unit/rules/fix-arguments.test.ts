/** Arguments taken out of calls and put into them, in every layout. */
import assert from "node:assert/strict";
import { appendArgument, applyEdits, deleteArgument } from "../../../server/src/rules/fix";
import type { Call } from "../../../server/src/python/tree";
import { loadParser } from "../../support/parser";
import { examine } from "../../support/torch";

/** The first call of `f` in a text. */
function callOf(text: string): {
  readonly call: Call;
  readonly source: ReturnType<typeof examine>["source"];
} {
  const { torch, source } = examine(text);
  const call = torch.resolve.index.callsByName.get("f")?.[0];
  assert.ok(call);
  return { call, source };
}

function without(text: string): string {
  const { call, source } = callOf(text);
  const argument = call.keywords.find(({ name }) => name.id === "k");
  assert.ok(argument);
  return applyEdits(text, [deleteArgument(source, call, argument)]);
}

function withArgument(text: string): string | undefined {
  const { call, source } = callOf(text);
  const edit = appendArgument(source, call, "k=1");
  return edit && applyEdits(text, [edit]);
}

describe("arguments of calls", () => {
  before(loadParser);

  it("are deleted with their comma", () => {
    const cases: readonly (readonly [string, string])[] = [
      ["f(k=1)\n", "f()\n"],
      ["f(a, k=1)\n", "f(a)\n"],
      ["f(k=1, b=2)\n", "f(b=2)\n"],
      ["f(a, k=1, b=2)\n", "f(a, b=2)\n"],
      ["f(\n    a,\n    k=1,\n)\n", "f(\n    a,\n)\n"],
      ["f(\n    k=1,\n    b=2,\n)\n", "f(\n    b=2,\n)\n"],
      ["f(\n    k=1,\n)\n", "f()\n"],
      ["f(a, k=(1, 2), **c)\n", "f(a, **c)\n"],
      ["f(\n    k=1,  # why\n)\n", "f(\n    # why\n)\n"],
    ];
    for (const [before, after] of cases) assert.equal(without(before), after, before);
  });

  it("are appended behind the last one", () => {
    const cases: readonly (readonly [string, string | undefined])[] = [
      ["f()\n", "f(k=1)\n"],
      ["f(a)\n", "f(a, k=1)\n"],
      ["f(a, (b))\n", "f(a, (b), k=1)\n"],
      ["f(a, *b)\n", "f(a, *b, k=1)\n"],
      ["f(\n    a,\n    b,\n)\n", "f(\n    a,\n    b, k=1,\n)\n"],
      ["f(a, b,  # why\n)\n", "f(a, b, k=1,  # why\n)\n"],
      ["f(a, c=(2))\n", "f(a, c=(2), k=1)\n"],
      ["f(x for x in y)\n", undefined],
    ];
    for (const [before, after] of cases) assert.equal(withArgument(before), after, before);
  });
});
