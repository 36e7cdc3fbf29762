import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { makeObjectsYoung } from "../../../server/src/launch/collector";

describe("the collection of garbage", () => {
  it("is set up where V8 is known, and left alone elsewhere", () => {
    assert.equal(makeObjectsYoung(), true);
    assert.equal(makeObjectsYoung("13.6.233.17-electron.0"), true);
    assert.equal(makeObjectsYoung("10.2.154.26-node.36"), false);
    assert.equal(makeObjectsYoung("99.1.0"), false);
    assert.equal(makeObjectsYoung("unheard of"), false);
  });

  it("is set up by a flag that this V8 knows: it complains about others", () => {
    const setting = (flag: string): string =>
      spawnSync(process.execPath, ["-e", `require("v8").setFlagsFromString("${flag}")`], { encoding: "utf8" })
        .stderr;
    assert.notEqual(setting("--no-such-flag-of-v8"), "");
    assert.equal(setting("--no-allocation-site-pretenuring"), "");
  });
});
