import assert from "node:assert/strict";
import { inLines } from "../../../server/src/messages/lines";
import { languages } from "../../../server/src/messages/message";
import { rules } from "../../../server/src/rules/registry";

describe("messages in lines", () => {
  it("have a line for each sentence", () => {
    assert.equal(inLines("It keeps `loss`. Detach it."), "It keeps `loss`.\nDetach it.");
    assert.equal(inLines("它保留了 `loss`。请分离它。"), "它保留了 `loss`。\n请分离它。");
  });

  it("are broken where long sentences pause, and short ones are left whole", () => {
    const reason = "each batch keeps the activations that a backward would need (≈ 4.25 GiB at batch 256)";
    const head = "`model(images)` builds a graph although nothing here calls backward:";
    assert.equal(inLines(`${head} ${reason}.`), `${head}\n${reason}.`);
    assert.equal(
      inLines("There is no `selct`; `select` is meant."),
      "There is no `selct`; `select` is meant.",
    );
  });

  it("are not broken inside of code, brackets, figures and names", () => {
    const whole = "`a. b` (see this. Or that) of 4.25 GiB and `with x():` e.g.torch";
    assert.equal(inLines(whole), whole);
  });

  it("say in lines what they say in one", () => {
    const squeezed = (text: string): string => text.replaceAll(/\s/g, "");
    for (const { name, messages } of rules)
      for (const text of Object.values(messages))
        for (const language of languages) {
          const lines = inLines(text[language]);
          assert.equal(squeezed(lines), squeezed(text[language]), name);
          for (const line of lines.split("\n")) assert.match(line, /^[^\s.,:;，。：；]/, name);
        }
  });
});
