/** Where compiled code is kept, by environment and system. */
import assert from "node:assert/strict";
import { cacheFolder } from "../../../server/src/launch/cache-folder";

describe("the folder of compiled code", () => {
  const home = { HOME: "/home/x" };

  it("is where the system keeps a user's caches", () => {
    assert.equal(cacheFolder(home, "linux"), "/home/x/.cache/vramlint");
    assert.equal(cacheFolder({ ...home, XDG_CACHE_HOME: "/fast" }, "linux"), "/fast/vramlint");
    assert.equal(cacheFolder({ ...home, XDG_CACHE_HOME: "" }, "linux"), "/home/x/.cache/vramlint");
    assert.equal(
      cacheFolder({ ...home, XDG_CACHE_HOME: "/fast" }, "darwin"),
      "/home/x/Library/Caches/vramlint",
    );
    assert.equal(cacheFolder({ ...home, LOCALAPPDATA: "/x/Local" }, "win32"), "/x/Local/vramlint");
  });

  it("is where Node's own variable says", () => {
    assert.equal(cacheFolder({ ...home, NODE_COMPILE_CACHE: "/given" }, "linux"), "/given/vramlint");
  });

  it("is nowhere when nothing may be kept, without a home, and where the place depends on where a run begins", () => {
    assert.equal(cacheFolder({ ...home, NODE_DISABLE_COMPILE_CACHE: "1" }, "linux"), undefined);
    assert.equal(cacheFolder({}, "linux"), undefined);
    assert.equal(cacheFolder({}, "win32"), undefined);
    assert.equal(cacheFolder({ HOME: "relative" }, "linux"), undefined);
  });
});
